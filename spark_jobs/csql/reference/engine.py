"""Programs over files' rows: every query in turn, named results feeding the queries that read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spark_jobs.csql.cursor import suggest
from spark_jobs.csql.plan import Plan, Stream, scans
from spark_jobs.csql.program import Program, RegisteredQuery
from spark_jobs.csql.reference.evaluate import Evaluator
from spark_jobs.csql.reference.inputs import Line, last_ms, sequence
from spark_jobs.csql.reference.output import output_rows
from spark_jobs.csql.reference.rows import Lives, Result, Row, Snapshot, Snapshots, as_sequence
from spark_jobs.errors import UsageError


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The output rows of all queries, query by query; how many positives were ignored (004, 2.2); what it cost."""

    rows: tuple[dict[str, Any], ...]
    ignored: int
    work: Counter[str]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Inputs ready to be read by plans: the rows of streams, the results of all queries, and the end of time."""

    inputs: Mapping[str, Result]
    end_ms: int
    evaluation: Evaluation

    def work(self, plan: Plan) -> Counter[str]:
        """Return what it costs to evaluate a plan over these inputs."""
        evaluator = Evaluator(self.inputs, self.end_ms)
        evaluator.evaluate(plan)
        return evaluator.work


def run(program: Program, lines: Mapping[str, list[Line]]) -> Evaluation:
    """Return what the program's queries put out over these rows; the end acts as a punctuation behind the last one."""
    return prepare(program, lines).evaluation


def prepare(program: Program, lines: Mapping[str, list[Line]]) -> Prepared:
    """Evaluate every query in turn, each over the streams and the results before it."""
    _check_inputs(program, lines)
    inputs: dict[str, Result] = {
        stream.name: sequence(stream, lines[stream.name]) for stream in program.streams if stream.name in lines
    }
    end_ms = max((time for result in inputs.values() if (time := last_ms(result)) is not None), default=0)
    evaluator = Evaluator(inputs, end_ms)
    rows: list[dict[str, Any]] = []
    for query in program.queries:
        result = evaluator.evaluate(query.plan)
        rows += output_rows(query.name, result, end_ms)
        inputs[query.name] = as_source(query, result)
    return Prepared(inputs, end_ms, Evaluation(tuple(rows), evaluator.ignored, evaluator.work))


def as_source(query: RegisteredQuery, result: Result) -> Result:
    """Return a named result as the queries that read it see it: as a nested query's (spec, section 5)."""

    def unqualified(row: Row) -> Row:
        return replace(row, record={("", name): value for (_, name), value in row.record.items()})

    assert isinstance(result, Snapshots) == (query.edge.kind == "snapshot")
    if isinstance(result, Lives):
        return as_sequence(Lives(tuple(replace(life, row=unqualified(life.row)) for life in result.items)))
    return as_sequence(
        Snapshots(tuple(Snapshot(each.at_ms, each.driver, tuple(map(unqualified, each.rows))) for each in result.items))
    )


def _check_inputs(program: Program, lines: Mapping[str, list[Line]]) -> None:
    declared = [stream.name for stream in program.streams]
    for name in lines:
        if name not in declared:
            hint = suggest(name, declared) or f"there is {', '.join(declared)}"
            raise UsageError(f"no stream '{name}' is declared", hint=hint)
    for stream in _read(program):
        if stream.name in declared and stream.name not in lines:
            hint = f"add --input {stream.name}=FILE.jsonl"
            raise UsageError(f"stream '{stream.name}' is read but has no input", hint=hint)


def _read(program: Program) -> list[Stream]:
    return [scan.stream for query in program.queries for scan in scans(query.plan)]
