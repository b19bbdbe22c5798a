"""Golden cases of the rewrites: what each makes of a plan, and what it must leave alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Golden:
    """A query or plan over S and R, and the plan a rule makes of it; None where it must leave it alone."""

    title: str
    before: str
    after: str | None


PUSH_SELECTIONS = [
    Golden(
        "a condition goes below a time window and its time frequency",
        "SELECT x FROM S [RANGE 9 Milliseconds FREQUENCY 3 Milliseconds] WHERE x > 1",
        "Project[S.x AS x](Frequency[3 Milliseconds OF SETS](Window[9 Milliseconds](Select[S.x > 1](Scan[S AS S]))))",
    ),
    Golden(
        "a conjunction is split over the sides of a join, the rest becomes its condition",
        "SELECT x, y FROM S [RANGE 9 Milliseconds], R [RANGE 5 Milliseconds] WHERE x > 1 AND S.g = R.g AND y < 4",
        "Project[S.x AS x, R.y AS y](Join[ON S.g = R.g](Window[9 Milliseconds](Select[S.x > 1](Scan[S AS S])),"
        "Window[5 Milliseconds](Select[R.y < 4](Scan[R AS R]))))",
    ),
    Golden(
        "a condition on the group goes below the aggregate",
        "SELECT g, COUNT(*) FROM S [RANGE 9 Milliseconds] GROUP BY g HAVING g <> 'b' AND COUNT(*) > 1",
        'Project[S.g AS g, "COUNT(*)" AS COUNT](Select["COUNT(*)" > 1](Aggregate[BY S.g COMPUTE COUNT(*)]('
        "Window[9 Milliseconds](Select[S.g <> 'b'](Scan[S AS S])))))",
    ),
    Golden(
        "a condition goes into a nested continuous query, in its terms",
        "SELECT h FROM (SELECT x * 2 AS h FROM S [RANGE 9 Milliseconds]) AS N WHERE h > 3",
        "Project[N.h AS h](Project[S.x * 2 AS h NAMED N](Window[9 Milliseconds](Select[(S.x * 2) > 3](Scan[S AS S]))))",
    ),
    Golden(
        "a condition goes below the left side of minus",
        "Select[x > 1](Minus(Project[S.x AS x](Window[9 Milliseconds](Scan[S AS S])),"
        "Project[R.y AS y](Window[3 Milliseconds](Scan[R AS R]))))",
        "Minus(Project[S.x AS x](Window[9 Milliseconds](Select[S.x > 1](Scan[S AS S]))),"
        "Project[R.y AS y](Window[3 Milliseconds](Scan[R AS R])))",
    ),
    Golden(
        "a condition goes below distinct and a partition",
        "Select[x > 1](Distinct(Project[S.x AS x](Frequency[3 Milliseconds OF SETS](Window[9 Milliseconds]("
        "Partition[S.g](Scan[S AS S]))))))",
        "Distinct(Project[S.x AS x](Frequency[3 Milliseconds OF SETS](Window[9 Milliseconds]("
        "Partition[S.g](Select[S.x > 1](Scan[S AS S]))))))",
    ),
    Golden("never below a tuple window", "SELECT x FROM S [RANGE 3 Tuples] WHERE x > 1", None),
    Golden(
        "never below a frequency in tuples",
        "SELECT x FROM S [RANGE 9 Milliseconds FREQUENCY 2 Tuples] WHERE x > 1",
        None,
    ),
    Golden("never below a sample of tuples", "SELECT x FROM S [FREQUENCY 2 Tuples] WHERE x > 1", None),
    Golden("never below a sample in time", "SELECT x FROM S [FREQUENCY 4 Milliseconds] WHERE x > 1", None),
    Golden(
        "never below a time frequency of a tuple window",
        "SELECT x FROM S [RANGE 3 Tuples FREQUENCY 2 Milliseconds] WHERE x > 1",
        None,
    ),
    Golden(
        "a condition on an aggregate stays above it",
        "SELECT g FROM S [RANGE 9 Milliseconds] GROUP BY g HAVING COUNT(*) > 1",
        None,
    ),
    Golden(
        "never into a nested query of snapshots, whose rows are numbered",
        "SELECT x FROM (SELECT x FROM S [FREQUENCY 2 Tuples]) AS N [RANGE 9 Milliseconds] WHERE x > 1",
        "Project[N.x AS x](Window[9 Milliseconds](Select[N.x > 1](Project[S.x AS x NAMED N]("
        "Frequency[2 Tuples OF ROWS](Scan[S AS S])))))",
    ),
]

PUSH_FREQUENCY = [
    Golden(
        "below a selection, a projection and an aggregate",
        'Project["COUNT(*)" AS n](Frequency[4 Milliseconds OF SETS](Select["COUNT(*)" > 1](Aggregate[COMPUTE COUNT(*)]('
        "Window[9 Milliseconds](Scan[S AS S])))))",
        'Project["COUNT(*)" AS n](Select["COUNT(*)" > 1](Aggregate[COMPUTE COUNT(*)]('
        "Frequency[4 Milliseconds OF SETS](Window[9 Milliseconds](Scan[S AS S])))))",
    ),
    Golden(
        "below a join",
        "Project[S.x AS x, R.y AS y](Frequency[4 Milliseconds ORIGIN 1 OF SETS](Join[ON S.g = R.g]("
        "Window[9 Milliseconds](Scan[S AS S]), Window[5 Milliseconds](Scan[R AS R]))))",
        "Project[S.x AS x, R.y AS y](Join[ON S.g = R.g](Frequency[4 Milliseconds ORIGIN 1 OF SETS]("
        "Window[9 Milliseconds](Scan[S AS S])), Frequency[4 Milliseconds ORIGIN 1 OF SETS]("
        "Window[5 Milliseconds](Scan[R AS R]))))",
    ),
    Golden(
        "the sides of a join meet at the lcm",
        "SELECT x, y FROM S [RANGE 9 Milliseconds FREQUENCY 2 Milliseconds], "
        "R [RANGE 9 Milliseconds FREQUENCY 3 Milliseconds]",
        "Project[S.x AS x, R.y AS y](Join(Frequency[6 Milliseconds OF SETS](Window[9 Milliseconds](Scan[S AS S])),"
        "Frequency[6 Milliseconds OF SETS](Window[9 Milliseconds](Scan[R AS R]))))",
    ),
    Golden(
        "a continuous side is taken at the other's instants",
        "SELECT x, y FROM S [RANGE 9 Milliseconds SLIDE 4 Milliseconds], R [RANGE 9 Milliseconds]",
        "Project[S.x AS x, R.y AS y](Join(Frequency[4 Milliseconds ORIGIN 3 OF SETS](Window[9 "
        "Milliseconds](Scan[S AS S])),"
        "Frequency[4 Milliseconds ORIGIN 3 OF SETS](Window[9 Milliseconds](Scan[R AS R]))))",
    ),
    Golden(
        "below minus",
        "Frequency[4 Milliseconds OF SETS](Minus(Project[S.x AS x](Window[9 Milliseconds](Scan[S AS S])),"
        "Project[R.y AS y](Window[3 Milliseconds](Scan[R AS R]))))",
        "Minus(Project[S.x AS x](Frequency[4 Milliseconds OF SETS](Window[9 Milliseconds](Scan[S AS S]))),"
        "Project[R.y AS y](Frequency[4 Milliseconds OF SETS](Window[3 Milliseconds](Scan[R AS R]))))",
    ),
    Golden(
        "not onto a tuple window, which would then wait for arrivals",
        "SELECT x, y FROM S [RANGE 9 Milliseconds FREQUENCY 2 Milliseconds], R [RANGE 2 Tuples]",
        None,
    ),
    Golden(
        "the instants of a tuple window stay its own",
        "SELECT x, y FROM S [RANGE 2 Tuples FREQUENCY 2 Milliseconds], R [RANGE 2 Tuples FREQUENCY 3 Milliseconds]",
        None,
    ),
    Golden(
        "a frequency in tuples stays where it is",
        "SELECT x, y FROM S [RANGE 9 Milliseconds FREQUENCY 2 Tuples], R [RANGE 9 Milliseconds]",
        None,
    ),
    Golden(
        "not below distinct, whose snapshot orders rows by their newest tuple",
        "Frequency[4 Milliseconds OF SETS](Distinct(Project[S.x AS x](Window[9 Milliseconds](Scan[S AS S]))))",
        None,
    ),
]

COMPOSE_FREQUENCIES = [
    Golden(
        "a snapshot frequency that another divides",
        "Project[S.x AS x](Frequency[6 Milliseconds OF SETS](Frequency[2 Milliseconds OF SETS](Window[9 Milliseconds]("
        "Scan[S AS S]))))",
        "Project[S.x AS x](Frequency[6 Milliseconds OF SETS](Window[9 Milliseconds](Scan[S AS S])))",
    ),
    Golden(
        "every third of every second row",
        "SELECT x [FREQUENCY 3 Tuples] FROM S [FREQUENCY 2 Tuples]",
        "Project[S.x AS x](Frequency[6 Tuples OF ROWS](Scan[S AS S]))",
    ),
    Golden(
        "the last row of a slot of slots, by group",
        "SELECT x [FREQUENCY 6 Milliseconds PARTITIONED BY g] FROM S [FREQUENCY 3 Milliseconds PARTITIONED BY g]",
        "Project[S.x AS x](Frequency[6 Milliseconds OF ROWS](Partition[S.g](Scan[S AS S])))",
    ),
    Golden(
        "not where none divides the other",
        "SELECT x [FREQUENCY 5 Milliseconds] FROM S [FREQUENCY 2 Milliseconds]",
        None,
    ),
    Golden(
        "not where the origins differ",
        "SELECT x [FREQUENCY 6 Milliseconds] FROM S [FREQUENCY 3 Milliseconds ORIGIN 1]",
        None,
    ),
    Golden(
        "not where the partitions differ",
        "SELECT x [FREQUENCY 3 Tuples] FROM S [FREQUENCY 2 Tuples PARTITIONED BY g]",
        None,
    ),
    Golden(
        "not tuples with time",
        "SELECT x [FREQUENCY 6 Milliseconds] FROM S [FREQUENCY 2 Tuples]",
        None,
    ),
    Golden(
        "not past a selection",
        "SELECT x [FREQUENCY 3 Tuples] FROM S [FREQUENCY 2 Tuples] WHERE x > 1",
        None,
    ),
    Golden(
        "not over a tuple window, whose instants depend on arrivals",
        "Project[S.x AS x](Frequency[6 Milliseconds OF SETS](Frequency[2 Milliseconds OF "
        "SETS](Window[2 Tuples](Scan[S AS S]))))",
        None,
    ),
]

DROP_UNSEEN = [
    Golden(
        "a time window shorter than its frequency",
        "SELECT SUM(x) FROM S [RANGE 2 Milliseconds FREQUENCY 5 Milliseconds]",
        'Project["SUM(S.x)" AS SUM](Aggregate[COMPUTE SUM(S.x)](Frequency[5 Milliseconds OF SETS DROP UNSEEN]('
        "Window[2 Milliseconds](Scan[S AS S]))))",
    ),
    Golden(
        "a tuple window shorter than its frequency, by group (001, figure 4)",
        "SELECT g, AVG(x) FROM S [RANGE 2 Tuples FREQUENCY 3 Tuples PARTITIONED BY g] GROUP BY g",
        'Project[S.g AS g, "AVG(S.x)" AS AVG](Aggregate[BY S.g COMPUTE AVG(S.x)](Frequency[3 '
        "Tuples OF SETS DROP UNSEEN]("
        "Window[2 Tuples](Partition[S.g](Scan[S AS S])))))",
    ),
    Golden(
        "a slide longer than its range",
        "SELECT COUNT(*) FROM S [RANGE 1 Millisecond SLIDE 4 Milliseconds]",
        'Project["COUNT(*)" AS COUNT](Aggregate[COMPUTE COUNT(*)](Frequency[4 Milliseconds '
        "ORIGIN 3 OF SETS DROP UNSEEN]("
        "Window[1 Millisecond](Scan[S AS S]))))",
    ),
    Golden("not where every tuple is seen", "SELECT x FROM S [RANGE 5 Milliseconds FREQUENCY 5 Milliseconds]", None),
    Golden("not where windows overlap", "SELECT x FROM S [RANGE 6 Milliseconds FREQUENCY 5 Milliseconds]", None),
    Golden("not across units", "SELECT x FROM S [RANGE 1 Tuple FREQUENCY 5 Milliseconds]", None),
    Golden("not of a continuous window", "SELECT x FROM S [RANGE 1 Millisecond]", None),
]

EVALUATE_AT_OUTER = [
    Golden(
        "query 3: evaluation at every tenth tuple of the group alone",
        "SELECT g, COUNT(*) [FREQUENCY 3 Tuples PARTITIONED BY g] FROM S [RANGE 9 "
        "Milliseconds FREQUENCY 1 Tuple] GROUP BY g",
        'Project[S.g AS g, "COUNT(*)" AS COUNT](Aggregate[BY S.g COMPUTE COUNT(*)](Frequency[3 Tuples OF SETS]('
        "Window[9 Milliseconds](Partition[S.g](Scan[S AS S])))))",
    ),
    Golden(
        "without groups and without a partition",
        "SELECT SUM(x) [FREQUENCY 3 Tuples] FROM S [RANGE 9 Milliseconds FREQUENCY 1 Tuple]",
        'Project["SUM(S.x)" AS SUM](Aggregate[COMPUTE SUM(S.x)](Frequency[3 Tuples OF SETS](Window[9 Milliseconds]('
        "Scan[S AS S]))))",
    ),
    Golden(
        "with a condition, which then counts before the frequency",
        "SELECT g, COUNT(*) [FREQUENCY 2 Tuples PARTITIONED BY g] FROM S [RANGE 9 Milliseconds FREQUENCY 1 Tuple] "
        "WHERE x > 1 GROUP BY g",
        'Project[S.g AS g, "COUNT(*)" AS COUNT](Aggregate[BY S.g COMPUTE COUNT(*)](Frequency[2 Tuples OF SETS]('
        "Window[9 Milliseconds](Partition[S.g](Select[S.x > 1](Scan[S AS S]))))))",
    ),
    Golden(
        "not with HAVING",
        "SELECT g, COUNT(*) [FREQUENCY 3 Tuples PARTITIONED BY g] FROM S [RANGE 9 Milliseconds FREQUENCY 1 Tuple] "
        "GROUP BY g HAVING COUNT(*) > 1",
        None,
    ),
    Golden(
        "not where the outer partition is not the group",
        "SELECT g, COUNT(*) [FREQUENCY 3 Tuples] FROM S [RANGE 9 Milliseconds FREQUENCY 1 Tuple] GROUP BY g",
        None,
    ),
    Golden(
        "not over a tuple window",
        "SELECT g, COUNT(*) [FREQUENCY 3 Tuples PARTITIONED BY g] FROM S [RANGE 4 Tuples FREQUENCY 1 Tuple] GROUP BY g",
        None,
    ),
    Golden(
        "not where the inner frequency is not one tuple",
        "SELECT g, COUNT(*) [FREQUENCY 3 Tuples PARTITIONED BY g] FROM S [RANGE 9 "
        "Milliseconds FREQUENCY 2 Tuples] GROUP BY g",
        None,
    ),
    Golden(
        "query 4: evaluation at the last tuple of each slot of the group alone",
        "SELECT g, SUM(x) [FREQUENCY 3 Milliseconds PARTITIONED BY g] FROM S [RANGE 9 Milliseconds FREQUENCY 1 Tuple] "
        "WHERE x < 4 GROUP BY g",
        'Project[S.g AS g, "SUM(S.x)" AS SUM](Aggregate[BY S.g COMPUTE SUM(S.x)](Frequency[3 Milliseconds OF PICKS]('
        "Window[9 Milliseconds](Partition[S.g](Select[S.x < 4](Scan[S AS S]))))))",
    ),
]

SHARE_PANES = [
    Golden(
        "overlapping windows share panes of the gcd",
        "SELECT g, COUNT(*), SUM(x), AVG(x), MIN(x), MAX(x), x FROM S [RANGE 9 Milliseconds "
        "FREQUENCY 6 Milliseconds] GROUP BY g",
        'Project[S.g AS g, "COUNT(*)" AS COUNT, "SUM(S.x)" AS SUM, "AVG(S.x)" AS AVG, "MIN(S.x)" AS MIN, '
        '"MAX(S.x)" AS MAX, S.x AS x](Aggregate[BY S.g LAST S.x COMPUTE COUNT(*), SUM(S.x), '
        "AVG(S.x), MIN(S.x), MAX(S.x) "
        "PANES 3 Milliseconds](Frequency[6 Milliseconds OF SETS](Window[9 Milliseconds](Scan[S AS S]))))",
    ),
    Golden(
        "by substream, from an origin",
        "SELECT SUM(x) FROM S [RANGE 8 Milliseconds FREQUENCY 2 Milliseconds PARTITIONED BY g ORIGIN 1]",
        'Project["SUM(S.x)" AS SUM](Aggregate[COMPUTE SUM(S.x) PANES 2 '
        "Milliseconds](Frequency[2 Milliseconds ORIGIN 1 OF SETS]("
        "Window[8 Milliseconds](Partition[S.g](Scan[S AS S])))))",
    ),
    Golden(
        "not where windows do not overlap",
        "SELECT SUM(x) FROM S [RANGE 4 Milliseconds FREQUENCY 4 Milliseconds]",
        None,
    ),
    Golden("not of windows in tuples", "SELECT SUM(x) FROM S [RANGE 4 Tuples FREQUENCY 2 Tuples]", None),
    Golden("not of mixed windows", "SELECT SUM(x) FROM S [RANGE 4 Milliseconds FREQUENCY 2 Tuples]", None),
    Golden("not of continuous results", "SELECT SUM(x) FROM S [RANGE 4 Milliseconds]", None),
    Golden("not without an aggregate", "SELECT x FROM S [RANGE 8 Milliseconds FREQUENCY 2 Milliseconds]", None),
]
