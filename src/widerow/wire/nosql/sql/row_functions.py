"""Functions of a row: its version, its times, its sizes (ddl §4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.stored import StoredRow
from widerow.errors import InvalidRequest
from widerow.model.typed.values import JSON_NULL, Timestamp
from widerow.wire.nosql.sql.items import LongInt, stamp
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.scope import SqlFrame
from widerow.wire.nosql.sql.statement_rules import StatementRule
from widerow.wire.nosql.sql.syntax import TypeNode

__all__ = ["ROW_FUNCTIONS", "RowFunction"]

_HOUR_US: Final = 3_600_000_000
Arguments = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class RowFunction:
    """A function of a row; `kind`: the type of what it gives, `call`: told where it stands."""

    call: Callable[[SqlFrame, StoredRow | None, Arguments, TextPlace], Sequence[Any]]
    kind: TypeNode


def _of(
    value: Callable[[SqlFrame, StoredRow], Any], kind: str, size: int | None = None
) -> RowFunction:
    def call(frame: SqlFrame, row: StoredRow | None, _: Arguments, __: TextPlace) -> Sequence[Any]:
        return (None,) if row is None else (value(frame, row),)

    return RowFunction(call, TypeNode(kind, size=size))


def _moment(milliseconds: int) -> Timestamp:
    return stamp(Timestamp(milliseconds // 1000, milliseconds % 1000 * 1_000_000), 3)


def _hours(frame: SqlFrame, row: StoredRow) -> int:
    """Hours until the row expires, counted from the hour that it is; -1: it does not."""
    if not row.expires_ms:
        return -1
    left = row.expires_ms * 1000 - frame.now_us
    return max(0, -(-left // _HOUR_US))


def _days(frame: SqlFrame, row: StoredRow) -> int:
    if not row.expires_ms:
        return -1
    left = row.expires_ms * 1000 - frame.now_us
    return max(0, left // (24 * _HOUR_US))


def _size(_: SqlFrame, row: StoredRow) -> int:
    return len(row.record) + len(row.encoded_key)


def _index_size(
    _: SqlFrame, row: StoredRow | None, arguments: Arguments, place: TextPlace
) -> Sequence[Any]:
    name = arguments[0][0] if arguments and arguments[0] else None
    if row is None or name is None:
        return (None,)
    index = row.table.index(str(name))
    if index is None:
        raise InvalidRequest(
            StatementRule.NO_INDEX,
            table=row.table.name,
            name=str(name)[:100],
            line=place.line,
            column=place.column,
        )
    entries = IndexForm(row.table, index).entries(row)
    return (sum(len(key) + len(value) for key, value in entries.items()),)


ROW_FUNCTIONS: Final[dict[str, RowFunction]] = {
    "version": _of(lambda _, row: row.version.to_bytes(), "BINARY"),
    "modification_time": _of(lambda _, row: _moment(row.modified_ms), "TIMESTAMP", 3),
    "creation_time": _of(lambda _, __: _moment(0), "TIMESTAMP", 3),
    "creation_time_millis": _of(lambda _, __: LongInt(0), "LONG"),
    "expiration_time": _of(lambda _, row: _moment(row.expires_ms), "TIMESTAMP", 3),
    "expiration_time_millis": _of(lambda _, row: LongInt(row.expires_ms), "LONG"),
    "remaining_hours": _of(_hours, "INTEGER"),
    "remaining_days": _of(_days, "INTEGER"),
    "row_storage_size": _of(_size, "INTEGER"),
    "index_storage_size": RowFunction(_index_size, TypeNode("INTEGER")),
    "partition": _of(lambda _, __: 1, "INTEGER"),
    "shard": _of(lambda _, __: 1, "INTEGER"),
    "row_metadata": _of(lambda _, __: JSON_NULL, "JSON"),
}
