"""JSON Schemas of every record: the one border between `reorderer` and `spark_jobs`."""
