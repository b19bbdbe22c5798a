"""`python -m reorderer` is the `reorderer` command."""

from reorderer.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
