"""Adapters to Spark and Kafka: the only modules of this package that import pyspark or confluent_kafka."""

import logging

logging.getLogger("spark_jobs").addHandler(logging.NullHandler())
