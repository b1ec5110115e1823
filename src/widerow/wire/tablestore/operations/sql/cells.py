"""Cells have the types of their mapped columns, or a statement that needs them fails (sql §3)."""

import json
from collections.abc import Sequence
from types import NoneType
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.model.tablestore.mapping import MappedColumn, SqlType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.query.relation import Values

__all__ = ["check_types", "have_types", "value_or_null"]

_TYPES: Final = {
    SqlType.BIGINT: (int, "INTEGER"),
    SqlType.DOUBLE: (float, "DOUBLE"),
    SqlType.BOOL: (bool, "BOOLEAN"),
    SqlType.VARCHAR: (str, "STRING"),
    SqlType.MEDIUMTEXT: (str, "STRING"),
    SqlType.VARBINARY: (bytes, "BINARY"),
    SqlType.MEDIUMBLOB: (bytes, "BINARY"),
}
_NAMES: Final = dict(_TYPES.values())


def have_types(columns: Sequence[MappedColumn], values: Sequence[Values]) -> bool:
    """Whether all cells have the types of their columns."""
    for column, found in zip(columns, values, strict=True):
        kinds = set(map(type, found))
        kinds.discard(NoneType)
        kinds.discard(_TYPES[column.type][0])
        if kinds:
            return False
    return True


def value_or_null(column: MappedColumn, value: Value | None) -> Value | None:
    """A value, where it has the type of the column."""
    return value if type(value) is _TYPES[column.type][0] else None


def check_types(
    columns: Sequence[MappedColumn],
    values: Sequence[Values],
    keys: Sequence[Values],
    key: Sequence[str],
) -> None:
    """Raise `InvalidRequest` for the first cell of another type than its column has.

    `keys`: the values of the key columns, whose names are `key`, for the message.
    """
    for column, found in zip(columns, values, strict=True):
        kind, expected = _TYPES[column.type]
        if {type(value) for value in found} <= {kind, NoneType}:
            continue
        row = next(at for at, value in enumerate(found) if type(value) not in (kind, NoneType))
        cells = [
            {"ColumnName": name, "Value": _shown(found_key[row]), "PrimaryKeyOption": 0}
            for name, found_key in zip(key, keys, strict=True)
        ]
        shown = json.dumps({"PrimaryKeys": cells}, separators=(",", ":"), ensure_ascii=False)
        raise InvalidRequest(
            TablestoreRule.SQL_FIELD_TYPE,
            actual=_NAMES[type(found[row])],
            expected=expected,
            column=column.name,
            key=shown,
        )


def _shown(value: Any) -> Any:  # noqa: ANN401  # JSON
    return value.hex() if isinstance(value, bytes) else value
