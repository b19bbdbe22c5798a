"""The demonstration: the whole pipeline on one machine, watched through its topics alone."""
