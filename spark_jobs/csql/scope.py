"""Names in reach of an expression, and the binding of columns to them."""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.csql.cursor import suggest
from spark_jobs.csql.expressions import Column, Expression, transform
from spark_jobs.csql.plan import Field
from spark_jobs.errors import QueryError

RESERVED_COLUMNS = frozenset({"at", "op", "from", "to", "key", "query"})
"""Names of the output format: no column may have them."""


def check_column_name(name: str, at: int) -> None:
    """Raise QueryError where the name is one of the output format's own."""
    if name.lower() in RESERVED_COLUMNS:
        hint = f"name the column otherwise; results use {', '.join(sorted(RESERVED_COLUMNS))}"
        raise QueryError(f"'{name}' is a reserved name", hint=hint, at=at)


class Scope:
    """The columns of the sources of one block; found without regard to case.

    >>> from spark_jobs.csql.types import Type
    >>> scope = Scope((Field("B", "Id", Type.INT),))
    >>> scope.resolve(Column("b", "ID"))
    Column(source='B', name='Id', type=<Type.INT: 'INT'>)
    """

    def __init__(self, fields: tuple[Field, ...]) -> None:
        self.fields = fields

    def resolve(self, column: Column) -> Column:
        """Return the bound column; raise QueryError where it is unknown or ambiguous."""
        found = self.find(column)
        if not found:
            self._unknown(column)
        if len(found) > 1:
            sources = " and ".join(f"'{field.source}'" for field in found)
            hint = f"write {found[0].source}.{found[0].name}"
            raise QueryError(f"column '{column.name}' is in {sources}", hint=hint, at=column.at)
        return replace(found[0].column(), at=column.at)

    def find(self, column: Column) -> list[Field]:
        """Return every field the column could mean."""
        source, name = column.source.lower(), column.name.lower()
        return [field for field in self.fields if field.name.lower() == name and source in ("", field.source.lower())]

    def bind(self, expression: Expression) -> Expression:
        """Return the expression with every column bound."""
        return transform(expression, lambda part: self.resolve(part) if isinstance(part, Column) else None)

    def _unknown(self, column: Column) -> None:
        sources = tuple(dict.fromkeys(field.source for field in self.fields))
        if column.source and column.source.lower() not in [source.lower() for source in sources]:
            hint = suggest(column.source, sources) or f"there is {', '.join(sources)}"
            raise QueryError(f"unknown source '{column.source}'", hint=hint, at=column.at)
        reachable = [field for field in self.fields if column.source.lower() in ("", field.source.lower())]
        where = f" in '{column.source}'" if column.source else ""
        names = [field.name for field in reachable]
        hint = suggest(column.name, names) or f"there is {', '.join(names)}"
        raise QueryError(f"unknown column '{column.name}'{where}", hint=hint, at=column.at)
