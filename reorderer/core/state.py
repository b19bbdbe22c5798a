"""What one partition's core must know to go on after a restart, beside the held tuples themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from reorderer.core.estimators.protocol import JSON, Policy
from reorderer.core.events import BOTTOM_MS
from reorderer.errors import UsageError

VERSION = 1


@dataclass(slots=True)
class Counters:
    """Totals since the partition's first tuple; a function of the raw partition and the configuration.

    `tuples` were judged: released, late or held. `forced` left because BSIZE or the byte limit was reached, `capped`
    because SLACK in tuples was: the bound was suspended for them. `stalls` are silences longer than `max_stall` that
    moved a standing frontier.
    """

    tuples: int = 0
    late: int = 0
    future: int = 0
    forced: int = 0
    capped: int = 0
    stalls: int = 0
    arrival_steps_back: int = 0

    @property
    def drop_ratio(self) -> float:
        """Late tuples as a share of those judged; 0 before the first."""
        return self.late / self.tuples if self.tuples else 0.0


@dataclass(frozen=True, slots=True)
class CoreState:
    """A snapshot between two tuples: restored, and the held tuples rebuilt, the core yields the same on the same
    suffix.

    >>> state = CoreState()
    >>> CoreState.from_json(state.to_json()) == state
    True
    """

    frontier_ms: int = BOTTOM_MS
    frontier_offset: int = 0
    position: int = 0
    next_offset: int = 0
    clock_ms: int | None = None
    policy: Policy = field(default_factory=lambda: Policy(None))
    late_since_decision: int = 0
    last_slack_ms: int | None = None
    punctuation_seq: int = 0
    punctuated_ms: int = BOTTOM_MS
    counters: Counters = field(default_factory=Counters)
    estimator: str = ""
    bound: float | None = None
    options: Mapping[str, float] = field(default_factory=dict)
    estimator_state: Mapping[str, JSON] = field(default_factory=dict)
    held: int = 0
    held_hash: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the snapshot as plain JSON values; the hash is hexadecimal, as it exceeds 2^53."""
        return {
            "v": VERSION,
            "frontier": [self.frontier_ms, self.frontier_offset],
            "position": self.position,
            "next": self.next_offset,
            "clock": self.clock_ms,
            "policy": [self.policy.slack_ms, self.policy.may_drop, self.policy.until_ms],
            "since_decision": [self.late_since_decision, self.last_slack_ms],
            "punctuation": [self.punctuation_seq, self.punctuated_ms],
            "counters": asdict(self.counters),
            "estimator": [self.estimator, self.bound, dict(self.options), dict(self.estimator_state)],
            "held": [self.held, f"{self.held_hash:016x}"],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> CoreState:
        """Return the snapshot that `to_json` wrote; refuse one of another version."""
        if value.get("v") != VERSION:
            raise UsageError(f"core state has version {value.get('v')!r}", hint=f"this program reads {VERSION}")
        late_since_decision, last_slack_ms = value["since_decision"]
        estimator, bound, options, estimator_state = value["estimator"]
        return cls(
            frontier_ms=value["frontier"][0],
            frontier_offset=value["frontier"][1],
            position=value["position"],
            next_offset=value["next"],
            clock_ms=value["clock"],
            policy=Policy(*value["policy"]),
            late_since_decision=late_since_decision,
            last_slack_ms=last_slack_ms,
            punctuation_seq=value["punctuation"][0],
            punctuated_ms=value["punctuation"][1],
            counters=Counters(**value["counters"]),
            estimator=estimator,
            bound=bound,
            options=options,
            estimator_state=estimator_state,
            held=value["held"][0],
            held_hash=int(value["held"][1], 16),
        )
