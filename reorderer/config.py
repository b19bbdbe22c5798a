"""The configuration of `reorderer run`: frozen values, checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from reorderer.errors import UsageError
from reorderer.records import Topics

Unit: TypeAlias = Literal["seconds", "millis", "micros", "nanos", "rfc3339"]


@dataclass(frozen=True, slots=True)
class Timestamp:
    """Where a tuple's event time stands, and in what unit.

    >>> Timestamp.parse("meta.at").path, Timestamp.parse("header:made")
    (('meta', 'at'), Timestamp(source='header', name='made', unit='millis'))
    """

    source: Literal["field", "header", "record"] = "field"
    name: str = "ts"
    unit: Unit = "millis"

    @classmethod
    def parse(cls, text: str, unit: str = "millis") -> Timestamp:
        """Return the source written as a field (`ts`, `a.b`, `field:record`), `header:NAME` or `record`."""
        if unit not in get_args(Unit):
            raise UsageError(f"unknown timestamp unit {unit!r}", hint=f"one of {', '.join(get_args(Unit))}")
        source, name = _source(text, default="field", kinds=("field", "header"), bare=("record",))
        return cls(source, name, unit)  # type: ignore[arg-type]  # _source returns one of the kinds it is given

    @property
    def path(self) -> tuple[str, ...]:
        """The field's name at each level of the value."""
        return tuple(self.name.split("."))

    def __str__(self) -> str:
        return self.source if self.source == "record" else f"{self.source}:{self.name}"


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a tuple's arrival time comes from.

    >>> Arrival.parse("broker"), str(Arrival.parse("header:received"))
    (Arrival(source='broker', name=''), 'header:received')
    """

    source: Literal["broker", "record", "header", "wall"] = "broker"
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> Arrival:
        """Return the source written as `broker`, `record`, `header:NAME` or `wall`."""
        source, name = _source(text, default=None, kinds=("header",), bare=("broker", "record", "wall"))
        return cls(source, name)  # type: ignore[arg-type]  # _source returns one of the kinds it is given

    @property
    def live(self) -> bool:
        """Whether the next arrival cannot be before now: only then may a silent partition be called idle."""
        return self.source in ("broker", "wall")

    def __str__(self) -> str:
        return f"header:{self.name}" if self.source == "header" else self.source


@dataclass(frozen=True, slots=True)
class Quality:
    """What the user declares: a slack, a drop ratio, or both (spec, 4); and what bounds them."""

    slack_ms: int | None = None
    slack_tuples: int | None = None
    drop_ratio: float | None = None
    buffer_tuples: int | None = None
    estimator: str | None = None
    max_slack_ms: int = 3_600_000
    max_future_ms: int = 300_000
    idle_after_ms: int = 1_000
    clock_skew_ms: int = 500


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that one instance of the service needs to know."""

    bootstrap_servers: str
    topics: Topics
    group: str
    instance_id: str | None = None
    timestamp: Timestamp = Timestamp()
    arrival: Arrival = Arrival()
    quality: Quality = Quality()
    max_value_bytes: int | None = None
    start: Literal["earliest", "latest"] = "earliest"
    heartbeats: bool = True
    transaction_ms: int = 200
    transaction_records: int = 50_000
    batch_records: int = 10_000
    session_timeout_ms: int = 10_000
    until_idle_s: float | None = None

    def __post_init__(self) -> None:
        if self.timestamp.source == "record" and self.arrival.source in ("broker", "record"):
            raise UsageError(
                f"the record timestamp cannot be both the event time and the arrival ({self.arrival})",
                hint="take the arrival from header:NAME or wall",
            )

    @property
    def classification(self) -> dict[str, str | int | None]:
        """The settings that decide what a raw record is; they are stored beside every committed offset."""
        return {
            "timestamp": str(self.timestamp),
            "unit": self.timestamp.unit,
            "arrival": str(self.arrival),
            "max_future_ms": self.quality.max_future_ms,
            "max_value_bytes": self.max_value_bytes,
        }


def _source(text: str, *, default: str | None, kinds: tuple[str, ...], bare: tuple[str, ...]) -> tuple[str, str]:
    kind, colon, name = text.partition(":")
    if not colon and kind in bare:
        return kind, ""
    if not colon and default is not None and kind not in kinds:
        kind, name = default, text
    if kind not in kinds or not name or not all(name.split(".")):
        forms = ", ".join([*bare, *(f"{kind}:NAME" for kind in kinds)])
        raise UsageError(f"cannot take a time from {text!r}", hint=f"one of {forms}")
    return kind, name
