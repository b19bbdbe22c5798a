"""Wrong queries and the whole of what is said about each: place, message, hint."""

from __future__ import annotations

import pytest

from spark_jobs.csql.program import load
from spark_jobs.errors import QueryError

DECLARATIONS = (
    "CREATE STREAM S (x INT, g STRING, ts BIGINT) WITH (topic = 's'); "
    "CREATE STREAM R (y INT, g STRING, ts BIGINT) WITH (topic = 'r');\n"
)

WRONG = [
    (
        "SELEC x FROM S",
        1,
        "expected CREATE STREAM or SELECT, found 'SELEC'; did you mean 'SELECT'?",
    ),
    (
        "SELECT x FROM",
        14,
        "expected a stream or a nested query, found the end",
    ),
    (
        "SELECT FROM S",
        8,
        "expected an expression, found 'FROM'",
    ),
    (
        "SELECT x FROM S WHERE",
        22,
        "expected an expression, found the end",
    ),
    (
        "SELECT x FROM S WHERE x >",
        26,
        "expected an expression, found the end",
    ),
    (
        "SELECT x FROM S SELECT",
        17,
        "expected the end of the statement, found 'SELECT'; end a statement with a semicolon",
    ),
    (
        "SELECT 'abc FROM S",
        8,
        "this string does not end",
    ),
    (
        "SELECT x /* FROM S",
        10,
        "this comment does not end",
    ),
    (
        "SELECT x FROM S JOIN R",
        17,
        "JOIN is not part of CSQL; list the sources with commas, write the condition in WHERE",
    ),
    (
        "SELECT x FROM S ORDER BY x",
        17,
        "expected the end of the statement, found 'ORDER'; results come in sequence order",
    ),
    (
        "SELECT x FROM S LIMIT 5",
        17,
        (
            "expected the end of the statement, found 'LIMIT'; a continuous query has no end; pick "
            "rows with [FREQUENCY n Tuples]"
        ),
    ),
    (
        "SELECT x FROM S UNION SELECT y FROM R",
        17,
        "expected the end of the statement, found 'UNION'; there is MINUS alone",
    ),
    (
        "SELECT x FROM S,",
        17,
        "expected a stream or a nested query, found the end",
    ),
    (
        "SELECT (SELECT x FROM S) AS z FROM S",
        9,
        "a query cannot stand in an expression; name it in FROM and join with it in WHERE",
    ),
    (
        "SELECT x FROM S WHERE x IN (SELECT y FROM R)",
        29,
        "IN takes a list of values; name the query in FROM and join with it in WHERE",
    ),
    (
        "SELECT x FROM (SELECT x FROM S)",
        32,
        "expected AS, found the end; a nested query needs a name: (SELECT ...) AS name",
    ),
    (
        "CREATE TABLE T (x INT)",
        8,
        "expected STREAM, found 'TABLE'; CSQL creates streams: CREATE STREAM name ...",
    ),
    (
        "DROP STREAM S",
        1,
        "expected CREATE STREAM or SELECT, found 'DROP'",
    ),
    (
        "(SELECT x FROM S) MINUS SELECT y FROM R",
        1,
        "a block of MINUS stands without parentheses; A MINUS B MINUS C is (A MINUS B) MINUS C",
    ),
    (
        "SELECT x FROM S WHERE x = 99999999999999999999",
        27,
        "number '99999999999999999999' is too large; the largest is 9223372036854775807",
    ),
    (
        "SELECT x FROM S WHERE NOT",
        26,
        "expected an expression, found the end",
    ),
    (
        "SELECT x y FROM S",
        10,
        "expected FROM, found 'y'; a column is named with AS",
    ),
    (
        "SELECT CASE END AS z FROM S",
        13,
        "expected an expression, found 'END'",
    ),
    (
        "SELECT x FROM S WHERE x NOT 5",
        29,
        "expected IN, LIKE or BETWEEN, found '5'",
    ),
    (
        "SELECT x FROM S []",
        17,
        "this bracket is empty; write a RANGE or a FREQUENCY, or leave it out",
    ),
    (
        "SELECT x FROM S [RANGE]",
        23,
        "expected a number after RANGE, found ']'",
    ),
    (
        "SELECT x FROM S [RANGE 5]",
        25,
        "expected a unit after RANGE, found ']'; Milliseconds, Seconds, Minutes, Hours or Tuples",
    ),
    (
        "SELECT x FROM S [RANGE 5 Parsecs]",
        26,
        "expected a unit after RANGE, found 'Parsecs'; Milliseconds, Seconds, Minutes, Hours or Tuples",
    ),
    (
        "SELECT x FROM S [RANGE 5 Mintes]",
        26,
        "expected a unit after RANGE, found 'Mintes'; did you mean 'Minutes'?",
    ),
    (
        "SELECT x FROM S [RANGE 0 Seconds]",
        24,
        "RANGE must be at least 1",
    ),
    (
        "SELECT x FROM S [RANGE 1.5 Seconds]",
        24,
        "RANGE takes a whole number, not '1.5'; use a smaller unit",
    ),
    (
        "SELECT x FROM S [RANGE 5 Seconds RANGE 6 Seconds]",
        34,
        "RANGE stands twice in one bracket",
    ),
    (
        "SELECT x FROM S [RNAGE 5 Seconds]",
        18,
        ("expected RANGE, FREQUENCY, SLIDE, WATTR, SLACK, DRATIO, BSIZE or ], found 'RNAGE'; did you mean 'RANGE'?"),
    ),
    (
        "SELECT x FROM S [SLIDE 5 Seconds]",
        18,
        "SLIDE without RANGE; add RANGE, the length of the window",
    ),
    (
        "SELECT x FROM S [RANGE 5 Seconds SLIDE 5 Tuples]",
        34,
        "SLIDE and RANGE in different units; use FREQUENCY, which may have another unit than RANGE",
    ),
    (
        "SELECT x FROM S [RANGE 5 Seconds SLIDE 5 Seconds FREQUENCY 5 Seconds]",
        34,
        "SLIDE and FREQUENCY in one bracket; keep one of them",
    ),
    (
        "SELECT x FROM S [RANGE 5 Seconds WATTR x]",
        40,
        "WATTR must be the timestamp column, not 'x'; the timestamp of 'S' is 'ts'",
    ),
    (
        "SELECT x FROM S [RANGE 5 Seconds DRATIO 1]",
        42,
        "expected % after DRATIO, found ']'; write DRATIO 1%",
    ),
    (
        "SELECT x FROM S [RANGE 5 Seconds DRATIO 100%]",
        41,
        "DRATIO must lie between 0% and 100%, not '100%'",
    ),
    (
        "SELECT x FROM S [RANGE 5 Seconds SLACK 0]",
        17,
        "SLACK 0 without DRATIO; add DRATIO, or give SLACK a length",
    ),
    (
        "SELECT x FROM S [FREQUENCY 5 Tuples ORIGIN 3]",
        37,
        "ORIGIN has no meaning for a frequency in tuples",
    ),
    (
        "SELECT x [RANGE 5 Seconds] FROM S",
        11,
        "RANGE cannot stand in the SELECT clause; put it behind a source, in FROM",
    ),
    (
        "SELECT x [FREQUENCY 1 Second ORIGIN 5] FROM S",
        30,
        "ORIGIN cannot stand in the SELECT clause; put it behind a source, in FROM",
    ),
    (
        "SELECT x [FREQUENCY 1 Tuple], g [FREQUENCY 1 Tuple] FROM S",
        33,
        "a SELECT clause has one FREQUENCY",
    ),
    (
        "SELECT x FROM S [FREQUENCY 5 Tuples PARTITION BY g]",
        37,
        "expected PARTITIONED BY, found 'PARTITION'",
    ),
    (
        "SELECT x FROM S, R WHERE [RANGE 1 Second] x = y",
        26,
        "this bracket could belong to several sources; put it behind its source",
    ),
    (
        "SELECT x FROM S [RANGE 1 Second] WHERE [RANGE 1 Second] x = 1",
        40,
        "the source has a bracket already",
    ),
    (
        "SELECT x FROM S [RANGE 5 Seconds",
        33,
        "expected RANGE, FREQUENCY, SLIDE, WATTR, SLACK, DRATIO, BSIZE or ], found the end",
    ),
    (
        "SELECT x FROM (SELECT x FROM S [FREQUENCY 2 Tuples]) AS N [RANGE 5 Seconds DRATIO 1%]",
        59,
        "SLACK, DRATIO and BSIZE need a raw topic; put them on the stream that reads the raw topic",
    ),
    (
        "SELECT x FROM (SELECT x FROM S [FREQUENCY 2 Tuples]) AS N [RANGE 5 Seconds WATTR x]",
        82,
        "WATTR is for declared streams; results are ordered by `at`",
    ),
    (
        "SELECT x FROM T",
        15,
        "unknown stream 'T'; declare it with CREATE STREAM",
    ),
    (
        "SELECT x FROM s2",
        15,
        "unknown stream 's2'; did you mean 'S'?",
    ),
    (
        "SELECT z FROM S",
        8,
        "unknown column 'z'; there is x, g, ts",
    ),
    (
        "SELECT X.x FROM S",
        8,
        "unknown source 'X'; there is S",
    ),
    (
        "SELECT S.gg FROM S",
        8,
        "unknown column 'gg' in 'S'; did you mean 'g'?",
    ),
    (
        "SELECT g FROM S [RANGE 1 Second], R [RANGE 1 Second]",
        8,
        "column 'g' is in 'S' and 'R'; write S.g",
    ),
    (
        "SELECT x FROM S [RANGE 1 Second], S [RANGE 1 Second]",
        35,
        "two sources are named 'S'; give one of them an alias",
    ),
    (
        "SELECT T.* FROM S",
        8,
        "unknown source 'T'",
    ),
    (
        "SELECT x AS at FROM S",
        8,
        "'at' is a reserved name; name the column otherwise; results use at, from, key, op, query, to",
    ),
    (
        "SELECT x, x FROM S",
        11,
        "two columns are named 'x'; name one of them with AS",
    ),
    (
        "SELECT COUNT(*), COUNT(x) FROM S [RANGE 1 Second]",
        18,
        "two columns are named 'COUNT'; name one of them with AS",
    ),
    (
        "SELECT x + 1 FROM S",
        8,
        "this column has no name; name it with AS",
    ),
    (
        "SELECT * AS a FROM S",
        10,
        "* takes no name",
    ),
    (
        "SELECT * FROM S [RANGE 1 Second], R [RANGE 1 Second]",
        8,
        "two columns are named 'g'; name one of them with AS",
    ),
    (
        "CREATE STREAM S (x INT, ts BIGINT) WITH (topic = 't')",
        15,
        "stream 'S' exists already; give it another name",
    ),
    (
        "CREATE STREAM T (x INT, x INT, ts BIGINT) WITH (topic = 't')",
        25,
        "column 'x' stands twice",
    ),
    (
        "CREATE STREAM T (key INT, ts BIGINT) WITH (topic = 't')",
        18,
        "'key' is a reserved name; name the column otherwise; results use at, from, key, op, query, to",
    ),
    (
        "CREATE STREAM T (x INTT, ts BIGINT) WITH (topic = 't')",
        20,
        "unknown type 'INTT'; did you mean 'INT'?",
    ),
    (
        "CREATE STREAM T (x INT, ts BIGINT)",
        15,
        ("stream 'T' has no topic; add WITH (topic = '...'), the raw topic, or clean = '...', one that is in order"),
    ),
    (
        "CREATE STREAM T (x INT) WITH (topic = 't')",
        15,
        "stream 'T' has no timestamp column; name its event-time column: WITH (timestamp = '...')",
    ),
    (
        "CREATE STREAM T (x INT, ts STRING) WITH (topic = 't')",
        15,
        "timestamp column 'ts' is STRING; declare it TIMESTAMP, or BIGINT of milliseconds",
    ),
    (
        "CREATE STREAM T (x INT, ts BIGINT) WITH (topc = 't')",
        42,
        "unknown option 'topc'; did you mean 'topic'?",
    ),
    (
        "CREATE STREAM T (x INT, ts BIGINT) WITH (topic = t)",
        50,
        "expected a quoted value, found 't'; write topic = '...'",
    ),
    (
        "CREATE STREAM T (x INT, ts BIGINT) WITH (topic = 't', timestamp = 'tss')",
        67,
        "unknown column 'tss'; did you mean 'ts'?",
    ),
    (
        "CREATE STREAM T (x INT, ts BIGINT) WITH (topic = 't', kind = 'continous')",
        62,
        "unknown kind 'continous'; did you mean 'continuous'?",
    ),
    (
        "CREATE STREAM T (x INT, ts BIGINT, PRIMARY KEY (id)) WITH (topic = 't')",
        49,
        "unknown column 'id'; there is x, ts",
    ),
    (
        "CREATE STREAM T (x INT PRIMARY KEY, ts BIGINT) WITH (topic = 't')",
        24,
        "PRIMARY KEY takes a list; write PRIMARY KEY (x) behind the columns",
    ),
    (
        "CREATE STREAM T (x INT, ts BIGINT, PRIMARY KEY (x, x)) WITH (topic = 't')",
        52,
        "column 'x' stands twice in PRIMARY KEY",
    ),
    (
        "CREATE STREAM T (x INT, ts BIGINT) WITH (topic = 't', topic = 'u')",
        55,
        "option 'topic' stands twice",
    ),
    (
        "CREATE STREAM T",
        16,
        "expected ( or AS after the stream's name, found the end",
    ),
    (
        "CREATE STREAM T AS SELECT x FROM S; CREATE STREAM T AS SELECT g FROM S",
        51,
        "stream 'T' exists already; give it another name",
    ),
    (
        "SELECT x FROM S WHERE x = 'a'",
        25,
        "cannot compare INT and STRING; convert one with CAST",
    ),
    (
        "SELECT x FROM S WHERE x",
        23,
        "WHERE needs a condition, 'S.x' is INT",
    ),
    (
        "SELECT g + 1 AS z FROM S",
        8,
        "+ needs a number, 'S.g' is STRING",
    ),
    (
        "SELECT x FROM S WHERE g AND x = 1",
        23,
        "AND needs BOOLEAN, 'S.g' is STRING",
    ),
    (
        "SELECT SUM(g) FROM S [RANGE 1 Second]",
        12,
        "SUM needs a number, 'S.g' is STRING",
    ),
    (
        "SELECT x FROM S WHERE COUNT(*) > 1",
        23,
        "COUNT cannot stand in WHERE; conditions on aggregates stand in HAVING",
    ),
    (
        "SELECT x, COUNT(*) FROM S [RANGE 1 Second]",
        8,
        "column 'x' stands beside an aggregate; add GROUP BY S.x",
    ),
    (
        "SELECT AVG(COUNT(*)) FROM S [RANGE 1 Second]",
        12,
        "COUNT cannot stand in AVG; aggregate a nested query's result instead",
    ),
    (
        "SELECT COUNT(DISTINCT x) FROM S [RANGE 1 Second]",
        14,
        "COUNT(DISTINCT ...) is not supported; aggregate a nested SELECT DISTINCT",
    ),
    (
        "SELECT SUM(*) FROM S [RANGE 1 Second]",
        8,
        "SUM(*) has no meaning; name a column, or use COUNT(*)",
    ),
    (
        "SELECT x FROM S HAVING x > 1",
        26,
        "HAVING without an aggregate; conditions on rows stand in WHERE",
    ),
    (
        "SELECT UPPR(g) AS z FROM S",
        8,
        "unknown function 'UPPR'; did you mean 'UPPER'?",
    ),
    (
        "SELECT ABS(x, 1) AS z FROM S",
        8,
        "ABS takes 1 argument, not 2",
    ),
    (
        "SELECT x FROM S WHERE x LIKE 'a%'",
        23,
        "LIKE needs STRING, 'S.x' is INT",
    ),
    (
        "SELECT CASE WHEN x > 1 THEN 'a' ELSE 2 END AS z FROM S",
        38,
        "CASE gives STRING and BIGINT; convert one with CAST",
    ),
    (
        "SELECT CAST(x AS BOOLEAN) AS z FROM S",
        8,
        "cannot cast INT to BOOLEAN; write a CASE or a comparison",
    ),
    (
        "SELECT x FROM S WHERE x IN (1, 'a')",
        32,
        "cannot compare INT and STRING; convert one with CAST",
    ),
    (
        "SELECT g, COUNT(*) FROM S [RANGE 1 Second] GROUP BY g, g",
        56,
        "column 'g' stands twice in GROUP BY",
    ),
    (
        "SELECT MAX(x) [FREQUENCY 5 Tuples PARTITIONED BY x] FROM S [RANGE 1 Second] GROUP BY g",
        50,
        "the result has no column 'x' to partition by; partition the result by columns of GROUP BY",
    ),
    (
        "SELECT x FROM S, R",
        15,
        "a join over a stream without a window would keep every tuple for ever; give the source a RANGE",
    ),
    (
        "SELECT DISTINCT x FROM S",
        1,
        "DISTINCT over a stream without a window would keep every tuple for ever; give the source a RANGE",
    ),
    (
        "SELECT x FROM S MINUS SELECT y FROM R",
        1,
        "MINUS over a stream without a window would keep every tuple for ever; give the source a RANGE",
    ),
    (
        "SELECT x FROM S [RANGE 1 Second] MINUS SELECT g FROM R [RANGE 1 Second]",
        40,
        "MINUS of column 'x' INT and 'g' STRING; both sides select the same columns",
    ),
    (
        "SELECT x, g FROM S [RANGE 1 Second] MINUS SELECT y FROM R [RANGE 1 Second]",
        43,
        "MINUS of 2 columns and 1; both sides select the same columns",
    ),
    (
        "SELECT x FROM S [RANGE 1 Second FREQUENCY 2 Tuples], R [RANGE 1 Second FREQUENCY 2 Tuples]",
        54,
        (
            "the frequencies of the sources clash: both in tuples; keep one FREQUENCY in tuples and "
            "drop the other, or use time for both"
        ),
    ),
    (
        "SELECT x FROM S [RANGE 1 Second FREQUENCY 2 Tuples], R [RANGE 1 Second FREQUENCY 2 Seconds]",
        54,
        (
            "the frequencies of the sources clash: in tuples and in time; keep one FREQUENCY in tuples "
            "and drop the other, or use time for both"
        ),
    ),
    (
        ("SELECT x FROM S [RANGE 1 Second FREQUENCY 2 Seconds ORIGIN 1], R [RANGE 1 Second FREQUENCY 2 Seconds]"),
        64,
        "the frequencies of the sources never meet; give them origins that do",
    ),
    (
        (
            "SELECT x FROM S [RANGE 1 Second FREQUENCY 2 Tuples] MINUS SELECT y FROM R [RANGE 1 Second "
            "FREQUENCY 2 Seconds]"
        ),
        59,
        (
            "the frequencies of both sides of MINUS clash: in tuples and in time; keep one FREQUENCY "
            "in tuples and drop the other, or use time for both"
        ),
    ),
    (
        "SELECT x [FREQUENCY 2 Tuples] FROM S [RANGE 1 Second] MINUS SELECT y FROM R [RANGE 1 Second]",
        11,
        (
            "FREQUENCY cannot stand in a block of MINUS; nest the whole query: SELECT * [FREQUENCY "
            "...] FROM (... MINUS ...) AS name"
        ),
    ),
    (
        "SELECT x FROM S [RANGE 1 Second] MINUS SELECT y FROM R [RANGE 1 Second FREQUENCY 1 Second]",
        40,
        "MINUS of a continuous result and snapshots; give the left side the same FREQUENCY",
    ),
    (
        "SELECT x FROM S [RANGE 1 Second] KEY (x)",
        39,
        "KEY is for joins; declare PRIMARY KEY in CREATE STREAM",
    ),
]


@pytest.mark.parametrize(("query", "column", "message"), WRONG)
def test_a_wrong_query_is_refused_with_its_place_and_a_hint(query: str, column: int, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        load(DECLARATIONS + query)
    caret = " " * (column - 1) + "^"
    assert str(caught.value) == f"line 2, column {column}: {message}\n  2 | {query}\n    | {caret}"
