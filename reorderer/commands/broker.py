"""`reorderer broker`: a real Kafka on this machine, to try things on."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reorderer.kafka.detached import State

_EPILOG = """examples:
  reorderer broker start                            one broker at 127.0.0.1:9092
  reorderer broker start --brokers 3 --port 19092   three, replicated, at 19092, 19093 and 19094
  reorderer broker status --json
  reorderer broker stop

Topics and their records stay in the data folder: the next start has them again. The first start downloads
Kafka (45 MB). It listens on this machine only and has no security: it is for trying and testing.
"""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its three verbs."""
    parser = subparsers.add_parser(
        "broker",
        help="start, stop or look at a Kafka broker of your own on this machine",
        description="Run a real Apache Kafka (KRaft) on this machine, in the background.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="start|stop|status", required=True)
    start = verbs.add_parser("start", help="start it; returns once it serves")
    start.add_argument("--port", type=_port, default=9092, help="its port, the first of three; 0: any (default 9092)")
    start.add_argument("--brokers", type=int, choices=(1, 3), default=1, help="how many; 3: replication 3, min ISR 2")
    start.set_defaults(run=_start)
    stop = verbs.add_parser("stop", help="end what start has started; the data stay")
    stop.set_defaults(run=_stop)
    status = verbs.add_parser("status", help="print address and process id; exit code 1 if it does not run")
    status.add_argument("--json", action="store_true", help="for programs")
    status.set_defaults(run=_status)
    for verb in (start, stop, status):
        verb.add_argument("--data", type=Path, metavar="DIR", help="its data folder (default: broker/ in the cache)")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_533:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port between 0 and 65533")
    return int(text)


def _data(args: argparse.Namespace) -> Path:
    from reorderer.kafka.jars import cache_dir

    return (args.data or cache_dir() / "broker").absolute()


def _start(args: argparse.Namespace) -> int:
    from reorderer.kafka import detached

    data = _data(args)
    print(f"starting {args.brokers} broker{'s' * (args.brokers > 1)} on {data} (some 5 to 15 seconds)", flush=True)
    state = detached.start(args.brokers, port=args.port or None, data=data)
    print(_line("running", state))
    print(f"logs: {state.logs}")
    return 0


def _stop(args: argparse.Namespace) -> int:
    from reorderer.kafka import detached

    state = detached.stop(_data(args))
    print("not running" if state is None else _line("stopped", state))
    return 0


def _status(args: argparse.Namespace) -> int:
    from reorderer.kafka import detached

    data = _data(args)
    state = detached.read_state(data)
    alive = state.alive if state else 0
    word = "not running" if state is None or not alive else "running" if alive == len(state.brokers) else "degraded"
    if args.json:
        print(json.dumps(_report(word, data, state)))
    else:
        print(word if state is None or not alive else _line(word, state))
    return 0 if word == "running" else 1


def _line(word: str, state: State) -> str:
    pids = ", ".join(f"{broker.pid}" for broker in state.brokers)
    return f"{word}: {state.bootstrap} (pid {pids})"


def _report(word: str, data: Path, state: State | None) -> dict[str, object]:
    brokers = () if state is None else state.brokers
    return {
        "status": word,
        "bootstrap": state.bootstrap if state else None,
        "brokers": [{"id": b.id, "bootstrap": b.bootstrap, "pid": b.pid, "running": b.is_alive()} for b in brokers],
        "data": str(data),
        "logs": state.logs if state else None,
    }
