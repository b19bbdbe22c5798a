"""The estimators by name. A new one is a file and one line in `ESTIMATORS`."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from reorderer.core.config import CoreConfig
from reorderer.core.estimators.adhoc import Adhoc
from reorderer.core.estimators.budget import Budget
from reorderer.core.estimators.hybrid import Hybrid
from reorderer.core.estimators.maxdelay import MaxDelay
from reorderer.core.estimators.protocol import JSON, Estimator, Policy
from reorderer.core.estimators.quantile import Quantile
from reorderer.core.estimators.sampled import Sampled
from reorderer.core.estimators.slack import Slack
from reorderer.core.estimators.vseq import VSeq
from reorderer.errors import UsageError

__all__ = ["ESTIMATORS", "NAMES", "Estimator", "Policy", "make"]

ESTIMATORS: dict[str, Callable[..., Estimator]] = {
    "adhoc": Adhoc,
    "vseq": VSeq,
    "sampled": Sampled,
    "maxdelay": MaxDelay,
    "hybrid": Hybrid,
    "quantile": Quantile,
    "budget": Budget,
}
"""Estimators that follow a bound, called as `(bound, *, state=None, **options)`."""

NAMES = ("slack", *ESTIMATORS)


def make(config: CoreConfig, state: Mapping[str, JSON] | None = None) -> Estimator:
    """Return the estimator the configuration names, new or with its state restored.

    >>> make(CoreConfig(slack_ms=50)).policy().slack_ms
    50
    """
    name = config.estimator_name
    if name == "slack":
        return Slack(config.slack_ms)
    kind = ESTIMATORS.get(name)
    if kind is None:
        near = difflib.get_close_matches(name, NAMES, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(NAMES)}"
        raise UsageError(f"unknown estimator {name!r}", hint=hint)
    known = set(inspect.signature(kind).parameters) - {"bound", "state"}
    unknown = sorted(set(config.options) - known)
    if unknown:
        raise UsageError(
            f"the estimator {name!r} has no option {unknown[0]!r}", hint=f"it has {', '.join(sorted(known))}"
        )
    arguments: dict[str, Any] = dict(config.options)
    return kind(config.dratio, state=state, **arguments)
