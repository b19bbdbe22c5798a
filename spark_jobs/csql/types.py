"""The types of CSQL and the few rules between them."""

from __future__ import annotations

from enum import Enum

Value = bool | int | float | str | None
"""What a column holds. A TIMESTAMP is an integer of milliseconds since the epoch."""


class Type(Enum):
    """A column's type, named as Spark SQL names it; NULL is the type of the literal NULL alone."""

    INT = "INT"
    BIGINT = "BIGINT"
    DOUBLE = "DOUBLE"
    STRING = "STRING"
    BOOLEAN = "BOOLEAN"
    TIMESTAMP = "TIMESTAMP"
    NULL = "NULL"


SPELLINGS = {
    "TINYINT": Type.INT,
    "SMALLINT": Type.INT,
    "INT": Type.INT,
    "INTEGER": Type.INT,
    "BIGINT": Type.BIGINT,
    "LONG": Type.BIGINT,
    "FLOAT": Type.DOUBLE,
    "REAL": Type.DOUBLE,
    "DOUBLE": Type.DOUBLE,
    "STRING": Type.STRING,
    "TEXT": Type.STRING,
    "VARCHAR": Type.STRING,
    "CHAR": Type.STRING,
    "BOOLEAN": Type.BOOLEAN,
    "BOOL": Type.BOOLEAN,
    "TIMESTAMP": Type.TIMESTAMP,
}
"""Every way to write a type, and the type it is."""

INTEGERS = frozenset({Type.INT, Type.BIGINT, Type.TIMESTAMP})
"""Types whose values are Python integers; a TIMESTAMP counts milliseconds."""

NUMBERS = INTEGERS | {Type.DOUBLE}


def common(left: Type, right: Type) -> Type | None:
    """Return the type both sides can be read as, or None where there is none.

    >>> common(Type.INT, Type.DOUBLE), common(Type.STRING, Type.INT)
    (<Type.DOUBLE: 'DOUBLE'>, None)
    """
    if left is right or right is Type.NULL:
        return left
    if left is Type.NULL:
        return right
    if left in NUMBERS and right in NUMBERS:
        return Type.DOUBLE if Type.DOUBLE in (left, right) else Type.BIGINT
    return None
