"""What every estimator owes the core, whichever it is."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from reorderer.core.config import CoreConfig
from reorderer.core.estimators import ESTIMATORS, NAMES, make
from reorderer.core.estimators.protocol import Estimator, Policy
from reorderer.core.events import Ints
from reorderer.errors import UsageError

bounded = settings(max_examples=25, deadline=None, derandomize=True)


def tuples(seed: int, count: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    arrival_ms = 1_700_000_000_000 + np.cumsum(rng.integers(0, 4, count))
    delay_ms = np.floor(rng.pareto(1.5, count) * 100).astype(np.int64) - 10
    delay_ms[rng.random(count) < 0.001] = 200_000_000
    return arrival_ms - delay_ms, arrival_ms, rng.random(count) < 0.01


def drive(estimator: Estimator, columns: tuple[Ints, Ints, NDArray[np.bool_]], cuts: list[int]) -> list[Policy]:
    """Update across the cuts and ask for a policy after every 500 tuples."""
    policies = []
    bounds = sorted({0, len(columns[0]), *cuts, *range(0, len(columns[0]), 500)})
    for begin, end in pairwise(bounds):
        ts_ms, arrival_ms, late = columns
        estimator.update(ts_ms[begin:end], arrival_ms[begin:end], late[begin:end])
        if end % 500 == 0:
            policies.append(estimator.policy())
    return policies


@pytest.mark.parametrize("name", ESTIMATORS)
@bounded
@given(seed=st.integers(0, 2**32), cuts=st.lists(st.integers(1, 3_999), max_size=30))
def test_updates_may_be_cut_anywhere(name: str, seed: int, cuts: list[int]) -> None:
    config = CoreConfig(dratio=0.01, estimator=name)
    whole, parts = make(config), make(config)
    columns = tuples(seed, 4_000)
    assert drive(whole, columns, []) == drive(parts, columns, cuts)
    assert whole.state() == parts.state()


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("bound", [0.001, 0.01, 0.5, 1.0])
def test_a_restored_estimator_continues_exactly_from_a_small_state(name: str, bound: float) -> None:
    config = CoreConfig(dratio=bound, estimator=name)
    estimator = make(config)
    for seed in range(20):
        text = json.dumps(estimator.state(), separators=(",", ":"))
        assert len(text) < 2 * 1_024
        restored = make(config, json.loads(text) if seed else None)
        columns = tuples(seed, 3_333)
        assert drive(estimator, columns, []) == drive(restored, columns, [])
        assert estimator.state() == restored.state()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_before_any_tuple_the_frontier_stands_still(name: str) -> None:
    assert make(CoreConfig(dratio=0.01, estimator=name)).policy().slack_ms is None


def test_an_unknown_estimator_or_option_is_named() -> None:
    with pytest.raises(UsageError, match="unknown estimator 'vsek'; did you mean 'vseq'"):
        make(CoreConfig(dratio=0.01, estimator="vsek"))
    with pytest.raises(UsageError, match="unknown estimator 'x'; choose one of " + ", ".join(NAMES)):
        make(CoreConfig(dratio=0.01, estimator="x"))
    with pytest.raises(UsageError, match="the estimator 'sampled' has no option 'pz'; it has m, pe, ps"):
        make(CoreConfig(dratio=0.01, estimator="sampled", options={"pz": 3}))
