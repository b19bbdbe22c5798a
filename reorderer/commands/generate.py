"""`reorderer generate`: a disordered sensor stream, to a topic in real time or to a file at once."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reorderer.commands.arguments import positive, positive_int
from reorderer.errors import ClusterError, UsageError
from reorderer.progress import Progress
from reorderer.quantities import duration_ms

if TYPE_CHECKING:
    from reorderer.delays import Slice
    from reorderer.playback import Values, Writer

KINDS = ("pulse", "body")
STREAMS = ("constant", "changing", "pareto", "mixture", "regime", "burst", "daily-dump")
"""The names in `reorderer.streams`, which is imported only to make one."""
FILE_START_MS = 1_700_000_000_000
"""Event time starts here in a file, so that a seed gives the same file every time."""

_EPILOG = """
kinds:
  pulse   Pulse(Id, ts): a tuple at each heart beat of each animal
  body    BodyCondition(Id, Species, BTemp, BloodP, ts): every full second for each animal

streams of the papers' experiments, Reading(device, seq, ts), with their parameters for --set, in milliseconds:
  constant    normal delays: mu, sigma               pareto      scale, alpha
  changing    mu in [0, mu_max], sigma in [0, sigma_max] drawn anew every 1, 3 or 5 s
  mixture     mu, sigma; a share rare with rare_mu, rare_sigma
  regime      mu, sigma, then mu_after, sigma_after from the share at of the tuples on
  burst       mu, sigma; a share stalls for length every so often      daily-dump  mu, sigma; a share dumps each period

delays of the animals, in milliseconds:
  normal:MU,SIGMA   exponential:MEAN   pareto:SCALE,ALPHA   none

examples:
  reorderer generate body --bootstrap-servers localhost:9092 --topic body --create-topic --partitions 4
  reorderer generate pulse --animals 500 --rate 20000 --delay pareto:100,1.5 --topic pulse --duration 5min
  reorderer generate body --count 100000 --seed 7 --out body.csv
  reorderer generate changing --seed 3 --count 1000000 --out changing-3.csv
  reorderer generate pareto --set alpha=1.2 --set scale=50 --rate 5000 --out pareto.csv
"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "generate",
        help="write a disordered sensor stream to a topic or a file",
        description="Write a sensor stream of a herd of animals, disordered by network delays. The same seed makes "
        "the same tuples. A topic gets them as they arrive, in real time; a file gets them at once, in arrival order.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "kind", metavar="KIND", choices=(*KINDS, *STREAMS), help=f"one of {', '.join((*KINDS, *STREAMS))}"
    )
    stream = parser.add_argument_group("the stream")
    stream.add_argument("--animals", type=positive_int, default=100, metavar="N", help="size of the herd (default 100)")
    stream.add_argument(
        "--rate", type=positive, metavar="R", help="tuples a second, all animals together (default: natural)"
    )
    stream.add_argument("--delay", default="normal:500,300", metavar="D", help="network delay (default normal:500,300)")
    stream.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of a stream; may be repeated"
    )
    stream.add_argument("--seed", type=int, default=1, help="default 1")
    stream.add_argument(
        "--duration", metavar="T", help="length in event time, such as 90s (default 1min; none with --count)"
    )
    stream.add_argument("--count", type=positive_int, metavar="N", help="stop after N tuples")
    stream.add_argument(
        "--start", metavar="MS", type=positive_int, help="first event time (default: now; fixed in a file)"
    )
    to = parser.add_argument_group("where to")
    to.add_argument(
        "--out", metavar="FILE", help="a .jsonl (values) or .csv (arrival_ms,event_ms,device,seq) file; - prints"
    )
    to.add_argument("--topic", help="a raw topic; keys are the animals' numbers")
    to.add_argument("--bootstrap-servers", default="localhost:9092", metavar="B", help="default localhost:9092")
    to.add_argument(
        "--create-topic", action="store_true", help="create the raw topic, stamped by the broker, if there is none"
    )
    to.add_argument(
        "--create-time", action="store_true", help="with --create-topic: the record carries the arrival instead"
    )
    to.add_argument("--partitions", type=positive_int, default=4, metavar="N", help="with --create-topic (default 4)")
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument(
        "--speed", type=positive, default=1.0, metavar="X", help="X times as fast as real time (topic only)"
    )
    pace.add_argument("--no-pace", action="store_true", help="as fast as it can (topic only)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Generate, write, and say how much."""
    if (args.out is None) == (args.topic is None):
        raise UsageError("where should the tuples go?", hint="give either --topic T or --out FILE")
    from reorderer.playback import paced

    if args.start is None:
        args.start = FILE_START_MS if args.out else time.time_ns() // 1_000_000
    values, slices = _paper_stream(args) if args.kind in STREAMS else _animal_stream(args)
    with _writer(args, values) as writer, Progress("generated", "tuples") as progress:
        if args.out is None and not args.no_pace:
            slices = paced(slices, args.start, args.speed)
        for tuples in slices:
            writer.write(tuples)
            progress.add(len(tuples))
    return 0


def _animal_stream(args: argparse.Namespace) -> tuple[Values, Iterator[Slice]]:
    import numpy as np

    from reorderer.animals import AnimalStream, Herd
    from reorderer.delays import Delay, delayed
    from reorderer.playback import limited

    if args.set:
        raise UsageError(f"--set {args.set[0]} goes with a stream", hint=f"one of {', '.join(STREAMS)}")
    stream = AnimalStream(args.kind, Herd(args.animals, args.seed), args.rate)
    length = args.duration or ("1min" if args.count is None else "87600h")
    made = stream.made(args.start, args.start + duration_ms(length))
    arrived = delayed(made, Delay.parse(args.delay), np.random.default_rng((args.seed, 1)))
    return stream.values, limited(arrived, args.count)


def _paper_stream(args: argparse.Namespace) -> tuple[Values, Iterator[Slice]]:
    from reorderer.streams import make, readings, settings_of, slices

    rate = args.rate or 10_000.0
    count = args.count
    if count is None:
        count = max(1, round(rate * duration_ms(args.duration) / 1_000)) if args.duration else 1_000_000
    settings = settings_of(args.set)
    stream = make(args.kind, seed=args.seed, tuples=count, rate=rate, start_ms=args.start, settings=settings)
    return readings, slices(stream)


def _writer(args: argparse.Namespace, values: Values) -> Writer:
    if args.out is not None:
        from reorderer.playback import FileWriter

        return FileWriter(args.out, values)
    from reorderer.kafka.topics import Cluster, raw_config
    from reorderer.kafka.writer import TopicWriter

    cluster = Cluster(args.bootstrap_servers)
    if args.create_topic:
        cluster.create(args.topic, args.partitions, raw_config(log_append_time=not args.create_time))
    elif not cluster.find(args.topic):
        raise ClusterError(f"there is no topic {args.topic!r}", hint="create it with --create-topic --partitions N")
    return TopicWriter(args.bootstrap_servers, args.topic, values)
