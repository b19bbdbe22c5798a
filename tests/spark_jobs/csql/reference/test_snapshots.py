"""Snapshots, sampling and picks, worked by hand. Times are milliseconds; tuples are written (ts, x, g)."""

from __future__ import annotations

from tests.spark_jobs.csql.running import r, s, snapshots


def test_a_time_driven_window_holds_what_is_alive_at_each_multiple_left_open_and_right_closed() -> None:
    """RANGE 4, FREQUENCY 3.

    t      0  1  2  3  4  5  6  7  8  9
    tuples    a     b  .  .  c        d
    at 3:  (-1, 3]  a b        at 6:  (2, 6]  b c        at 9:  (5, 9]  c d
    """
    found = snapshots(
        "SELECT x FROM S [RANGE 4 Milliseconds, FREQUENCY 3 Milliseconds]", S=s((1, 1), (3, 2), (6, 3), (9, 4))
    )
    assert found == [(3, 1), (3, 2), (6, 2), (6, 3), (9, 3), (9, 4)]


def test_a_tuple_exactly_one_range_old_has_left_the_window() -> None:
    """RANGE 3, FREQUENCY 3: (0, 3] has no 0, (3, 6] has no 3."""
    found = snapshots("SELECT x FROM S [RANGE 3 Milliseconds FREQUENCY 3 Milliseconds]", S=s((0, 1), (3, 2), (6, 3)))
    assert found == [(0, 1), (3, 2), (6, 3)]


def test_instants_without_arrivals_are_evaluated_where_something_is_alive() -> None:
    """RANGE 10, FREQUENCY 2: the tuple of 1 is alive at 2, 4, 6, 8, 10; the end of input is 12."""
    found = snapshots("SELECT COUNT(*) FROM S [RANGE 10 Milliseconds FREQUENCY 2 Milliseconds]", S=s((1, 1), (12, 2)))
    assert found == [(2, 1), (4, 1), (6, 1), (8, 1), (10, 1), (12, 1)]


def test_nothing_left_after_where_gives_no_row_not_even_a_count_of_zero() -> None:
    found = snapshots(
        "SELECT COUNT(*) FROM S [RANGE 2 Milliseconds FREQUENCY 2 Milliseconds] WHERE x > 1",
        S=s((1, 1), (3, 2), (5, 1), (6, 0)),
    )
    assert found == [(4, 1)]


def test_origin_moves_the_instants() -> None:
    """FREQUENCY 5 ORIGIN 2: instants 2, 7, 12."""
    found = snapshots(
        "SELECT SUM(x) FROM S [RANGE 5 Milliseconds FREQUENCY 5 Milliseconds ORIGIN 2]", S=s((1, 1), (3, 2), (7, 4))
    )
    assert found == [(2, 1), (7, 6)]


def test_instants_lie_at_multiples_since_the_epoch_before_it_too() -> None:
    found = snapshots("SELECT x FROM S [RANGE 5 Milliseconds FREQUENCY 5 Milliseconds]", S=s((-7, 1), (0, 2)))
    assert found == [(-5, 1), (0, 2)]


def test_a_snapshot_behind_the_last_tuple_is_not_complete() -> None:
    """The end is a punctuation until T + 1 = 6: the instant 5 is complete, 10 is not."""
    found = snapshots("SELECT x FROM S [RANGE 5 Milliseconds FREQUENCY 5 Milliseconds]", S=s((4, 1), (5, 2)))
    assert found == [(5, 1), (5, 2)]


def test_a_tuple_window_is_evaluated_in_time_only_if_a_tuple_came_since_the_previous_instant() -> None:
    """RANGE 2 Tuples, FREQUENCY 5 (001, algorithm 2).

    t      0 . . . . 5 . . . . 10 . . . . 15
    tuples   a b   c            |         d
    at 5:  b c (the last two)   at 10: nothing came      at 15: c d
    """
    found = snapshots("SELECT x FROM S [RANGE 2 Tuples FREQUENCY 5 Milliseconds]", S=s((1, 1), (2, 2), (4, 3), (15, 4)))
    assert found == [(5, 2), (5, 3), (15, 3), (15, 4)]


