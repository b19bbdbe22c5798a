"""Random queries and plans over random data: all rewrites together change no result."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from spark_jobs.csql.optimise import optimise
from spark_jobs.csql.plan import Plan
from spark_jobs.csql.plan_text import plan_to_text
from spark_jobs.csql.program import load
from spark_jobs.errors import QueryError
from tests.spark_jobs.csql.rules.executing import data, execute
from tests.spark_jobs.csql.running import DECLARATIONS

SPANS = st.sampled_from(["2 Milliseconds", "3 Milliseconds", "6 Milliseconds", "9 Milliseconds", "1 Tuple", "3 Tuples"])
TIMES = st.sampled_from(["2 Milliseconds", "3 Milliseconds", "4 Milliseconds", "6 Milliseconds"])
CONDITIONS = {"S": ["S.x > 1", "S.g = 'a'", "S.x IS NULL", "S.x <> 2"], "R": ["R.y > 1", "R.g <> 'b'", "R.y < 4"]}


@st.composite
def windows(draw: st.DrawFn, alias: str) -> str:
    """A bracket, or nothing."""
    by = draw(st.sampled_from(["", "", f" PARTITIONED BY {alias}.g"]))
    length, every = f"RANGE {draw(SPANS)}", f"FREQUENCY {draw(SPANS)}{by}"
    return draw(st.sampled_from([f"[{length}]", f"[{length} {every}]", f"[{length} {every}]", f"[{every}]"]))


@st.composite
def queries(draw: st.DrawFn) -> str:
    """One block over S, over S and R, or over a nested query, with what may stand around it."""
    joined = draw(st.booleans())
    nested = draw(st.integers(0, 3)) == 0
    source = f"(SELECT x, g FROM S {draw(windows('S'))}) AS S" if nested else "S"
    sources = f"{source} {draw(windows('S'))}" if draw(st.booleans()) or not nested else source
    conditions = draw(st.lists(st.sampled_from(CONDITIONS["S"]), max_size=2))
    if joined:
        sources += f", R {draw(windows('R'))}"
        conditions += draw(st.lists(st.sampled_from([*CONDITIONS["R"], "S.g = R.g", "S.x < R.y"]), max_size=2))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    by = draw(st.sampled_from(["", " PARTITIONED BY S.g"]))
    pick = draw(st.sampled_from(["", "", f" [FREQUENCY {draw(SPANS)}{by}]"]))
    match draw(st.integers(0, 3)):
        case 0:
            return f"SELECT S.x, S.g{pick} FROM {sources}{where}"
        case 1:
            return f"SELECT DISTINCT S.g FROM {sources}{where}"
        case 2:
            having = draw(st.sampled_from(["", " HAVING COUNT(*) > 1", " HAVING S.g <> 'c'"]))
            return f"SELECT S.g, COUNT(*), SUM(S.x){pick} FROM {sources}{where} GROUP BY S.g{having}"
        case _:
            return f"SELECT AVG(S.x), MAX(S.g) FROM {sources}{where}"


@st.composite
def picks(draw: st.DrawFn) -> str:
    """Frequencies upon frequencies: queries 2 and 3 of 001."""
    by = draw(st.sampled_from(["", " PARTITIONED BY S.g"]))
    inner_by = draw(st.sampled_from(["", by]))
    where = draw(st.sampled_from(["", " WHERE S.x > 1"]))
    if draw(st.booleans()):
        return f"SELECT x [FREQUENCY {draw(SPANS)}{by}] FROM S [FREQUENCY {draw(SPANS)}{inner_by}]{where}"
    pick = f"[FREQUENCY {draw(SPANS)}{by}]"
    return f"SELECT g, COUNT(*) {pick} FROM S [RANGE {draw(SPANS)} FREQUENCY 1 Tuple]{where} GROUP BY g"


@st.composite
def algebra(draw: st.DrawFn) -> str:
    """Frequencies in time on top of what no query puts them on."""
    inner = f"Window[{draw(SPANS)}](Scan[S AS S])"
    for _ in range(draw(st.integers(0, 2))):
        inner = draw(
            st.sampled_from(
                [
                    f"Select[S.x > 1]({inner})",
                    f"Frequency[{draw(TIMES)} OF SETS]({inner})",
                    f"Join[ON S.g = R.g]({inner}, Window[{draw(SPANS)}](Scan[R AS R]))" if "R." not in inner else inner,
                ]
            )
        )
    top = draw(
        st.sampled_from(
            [
                f"Project[S.x AS x]({inner})",
                f'Project["SUM(S.x)" AS t](Aggregate[BY S.g COMPUTE SUM(S.x)]({inner}))',
                f"Minus(Project[S.x AS x]({inner}), Project[Q.y AS y](Window[{draw(SPANS)}](Scan[R AS Q])))",
            ]
        )
    )
    return f"Frequency[{draw(TIMES)} ORIGIN 1 OF SETS]({top})" if draw(st.booleans()) else top


def planned(text: str) -> Plan | None:
    """Return the plan of a text, None where it is refused."""
    try:
        (query,) = load(DECLARATIONS + text).queries
    except QueryError:
        return None
    return query.plan


@settings(max_examples=300, deadline=None)
@given(st.one_of(queries(), picks(), algebra()), st.integers(0, 1000))
def test_rewrites_change_no_result(text: str, seed: int) -> None:
    before = planned(text)
    if before is not None:
        after, fired = optimise(before)
        inputs = data(seed, 25)
        assert execute(after, inputs).rows == execute(before, inputs).rows, (fired, plan_to_text(after))


@settings(max_examples=200, deadline=None)
@given(st.one_of(queries(), picks(), algebra()))
def test_a_rewritten_plan_reads_back_as_itself(text: str) -> None:
    before = planned(text)
    if before is not None:
        after, _ = optimise(before)
        assert planned(plan_to_text(after)) == after
