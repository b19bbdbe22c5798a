"""Plans as algebra text (001, section 8): `Node[arguments](inputs)`, one node a line; `algebra` parses it back."""

from __future__ import annotations

from decimal import Decimal
from typing import assert_never

from spark_jobs.csql.expressions import Expression
from spark_jobs.csql.plan import (
    Aggregate,
    Disorder,
    Distinct,
    Frequency,
    Join,
    Minus,
    Partition,
    Plan,
    Project,
    Scan,
    Select,
    Span,
    Window,
    inputs,
)
from spark_jobs.csql.text import quote, to_text

UNITS_MS = (("Hour", 3_600_000), ("Minute", 60_000), ("Second", 1_000), ("Millisecond", 1))


def plan_to_text(plan: Plan, depth: int = 0) -> str:
    """Return the algebra text of a plan, indented by depth."""
    below = ",\n".join(plan_to_text(child, depth + 1) for child in inputs(plan))
    head = "  " * depth + node_to_text(plan)
    return f"{head}(\n{below})" if below else head


def node_to_text(plan: Plan) -> str:
    """Return one node's name and arguments."""
    arguments = _arguments(plan)
    return f"{type(plan).__name__}[{arguments}]" if arguments else type(plan).__name__


def _arguments(plan: Plan) -> str:
    match plan:
        case Scan(stream=stream, alias=alias, disorder=disorder):
            return f"{quote(stream.name)} AS {quote(alias)}{_disorder(disorder)}"
        case Select(condition=condition):
            return to_text(condition)
        case Project(outputs=outputs, alias=alias):
            listed = ", ".join(f"{to_text(output.expression)} AS {quote(output.name)}" for output in outputs)
            return f"{listed} NAMED {quote(alias)}" if alias else listed
        case Window(length=length):
            return span_to_text(length)
        case Frequency(every=every, of=of, origin_ms=origin_ms):
            origin = f" ORIGIN {origin_ms}" if origin_ms else ""
            return f"{span_to_text(every)}{origin} OF {of.upper()}"
        case Partition(columns=columns):
            return _list(columns)
        case Aggregate(group=group, last=last, measures=measures):
            parts = [f"BY {_list(group)}"] if group else []
            parts += [f"LAST {_list(last)}"] if last else []
            calls = tuple(measure.call for measure in measures)
            return " ".join(parts + ([f"COMPUTE {_list(calls)}"] if calls else []))
        case Join(condition=condition, key=key):
            parts = [f"ON {to_text(condition)}"] if condition is not None else []
            return " ".join(parts + ([f"KEY {_list(key)}"] if key else []))
        case Distinct() | Minus():
            return ""
        case _:
            assert_never(plan)


def _list(expressions: tuple[Expression, ...]) -> str:
    return ", ".join(map(to_text, expressions))


def span_to_text(span: Span) -> str:
    """Return a length in its largest whole unit.

    >>> span_to_text(Span(90_000, "ms")), span_to_text(Span(3_600_000, "ms")), span_to_text(Span(1, "tuples"))
    ('90 Seconds', '1 Hour', '1 Tuple')
    """
    if span.unit == "tuples":
        unit, amount = "Tuple", span.amount
    else:
        unit, unit_ms = next(each for each in UNITS_MS if span.amount % each[1] == 0)
        amount = span.amount // unit_ms
    return f"{amount} {unit}" if amount == 1 else f"{amount} {unit}s"


def _disorder(disorder: Disorder) -> str:
    parts = ""
    if disorder.dratio is not None:
        parts += f" DRATIO {Decimal(repr(disorder.dratio)).scaleb(2):f}%"
    if disorder.slack is not None:
        parts += f" SLACK {span_to_text(disorder.slack)}"
    return parts if disorder.bsize is None else f"{parts} BSIZE {disorder.bsize}"
