"""Every schema against its examples."""
