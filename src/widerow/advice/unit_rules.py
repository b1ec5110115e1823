"""The capacity units that the service's rules charge for a request (semantics §9).

Pure. Sizes are names and values: 8 bytes for numbers, one for booleans, the bytes of texts and
binaries. Rows that a filter drops are charged but not in the answer, so the units of a read with a
filter are a lower bound.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from widerow.engine.capacity import units
from widerow.errors import WiderowError
from widerow.model.tablestore.row import Modification, SentCells
from widerow.model.values import KeyMarker, value_bytes
from widerow.rows.plain_values import Row, decode_plain_rows
from widerow.wire.tablestore.errors.codes import CONDITION_CHECK_FAIL
from widerow.wire.tablestore.plainbuffer import decode_row_change

__all__ = ["Units", "error_units", "row_bytes", "unit_rules"]

_SERVER_ERRORS: Final = 500
_MARKER_BYTES: Final = 8  # of a value that the server makes: an integer
_WRITES: Final = frozenset(("PutRow", "UpdateRow", "DeleteRow"))
_ERROR_UNITS: Final = {  # (read, write) of an error below 500
    "GetRow": (1, 0),
    "GetRange": (1, 0),
    "PutRow": (0, 1),
    "DeleteRow": (0, 1),
    "UpdateRow": (1, 1),
}


class Units(NamedTuple):
    """Read and write capacity units."""

    read: int
    write: int

    def plus(self, other: "Units") -> "Units":
        """The sum of both."""
        return Units(self.read + other.read, self.write + other.write)


def error_units(action: str, status: int, code: str) -> Units:
    """The units that an error answer costs."""
    if status >= _SERVER_ERRORS:
        return Units(0, 0)
    if action in _WRITES and code == CONDITION_CHECK_FAIL:
        return Units(1, 1)
    return Units(*_ERROR_UNITS.get(action, (0, 0)))


def unit_rules(action: str, asked: Any, told: Any) -> dict[str, Units]:  # noqa: ANN401  # messages have no common type
    """The units of a successful request by table; empty for an action without a rule here.

    `asked`, `told`: the messages of the request and of the answer. Linear in both.
    """
    rule = _RULES.get(action)
    if rule is None or asked is None:
        return {}
    try:
        return rule(asked, told)
    except (WiderowError, ValueError):
        return {}


def row_bytes(row: Row) -> int:
    """The bytes of a row that count for units."""
    return _key_bytes(row.key) + sum(
        len(each.column.encode()) + value_bytes(each.value) for each in row.cells
    )


def _key_bytes(columns: Iterable[tuple[str, Any]]) -> int:
    return sum(
        len(name.encode()) + (_MARKER_BYTES if isinstance(value, KeyMarker) else value_bytes(value))
        for name, value in columns
    )


def _read_units(rows: bytes) -> int:
    return max(1, units(sum(map(row_bytes, decode_plain_rows(rows)))))


def _write_units(change: bytes, modification: Modification, condition: Any) -> Units:  # noqa: ANN401  # a message
    key, cells = decode_row_change(change, modification)
    size = key_size = _key_bytes(key.columns)
    if isinstance(cells, SentCells):
        size += cells.data_size
    else:
        size += sum(cell.size for cell in cells)
    expects = condition.row_existence or condition.column_condition
    return Units(units(key_size) if expects else 0, units(size))


def _get_row(asked: Any, told: Any) -> dict[str, Units]:  # noqa: ANN401  # the action's messages
    return {str(asked.table_name): Units(_read_units(told.row), 0)}


def _get_range(asked: Any, told: Any) -> dict[str, Units]:  # noqa: ANN401  # the action's messages
    return {str(asked.table_name): Units(_read_units(told.rows), 0)}


def _put(asked: Any, _: object) -> dict[str, Units]:  # noqa: ANN401  # the action's messages
    spent = _write_units(asked.row, Modification.PUT, asked.condition)
    return {str(asked.table_name): spent}


def _update(asked: Any, _: object) -> dict[str, Units]:  # noqa: ANN401  # the action's messages
    spent = _write_units(asked.row_change, Modification.UPDATE, asked.condition)
    return {str(asked.table_name): spent}


def _delete(asked: Any, _: object) -> dict[str, Units]:  # noqa: ANN401  # the action's messages
    spent = _write_units(asked.primary_key, Modification.DELETE, asked.condition)
    return {str(asked.table_name): spent}


def _batch_get(_: object, told: Any) -> dict[str, Units]:  # noqa: ANN401  # the action's messages
    found: dict[str, Units] = {}
    for table in told.tables:
        spent = sum(_read_units(each.row) for each in table.rows if each.is_ok)
        name = str(table.table_name)
        found[name] = found.get(name, Units(0, 0)).plus(Units(spent, 0))
    return found


def _batch_write(asked: Any, told: Any) -> dict[str, Units]:  # noqa: ANN401  # the action's messages
    found: dict[str, Units] = {}
    for table, answered in zip(asked.tables, told.tables, strict=False):
        spent = Units(0, 0)
        for row, answer in zip(table.rows, answered.rows, strict=False):
            if answer.is_ok:
                kind = Modification(row.type)
                spent = spent.plus(_write_units(row.row_change, kind, row.condition))
        name = str(table.table_name)
        found[name] = found.get(name, Units(0, 0)).plus(spent)
    return found


_RULES: Final[dict[str, Callable[[Any, Any], dict[str, Units]]]] = {
    "GetRow": _get_row,
    "GetRange": _get_range,
    "PutRow": _put,
    "UpdateRow": _update,
    "DeleteRow": _delete,
    "BatchGetRow": _batch_get,
    "BatchWriteRow": _batch_write,
}
