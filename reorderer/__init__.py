"""Disorder control for Kafka streams: a raw topic in, an ordered and punctuated clean topic out."""

__version__ = "0.1.0"
