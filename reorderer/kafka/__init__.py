"""Adapters to Kafka: the only modules of this package that import confluent_kafka."""
