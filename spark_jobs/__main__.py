"""`python -m spark_jobs` is the `csql` command."""

from spark_jobs.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