def test_a_tuple_driven_time_window_is_what_is_alive_at_every_nth_tuple_up_to_it() -> None:
    """RANGE 3, FREQUENCY 2 Tuples: at b (2): (-1, 2]; at d (5, twice the same time): (2, 5] up to d, not e."""
    found = snapshots(
        "SELECT x FROM S [RANGE 3 Milliseconds FREQUENCY 2 Tuples]", S=s((1, 1), (2, 2), (4, 3), (5, 4), (5, 5))
    )
    assert found == [(2, 1), (2, 2), (5, 3), (5, 4)]


def test_a_tuple_driven_tuple_window_has_exactly_n_tuples() -> None:
    found = snapshots(
        "SELECT x FROM S [RANGE 3 Tuples FREQUENCY 2 Tuples]", S=s((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6))
    )
    assert found == [(2, 1), (2, 2), (4, 2), (4, 3), (4, 4), (6, 4), (6, 5), (6, 6)]


def test_snapshots_caused_by_tuples_of_one_instant_stay_apart() -> None:
    """FREQUENCY 1 Tuple: {a}, then {a, b}, both at 1."""
    found = snapshots("SELECT x FROM S [RANGE 5 Milliseconds FREQUENCY 1 Tuple]", S=s((1, 1), (1, 2)))
    assert found == [(1, 1), (1, 1), (1, 2)]


def test_sampling_takes_every_nth_tuple() -> None:
    found = snapshots("SELECT x FROM S [FREQUENCY 2 Tuples]", S=s((1, 1), (2, 2), (3, 3), (4, 4), (5, 5)))
    assert found == [(2, 2), (4, 4)]


def test_sampling_takes_the_last_tuple_of_each_slot_at_the_slots_end() -> None:
    """FREQUENCY 3: slots (0, 3] (3, 6] (6, 9] (9, 12]; the last is not complete at 10."""
    found = snapshots(
        "SELECT x FROM S [FREQUENCY 3 Milliseconds]", S=s((1, 1), (3, 2), (4, 3), (8, 4), (8, 5), (10, 6))
    )
    assert found == [(3, 2), (6, 3), (9, 5)]


def test_where_is_applied_to_what_was_sampled() -> None:
    found = snapshots("SELECT x FROM S [FREQUENCY 2 Tuples] WHERE x > 2", S=s((1, 9), (2, 2), (3, 9), (4, 4)))
    assert found == [(4, 4)]


def test_a_slide_is_the_extent_before_each_multiple() -> None:
    """RANGE 4 SLIDE 2 (003): [(i+1)2 - 4, (i+1)2): before 2: 0 1; before 4: 0..3; before 6: 2..5; at 1, 3, 5."""
    found = snapshots(
        "SELECT x FROM S [RANGE 4 Milliseconds SLIDE 2 Milliseconds]", S=s((0, 0), (2, 2), (3, 3), (6, 6))
    )
    assert found == [(1, 0), (3, 0), (3, 2), (3, 3), (5, 2), (5, 3)]


def test_slide_in_tuples_is_frequency_in_tuples() -> None:
    inputs = s((1, 1), (2, 2), (3, 3), (4, 4))
    slide = snapshots("SELECT x FROM S [RANGE 3 Tuples SLIDE 2 Tuples]", S=inputs)
    assert slide == snapshots("SELECT x FROM S [RANGE 3 Tuples FREQUENCY 2 Tuples]", S=inputs)


def test_a_frequency_in_select_counts_the_positive_rows_of_a_continuous_result() -> None:
    """001 query 1(b): every 2nd row that passes WHERE, at its own instant."""
    found = snapshots(
        "SELECT x [FREQUENCY 2 Tuples] FROM S [RANGE 9 Milliseconds] WHERE x > 0",
        S=s((1, 1), (2, 0), (3, 3), (4, 4), (5, 0), (6, 6)),
    )
    assert found == [(3, 3), (6, 6)]


