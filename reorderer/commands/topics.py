"""`reorderer topics create`: the four topics of a stream."""

from __future__ import annotations

import argparse

from reorderer.commands.arguments import positive_int
from reorderer.records import Topics

_EPILOG = """
example:
  reorderer topics create body --partitions 4 --bootstrap-servers localhost:9092

makes `body` (stamped by the broker on arrival), `body.clean`, `body.late` and `body.dead`, with the same number of
partitions. Topics that exist already stay as they are; a different number of partitions is an error.
"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "topics", help="create the topics of a stream", description="Work with the topics of a stream."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = actions.add_parser(
        "create",
        help="create raw, clean, late and dead",
        description="Create the raw topic and its clean, late and dead topics, where they do not exist.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    create.add_argument("topic", metavar="T", help="name of the raw topic")
    create.add_argument("--bootstrap-servers", default="localhost:9092", metavar="B", help="default localhost:9092")
    create.add_argument("--partitions", type=positive_int, default=4, metavar="N", help="of each topic (default 4)")
    create.add_argument("--replication", type=positive_int, metavar="N", help="copies (default: the broker's default)")
    create.add_argument(
        "--create-time", action="store_true", help="records carry their arrival; see run --arrival record"
    )
    for name in ("clean", "late", "dead"):
        create.add_argument(f"--{name}", metavar="NAME", help=f"default T.{name}")
    create.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Create what is missing and say so."""
    from reorderer.kafka.topics import Cluster, raw_config

    made = Cluster(args.bootstrap_servers).create_stream(
        Topics.of(args.topic, args.clean, args.late, args.dead),
        args.partitions,
        raw_config(log_append_time=not args.create_time),
        args.replication or -1,
    )
    for name, new in made.items():
        print(f"{name}: {args.partitions} partitions, {'created' if new else 'was there'}")
    return 0
