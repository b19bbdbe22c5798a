"""The pure core: tuples in; released and late tuples and punctuations out. No Kafka, no clock, no logging."""