def test_a_frequency_in_select_in_time_takes_the_last_row_of_each_slot() -> None:
    found = snapshots(
        "SELECT x [FREQUENCY 4 Milliseconds] FROM S [RANGE 9 Milliseconds]", S=s((1, 1), (4, 2), (5, 3), (12, 4))
    )
    assert found == [(4, 2), (8, 3), (12, 4)]


def test_a_frequency_in_select_picks_from_the_rows_of_snapshots() -> None:
    """Rows of the result: (2,1) (4,1) (4,3) (6,3); every second one."""
    found = snapshots(
        "SELECT x [FREQUENCY 2 Tuples] FROM S [RANGE 4 Milliseconds FREQUENCY 2 Milliseconds]",
        S=s((1, 1), (3, 3), (6, 9)),
    )
    assert found == [(4, 1), (6, 3)]


def test_each_substream_has_its_own_count_and_the_result_is_their_union_in_order() -> None:
    """001 query 1(c): every 2nd row of each group."""
    found = snapshots(
        "SELECT x, g [FREQUENCY 2 Tuples PARTITIONED BY g] FROM S [RANGE 9 Milliseconds]",
        S=s((1, 1, "a"), (2, 2, "b"), (3, 3, "b"), (4, 4, "a"), (5, 5, "b"), (5, 6, "b")),
    )
    assert found == [(3, 3, "b"), (4, 4, "a"), (5, 6, "b")]


def test_a_substream_has_its_own_window_and_snapshots() -> None:
    """RANGE 2 Tuples, FREQUENCY 2 Tuples by group: a: {1, 3} at 3; b: {2, 4} at 4."""
    found = snapshots(
        "SELECT SUM(x) FROM S [RANGE 2 Tuples FREQUENCY 2 Tuples PARTITIONED BY g]",
        S=s((1, 1, "a"), (2, 2, "b"), (3, 3, "a"), (4, 4, "b"), (5, 5, "a")),
    )
    assert found == [(3, 4), (4, 6)]


def test_time_driven_substreams_are_merged_by_the_order_of_their_newest_tuples() -> None:
    found = snapshots(
        "SELECT COUNT(*) FROM S [RANGE 9 Milliseconds FREQUENCY 5 Milliseconds PARTITIONED BY g]",
        S=s((1, 1, "a"), (2, 2, "b"), (3, 3, "b"), (4, 4, "a"), (5, 5, "c")),
    )
    assert found == [(5, 2), (5, 2), (5, 1)]


def test_query_2_takes_the_last_sample_of_each_slot_by_animal() -> None:
    """Every 2nd tuple by group: a at 3, b at 4, a at 9; then the last of each slot of 5 by group."""
    found = snapshots(
        "SELECT x, g [FREQUENCY 5 Milliseconds PARTITIONED BY S.g] FROM S [FREQUENCY 2 Tuples PARTITIONED BY S.g]",
        S=s((1, 1, "a"), (2, 2, "b"), (3, 3, "a"), (4, 4, "b"), (6, 6, "a"), (9, 9, "a"), (10, 0, "c")),
    )
    assert found == [(5, 3, "a"), (5, 4, "b"), (10, 9, "a")]


def test_a_time_driven_snapshot_emits_every_group_alive() -> None:
    """RANGE 9, FREQUENCY 3: b received nothing since 3, and is still there at 6 and 9."""
    found = snapshots(
        "SELECT g, COUNT(*) FROM S [RANGE 9 Milliseconds FREQUENCY 3 Milliseconds] GROUP BY g",
        S=s((1, 1, "a"), (2, 2, "b"), (5, 3, "a"), (9, 4, "a")),
    )
    assert found == [(3, "a", 1), (3, "b", 1), (6, "b", 1), (6, "a", 2), (9, "b", 1), (9, "a", 3)]


