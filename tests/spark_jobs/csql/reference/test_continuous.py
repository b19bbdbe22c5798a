"""Continuous results (004), worked by hand: ("+", from, to, key, columns ...) and ("-", at, key)."""

from __future__ import annotations

from tests.spark_jobs.csql.running import changes, r, rows, s


def test_without_a_window_each_tuple_lives_for_ever() -> None:
    found = changes("SELECT x FROM S WHERE x > 1", S=s((1, 1), (2, 2)))
    assert found == [("+", 2, None, [0, 1], 2)]


def test_a_range_gives_each_tuple_its_lifetime_and_no_negative() -> None:
    found = changes("SELECT x FROM S [RANGE 3 Milliseconds]", S=s((1, 1), (2, 2), (9, 3)))
    assert found == [("+", 1, 4, [0, 0], 1), ("+", 2, 5, [0, 1], 2), ("+", 9, 12, [0, 2], 3)]


def test_a_tuple_window_ends_a_row_when_n_newer_ones_have_come() -> None:
    """RANGE 2 Tuples: 1 lives until 3 comes; at one instant the negative goes first."""
    found = changes("SELECT x FROM S [RANGE 2 Tuples]", S=s((1, 1), (2, 2), (5, 3)))
    assert found == [
        ("+", 1, None, [0, 0], 1),
        ("+", 2, None, [0, 1], 2),
        ("-", 5, [0, 0]),
        ("+", 5, None, [0, 2], 3),
    ]


def test_no_row_begins_and_ends_at_one_instant() -> None:
    """Three tuples of one instant in a window of two: the first is never seen."""
    found = changes("SELECT x FROM S [RANGE 2 Tuples]", S=s((1, 1), (1, 2), (1, 3)))
    assert found == [("+", 1, None, [0, 1], 2), ("+", 1, None, [0, 2], 3)]


def test_the_declared_primary_key_is_the_key_of_the_rows() -> None:
    text = "CREATE STREAM K (id INT, v INT, ts BIGINT, PRIMARY KEY (id)) WITH (topic = 'k'); SELECT v FROM K"
    found = changes(text, K=[{"id": 7, "v": 1, "ts": 1}])
    assert found == [("+", 1, None, [7], 1)]


def test_a_sum_is_immediate_and_lives_until_the_earliest_end_in_its_group() -> None:
    """004, 3.2 and fig. 4: W = 10.

    1 [0 ===========)10
    2       [4 ===========)14
    4                   [12 ===========)22
    sum  1 |  3    | 2    |6 |  4      |
         0 4       10     12 14        22
    """
    found = changes("SELECT SUM(x) FROM S [RANGE 10 Milliseconds]", S=s((0, 1), (4, 2), (12, 4), (30, 8)))
    assert found == [
        ("+", 0, 10, [], 1),
        ("-", 4, []),
        ("+", 4, 10, [], 3),
        ("+", 10, 14, [], 2),
        ("-", 12, []),
        ("+", 12, 14, [], 6),
        ("+", 14, 22, [], 4),
        ("+", 30, 40, [], 8),
    ]


def test_changes_of_one_instant_are_one_change() -> None:
    """At 3 the first tuple ends and two come: from 1 to 6, at once."""
    found = changes("SELECT SUM(x) FROM S [RANGE 3 Milliseconds]", S=s((0, 1), (3, 2), (3, 4)))
    assert found == [("+", 0, 3, [], 1), ("+", 3, 6, [], 6)]


def test_an_aggregate_that_does_not_change_goes_on() -> None:
    """002 Q1: the maximum of 5 stays when 3 comes; at 30 it expires and 3 is the maximum until 40."""
    found = changes("SELECT MAX(x) FROM S [RANGE 30 Milliseconds]", S=s((0, 5), (10, 3), (35, 1)))
    assert found == [
        ("+", 0, 30, [], 5),
        ("+", 30, 40, [], 3),
    ]


def test_groups_change_one_by_one_and_are_keyed_by_their_columns() -> None:
    found = changes(
        "SELECT g, COUNT(*) FROM S [RANGE 10 Milliseconds] GROUP BY g", S=s((0, 1, "a"), (2, 1, "b"), (4, 1, "a"))
    )
    assert found == [
        ("+", 0, 10, ["a"], "a", 1),
        ("+", 2, 12, ["b"], "b", 1),
        ("-", 4, ["a"]),
        ("+", 4, 10, ["a"], "a", 2),
    ]


