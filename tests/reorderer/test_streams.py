"""The papers' streams: seeded, sorted by arrival, with the delays they name."""

from __future__ import annotations

import numpy as np
import pytest

from reorderer.commands import generate
from reorderer.delays import Slice
from reorderer.errors import UsageError
from reorderer.streams import STREAMS, make, parameters, readings, settings_of, slices


def delay_ms(stream: Slice) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return stream.arrival_ms - stream.ts_ms


@pytest.mark.parametrize("name", STREAMS)
def test_a_seed_makes_the_same_stream_and_another_seed_another(name: str) -> None:
    first, again, other = (make(name, seed=seed, tuples=5_000) for seed in (1, 1, 2))
    assert np.array_equal(first.arrival_ms, again.arrival_ms)
    assert np.array_equal(first.ts_ms, again.ts_ms)
    assert not np.array_equal(first.arrival_ms, other.arrival_ms)
    assert (np.diff(first.arrival_ms) >= 0).all()


@pytest.mark.parametrize("name", STREAMS)
def test_each_device_numbers_its_tuples_in_event_time(name: str) -> None:
    stream = make(name, seed=1, tuples=5_000)
    one = stream.take(stream.device == 7)
    order = np.argsort(one.seq)
    assert one.seq[order].tolist() == list(range(len(one)))
    assert (np.diff(one.ts_ms[order]) >= 0).all()


def test_constant_delays_are_normal_at_the_rate_asked_for() -> None:
    stream = make("constant", seed=1, tuples=50_000, rate=5_000, settings={"mu": 2_000.0, "sigma": 500.0})
    assert delay_ms(stream).mean() == pytest.approx(2_000, abs=10)
    assert delay_ms(stream).std() == pytest.approx(500, abs=10)
    assert np.ptp(stream.ts_ms) == pytest.approx(10_000, rel=0.02)


def test_pareto_delays_have_the_tail_they_name() -> None:
    stream = make("pareto", seed=1, tuples=200_000, settings={"scale": 100.0, "alpha": 1.2})
    assert np.mean(delay_ms(stream) > 1_000) == pytest.approx(10**-1.2, rel=0.05)


def test_changing_delays_are_drawn_anew_every_few_seconds() -> None:
    stream = make("changing", seed=1, tuples=300_000)
    seconds = (stream.ts_ms - stream.ts_ms.min()) // 1_000
    means = np.array([delay_ms(stream)[seconds == second].mean() for second in range(30)])
    assert means.std() > 500
    assert delay_ms(stream).min() == 0


def test_a_regime_is_a_step_in_the_delay() -> None:
    stream = make("regime", seed=1, tuples=50_000)
    late_half = stream.ts_ms > np.median(stream.ts_ms)
    assert delay_ms(stream)[~late_half].mean() == pytest.approx(1_000, abs=20)
    assert delay_ms(stream)[late_half].mean() == pytest.approx(4_000, abs=20)


def test_rare_delays_stalls_and_dumps_are_there() -> None:
    assert np.mean(delay_ms(make("mixture", seed=1, tuples=200_000)) > 5_000) == pytest.approx(0.002, rel=0.2)
    assert delay_ms(make("burst", seed=1, tuples=300_000)).max() > 700
    dumped = make("daily-dump", seed=1, tuples=400_000, settings={"share": 0.01})
    assert np.mean(delay_ms(dumped) > 1_000) == pytest.approx(0.01, rel=0.2)


def test_slices_put_together_are_the_stream() -> None:
    stream = make("constant", seed=1, tuples=1_050)
    parts = list(slices(stream, 500))
    assert [len(part) for part in parts] == [500, 500, 50]
    assert np.array_equal(np.concatenate([part.ts_ms for part in parts]), stream.ts_ms)


def test_what_makes_no_stream_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'pareto'"):
        parameters("paretto")
    with pytest.raises(UsageError, match="no parameter 'sigma'; it has scale, alpha"):
        make("pareto", seed=1, settings={"sigma": 1.0})
    with pytest.raises(UsageError, match="cannot be negative"):
        make("constant", seed=1, settings={"sigma": -1.0})
    with pytest.raises(UsageError, match="must be positive"):
        make("pareto", seed=1, settings={"alpha": 0.0})
    with pytest.raises(UsageError, match="0 tuples"):
        make("constant", seed=1, tuples=0)


def test_generate_knows_every_stream() -> None:
    assert tuple(STREAMS) == generate.STREAMS


def test_a_reading_is_json() -> None:
    one = make("constant", seed=1, tuples=1)
    assert readings(one) == [b'{"device":%d,"seq":0,"ts":%d}' % (one.device[0], one.ts_ms[0])]


@pytest.mark.parametrize("text", ["alpha", "alpha=", "alpha=x"])
def test_a_parameter_without_a_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="bad parameter"):
        settings_of([text])