def test_a_tuple_driven_snapshot_emits_only_the_groups_that_received_a_tuple_since_the_last() -> None:
    """FREQUENCY 2 Tuples: at 2 a and b; at 4 only a, which got two; at 6 a and b."""
    found = snapshots(
        "SELECT g, COUNT(*) FROM S [RANGE 9 Milliseconds FREQUENCY 2 Tuples] GROUP BY g",
        S=s((1, 1, "a"), (2, 2, "b"), (3, 3, "a"), (4, 4, "a"), (5, 5, "b"), (6, 6, "a")),
    )
    assert found == [(2, "a", 1), (2, "b", 1), (4, "a", 3), (6, "b", 2), (6, "a", 4)]


def test_an_ungrouped_column_takes_the_value_of_the_groups_last_tuple() -> None:
    """003 Q1, with HAVING."""
    found = snapshots(
        "SELECT g, x FROM S [RANGE 10 Milliseconds SLIDE 10 Milliseconds] GROUP BY g HAVING AVG(x) > 2",
        S=s((1, 9, "a"), (2, 1, "b"), (3, 1, "a"), (12, 0, "c")),
    )
    assert found == [(9, "a", 1)]


def test_rows_of_one_instant_are_ordered_by_their_newest_tuple_by_time_partition_and_offset() -> None:
    inputs = s((2, 1), (1, 2), (1, 3), (1, 4))
    inputs[2]["partition"] = 1
    found = snapshots("SELECT x FROM S [RANGE 9 Milliseconds FREQUENCY 2 Milliseconds]", S=inputs)
    assert found == [(2, 2), (2, 4), (2, 3), (2, 1)]


def test_distinct_rows_of_a_snapshot_stand_where_their_newest_tuple_is() -> None:
    found = snapshots(
        "SELECT DISTINCT g FROM S [RANGE 9 Milliseconds FREQUENCY 5 Milliseconds]",
        S=s((1, 1, "a"), (2, 2, "b"), (3, 3, "c"), (4, 4, "a"), (5, 5, "b")),
    )
    assert found == [(5, "c"), (5, "a"), (5, "b")]


def test_a_join_meets_at_the_lcm_of_the_frequencies() -> None:
    """FREQUENCY 2 and FREQUENCY 3 meet at 6 and 12."""
    found = snapshots(
        "SELECT x, y FROM S [RANGE 6 Milliseconds FREQUENCY 2 Milliseconds], "
        "R [RANGE 6 Milliseconds FREQUENCY 3 Milliseconds] WHERE S.g = R.g",
        S=s((1, 1), (2, 2, "b"), (8, 3), (12, 4)),
        R=r((3, 5), (5, 6, "c"), (7, 7)),
    )
    assert found == [(6, 1, 5), (12, 3, 7), (12, 4, 7)]


def test_a_source_without_a_frequency_is_evaluated_at_the_others_instants() -> None:
    """S at 4 and 8; R alive in (t - 3, t]."""
    found = snapshots(
        "SELECT x, y FROM S [RANGE 4 Milliseconds FREQUENCY 4 Milliseconds], R [RANGE 3 Milliseconds]",
        S=s((1, 1), (8, 2)),
        R=r((1, 5), (2, 6), (8, 7)),
    )
    assert found == [(4, 1, 6), (8, 2, 7)]


def test_a_tuple_driven_join_reads_the_other_source_whole_at_that_instant() -> None:
    """At the 2nd tuple of S (ts 3) R has both of its tuples of 3, though S's third of 3 is not in yet."""
    found = snapshots(
        "SELECT x, y FROM S [RANGE 1 Tuple FREQUENCY 2 Tuples], R [RANGE 1 Millisecond]",
        S=s((1, 1), (3, 2), (3, 3)),
        R=r((2, 5), (3, 6), (3, 7)),
    )
    assert found == [(3, 2, 6), (3, 2, 7)]


def test_rows_of_a_join_are_ordered_source_by_source() -> None:
    found = snapshots(
        "SELECT x, y FROM S [RANGE 9 Milliseconds FREQUENCY 4 Milliseconds], R [RANGE 9 Milliseconds]",
        S=s((1, 1), (4, 2)),
        R=r((2, 5), (3, 6)),
    )
    assert found == [(4, 1, 5), (4, 1, 6), (4, 2, 5), (4, 2, 6)]


