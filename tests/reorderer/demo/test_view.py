"""What the demonstration shows follows from the records it has seen."""

from __future__ import annotations

import pytest
from rich.console import Console, RenderableType

from reorderer.demo import view
from reorderer.demo.observation import Observation, PartitionView
from reorderer.records import PUNCTUATION_HEADERS, Topics, punctuation_value


@pytest.fixture
def seen() -> Observation:
    observation = Observation(Topics.of("body"), "vitals", partitions=2)
    for partition, until_ms in ((0, 5_000), (1, 4_000)):
        for number in range(10):
            observation.see("body", partition, b'{"ts": %d}' % number, [])
        for number in range(8):
            observation.see("body.clean", partition, b'{"ts": %d}' % number, [("reorderer.offset", b"0")])
        value = punctuation_value(until_ms, seq=1, slack_ms=1500, drop_ratio=0.1, bound=0.2, position=9)
        observation.see("body.clean", partition, value, PUNCTUATION_HEADERS)
    observation.see("body.late", 0, b'{"ts": 0}', [])
    observation.see("body.dead", 1, b"broken", [])
    observation.see("vitals", 0, b'{"at": 4000, "Species": "horse", "AVG": 37.125}', [])
    observation.see("vitals", 0, punctuation_value(4_000), PUNCTUATION_HEADERS)
    return observation


def drawn(picture: RenderableType) -> str:
    console = Console(width=150, no_color=True)
    with console.capture() as capture:
        console.print(picture)
    return capture.get()


def at(seen: Observation) -> view.Moment:
    return view.Moment(seen, "sensors send", elapsed_s=3.2, now_ms=6_000, raw_per_s=2_000, clean_per_s=1_900)


def test_tuples_are_counted_by_where_they_lie_and_punctuations_are_not_tuples(seen: Observation) -> None:
    totals = seen.totals
    assert (totals.raw, totals.clean, totals.late, totals.dead, totals.in_flight) == (20, 16, 1, 1, 2)


def test_the_slowest_partition_is_how_far_the_stream_is_complete(seen: Observation) -> None:
    assert (seen.clean_until_ms, seen.output_until_ms) == (4_000, 4_000)


def test_a_stream_is_not_complete_anywhere_before_every_partition_has_spoken() -> None:
    observation = Observation(Topics.of("body"), "vitals", partitions=2)
    observation.see("body.clean", 0, punctuation_value(5), PUNCTUATION_HEADERS)
    assert observation.clean_until_ms is None


def test_the_live_view_shows_slack_frontier_quality_and_newest_results(seen: Observation) -> None:
    picture = drawn(view.live(at(seen)))
    for part in ("sensors send", "raw 2,000/s", "1.50 s", "1.00 s", "2.00 s", "10.000% / 20.00%", "horse", "37.12"):
        assert part in picture


def test_the_plain_view_says_the_same_in_a_line(seen: Observation) -> None:
    assert view.plain(at(seen)) == (
        "  3.2 s  sensors send: raw 20 (2,000/s), clean 16, late 1 (5.882%, promised 20.00%), dead 1, in flight 2, "
        "slack 1.50 s, frontier 2.0 s behind, results 1"
    )


def test_the_summary_shows_the_books_and_where_to_look(seen: Observation) -> None:
    summary = drawn(view.summary(seen, 2, {"logs": "here"}))
    for part in ("20 = 16 + 1 + 1 + 2: balanced", "5.882%, promised 20.00%", "results of vitals", "logs", "here"):
        assert part in summary


@pytest.mark.parametrize(("held", "expected"), [(2, True), (1, False), (3, False)])
def test_the_books_balance_only_if_every_tuple_is_in_exactly_one_place(held: int, expected: bool) -> None:
    assert view.balanced(PartitionView(raw=20, clean=16, late=1, dead=1), held) is expected