def test_a_having_that_stops_to_hold_ends_the_row() -> None:
    found = changes(
        "SELECT g FROM S [RANGE 10 Milliseconds] GROUP BY g HAVING COUNT(*) = 1", S=s((0, 1), (4, 2), (11, 3), (20, 4))
    )
    assert found == [
        ("+", 0, 10, ["a"], "a"),
        ("-", 4, ["a"]),
        ("+", 10, 14, ["a"], "a"),
        ("-", 11, ["a"]),
        ("+", 14, 21, ["a"], "a"),
        ("-", 20, ["a"]),
    ]


def test_a_join_lives_while_both_sides_do() -> None:
    """004, 3.1 and fig. 2.

    S 1  [0 ==========)10
    R 5       [4 ==========)14
    S 2                 [12 ==========)22
    1,5       [4 ==)10
    2,5                 [12 =)14
    """
    found = changes(
        "SELECT x, y FROM S [RANGE 10 Milliseconds], R [RANGE 10 Milliseconds] WHERE S.g = R.g",
        S=s((0, 1), (12, 2), (13, 3, "b")),
        R=r((4, 5)),
    )
    assert found == [("+", 4, 10, [0, 0, 0, 0], 1, 5), ("+", 12, 14, [0, 1, 0, 0], 2, 5)]


def test_a_join_ends_early_where_a_side_does() -> None:
    """R keeps one tuple: 5 is pushed out at 6, before the pair's announced end at 10 (fig. 2c)."""
    found = changes(
        "SELECT x, y FROM S [RANGE 10 Milliseconds], R [RANGE 1 Tuple]", S=s((0, 1), (7, 2)), R=r((4, 5), (6, 6))
    )
    assert found == [
        ("+", 4, 10, [0, 0, 0, 0], 1, 5),
        ("-", 6, [0, 0, 0, 0]),
        ("+", 6, 10, [0, 0, 0, 1], 1, 6),
        ("+", 7, 17, [0, 1, 0, 1], 2, 6),
    ]


def test_a_negative_behind_the_end_of_a_joined_row_is_not_sent() -> None:
    """Fig. 2c: the pair ended at 10 by itself; 5 is pushed out at 11."""
    found = changes(
        "SELECT x, y FROM S [RANGE 10 Milliseconds], R [RANGE 1 Tuple] WHERE y = 5", S=s((0, 1)), R=r((4, 5), (11, 6))
    )
    assert found == [("+", 4, 10, [0, 0, 0, 0], 1, 5)]


def test_a_join_has_the_key_that_the_query_names() -> None:
    found = changes(
        "SELECT x, y FROM S [RANGE 9 Milliseconds], R [RANGE 9 Milliseconds] KEY (x, y)", S=s((0, 1)), R=r((4, 5))
    )
    assert found == [("+", 4, 9, [1, 5], 1, 5)]


def test_distinct_shows_the_oldest_of_equal_rows_and_then_the_next() -> None:
    """004, 3.4 and fig. 5: W = 3.

    2  [2 ====)5
    2     [3 ====)6
    7       [4 ====)7
    2  [2 ====)5 [5 =)6
    """
    found = changes("SELECT DISTINCT x FROM S [RANGE 3 Milliseconds]", S=s((2, 2), (3, 2), (4, 7), (9, 0)))
    assert found == [("+", 2, 5, [2], 2), ("+", 4, 7, [7], 7), ("+", 5, 6, [2], 2), ("+", 9, 12, [0], 0)]


def test_distinct_over_negatives_replaces_the_row_that_was_shown() -> None:
    """Fig. 5's question: of two equal rows the older is pushed out at 5; the key says which, the next takes over."""
    found = changes("SELECT DISTINCT x FROM S [RANGE 2 Tuples]", S=s((2, 2), (3, 2), (5, 7), (6, 8)))
    assert found == [
        ("+", 2, None, [2], 2),
        ("+", 5, None, [7], 7),
        ("-", 6, [2]),
        ("+", 6, None, [8], 8),
    ]


def test_minus_ends_a_left_row_when_an_equal_one_comes_and_begins_it_again() -> None:
    """004, 3.5 and fig. 6.

    left  1  [0 ==================)10
    right 1        [3 ====)6
    out      [0 ===)3     [6 =====)10
    """
    found = changes(
        "SELECT x FROM S [RANGE 10 Milliseconds] MINUS SELECT y FROM R [RANGE 3 Milliseconds]",
        S=s((0, 1), (20, 9)),
        R=r((3, 1)),
    )
    assert found == [("+", 0, 10, [0, 0], 1), ("-", 3, [0, 0]), ("+", 6, 10, [0, 0], 1), ("+", 20, 30, [0, 1], 9)]