def test_the_toll_query_joins_vehicles_with_the_congestion_of_the_same_instant() -> None:
    """003 fig. 6: S are vehicles (x their number), R speeds; toll only while the average is below 40.

    extents of 4 ms   [0, 4): 30, 50 -> 40, no toll      [4, 8): 30, 20 -> 25, toll for vehicle 3
    """
    found = snapshots(
        "SELECT V.x, T.speed FROM S AS V [RANGE 4 Milliseconds SLIDE 4 Milliseconds], "
        "(SELECT AVG(y) AS speed FROM R [RANGE 4 Milliseconds SLIDE 4 Milliseconds] HAVING AVG(y) < 40) AS T",
        S=s((1, 1), (2, 2), (5, 3), (8, 4)),
        R=r((0, 30), (3, 50), (5, 30), (6, 20)),
    )
    assert found == [(7, 3, 25.0)]


def test_a_nested_snapshot_without_a_window_is_taken_instant_by_instant() -> None:
    """Counts by group at 4: a 1, b 2; at 8: a 1. Their average at each instant."""
    found = snapshots(
        "SELECT AVG(N.c) AS mean FROM (SELECT g, COUNT(*) AS c FROM S [RANGE 4 Milliseconds FREQUENCY 4 Milliseconds] "
        "GROUP BY g) AS N",
        S=s((1, 1, "a"), (2, 2, "b"), (3, 3, "b"), (8, 4, "a")),
    )
    assert found == [(4, 1.5), (8, 1.0)]


def test_a_window_over_a_nested_query_counts_its_rows() -> None:
    """Inner rows: (2,1) (4,1) (4,3) (6,3) (8,9); the last two of them at every second one."""
    found = snapshots(
        "SELECT SUM(N.x) FROM (SELECT x FROM S [RANGE 4 Milliseconds FREQUENCY 2 Milliseconds]) AS N "
        "[RANGE 2 Tuples FREQUENCY 2 Tuples]",
        S=s((1, 1), (3, 3), (8, 9)),
    )
    assert found == [(4, 2), (6, 6)]


def test_a_named_result_is_read_as_a_nested_query_is() -> None:
    inner = "SELECT g, SUM(x) AS t FROM S [RANGE 4 Milliseconds FREQUENCY 2 Milliseconds] GROUP BY g"
    outer = "SELECT MAX(N.t) AS m FROM {} AS N [RANGE 3 Tuples FREQUENCY 1 Tuple]"
    inputs = s((1, 1, "a"), (2, 2, "b"), (3, 3, "b"), (8, 4, "a"))
    named = snapshots(f"CREATE STREAM M AS {inner}; {outer.format('M')}", S=inputs)
    nested = snapshots(outer.format(f"({inner})"), S=inputs)
    assert nested
    assert named[-len(nested) :] == nested


def test_minus_of_snapshots_drops_rows_equal_to_one_on_the_right_at_the_same_instant() -> None:
    found = snapshots(
        "SELECT x FROM S [RANGE 4 Milliseconds FREQUENCY 4 Milliseconds] "
        "MINUS SELECT y FROM R [RANGE 4 Milliseconds FREQUENCY 4 Milliseconds]",
        S=s((1, 1), (2, 1), (3, 2), (7, 1), (8, 3)),
        R=r((4, 2), (6, 3)),
    )
    assert found == [(4, 1), (4, 1), (8, 1)]


def test_minus_is_left_associative() -> None:
    window = "[RANGE 4 Milliseconds FREQUENCY 4 Milliseconds]"
    found = snapshots(
        f"SELECT x FROM S {window} MINUS SELECT y FROM R {window} WHERE g = 'a' MINUS SELECT y FROM R {window} "
        "WHERE g = 'b'",
        S=s((1, 1), (2, 2), (4, 3)),
        R=r((1, 1, "a"), (2, 2, "b")),
    )
    assert found == [(4, 3)]