def test_minus_keeps_duplicates_and_ends_all_of_them() -> None:
    found = changes(
        "SELECT x FROM S [RANGE 10 Milliseconds] MINUS SELECT y FROM R [RANGE 20 Milliseconds]",
        S=s((0, 1), (1, 1), (2, 2)),
        R=r((3, 1)),
    )
    assert found == [
        ("+", 0, 10, [0, 0], 1),
        ("+", 1, 11, [0, 1], 1),
        ("+", 2, 12, [0, 2], 2),
        ("-", 3, [0, 0]),
        ("-", 3, [0, 1]),
    ]


def test_at_one_instant_a_right_row_wins_over_an_equal_left_one() -> None:
    """All arrivals of an instant come together: the left row of 3 is never alive alone."""
    found = changes(
        "SELECT x FROM S [RANGE 10 Milliseconds] MINUS SELECT y FROM R [RANGE 4 Milliseconds]",
        S=s((3, 1), (8, 2)),
        R=r((3, 1)),
    )
    assert found == [("+", 7, 13, [0, 0], 1), ("+", 8, 18, [0, 1], 2)]


def test_distinct_binds_to_its_block_of_minus() -> None:
    found = changes(
        "SELECT DISTINCT x FROM S [RANGE 10 Milliseconds] MINUS SELECT y FROM R [RANGE 1 Millisecond]",
        S=s((0, 1), (1, 1), (5, 2)),
        R=r((4, 3)),
    )
    assert found == [("+", 0, 10, [1], 1), ("+", 5, 15, [2], 2)]


CONTINUOUS = "CREATE STREAM C (v INT) WITH (clean = 'c', kind = 'continuous'); "


def test_a_topic_of_positives_and_negatives_is_read_by_key() -> None:
    """Fig. 1, S6: announced until 10, ended at 4; the sum follows."""
    lines = [
        {"op": "+", "from": 1, "to": 10, "key": [1], "v": 5},
        {"op": "+", "from": 2, "to": None, "key": [2], "v": 7},
        {"op": "-", "at": 4, "key": [1]},
        {"op": "+", "from": 9, "to": 12, "key": [3], "v": 1},
    ]
    found = changes(CONTINUOUS + "SELECT SUM(v) FROM C", C=lines)
    assert found == [
        ("+", 1, 10, [], 5),
        ("-", 2, []),
        ("+", 2, 10, [], 12),
        ("-", 4, []),
        ("+", 4, None, [], 7),
        ("-", 9, []),
        ("+", 9, 12, [], 8),
    ]


def test_a_positive_whose_key_is_alive_is_ignored() -> None:
    lines = [
        {"op": "+", "from": 1, "to": 10, "key": [1], "v": 5},
        {"op": "+", "from": 2, "to": 20, "key": [1], "v": 6},
        {"op": "+", "from": 10, "to": 30, "key": [1], "v": 7},
    ]
    found = changes(CONTINUOUS + "SELECT v FROM C", C=lines)
    assert found == [("+", 1, 10, [1], 5), ("+", 10, 30, [1], 7)]


def test_a_declared_key_that_is_alive_in_a_tuple_window_is_ignored() -> None:
    text = "CREATE STREAM K (id INT, v INT, ts BIGINT, PRIMARY KEY (id)) WITH (topic = 'k'); "
    lines = [{"id": 7, "v": 1, "ts": 1}, {"id": 7, "v": 2, "ts": 2}, {"id": 8, "v": 3, "ts": 3}]
    found = changes(text + "SELECT v FROM K [RANGE 2 Tuples]", K=lines)
    assert found == [("+", 1, None, [7], 1), ("-", 3, [7]), ("+", 3, None, [8], 3)]


def test_a_nested_continuous_result_keeps_its_lifetimes() -> None:
    found = changes(
        "SELECT MAX(N.t) AS m FROM (SELECT g, SUM(x) AS t FROM S [RANGE 10 Milliseconds] GROUP BY g) AS N",
        S=s((0, 1, "a"), (3, 5, "b"), (20, 0, "c")),
    )
    assert found == [
        ("+", 0, 10, [], 1),
        ("-", 3, []),
        ("+", 3, 10, [], 5),
        ("+", 10, 13, [], 5),
        ("+", 20, 30, [], 0),
    ]


def test_a_window_over_a_continuous_result_takes_its_positive_rows_as_tuples() -> None:
    """The sums 1 (at 0), 3 (at 4), 2 (at 10), 7 (at 11): the last two at each of them."""
    found = rows(
        "SELECT SUM(N.t) AS m FROM (SELECT SUM(x) AS t FROM S [RANGE 10 Milliseconds]) AS N "
        "[RANGE 2 Tuples FREQUENCY 1 Tuple]",
        S=s((0, 1), (4, 2), (11, 5)),
    )
    assert [(row["at"], row["m"]) for row in found] == [(0, 1), (4, 4), (10, 5), (11, 9)]
