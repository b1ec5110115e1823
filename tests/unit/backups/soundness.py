"""What must hold of a store whose backup was made while it was written."""

from collections.abc import Sequence
from typing import Any, Final

from tests.support.watched import WATCHED
from tests.unit.backups.filled import INSTANCE, Filled

from widerow.client.rows import decode_change
from widerow.engine.streams.log import decode_record
from widerow.keys.encode import after_prefix
from widerow.keys.layout import change_prefix
from widerow.rows.plain_values import VersionedValue

__all__ = ["BEFORE", "Rows", "rows_in", "sound", "told_in"]

BEFORE: Final = [
    *[(kind, n) for n in range(5) for kind in ("row", "user", "count", "point", "note")],
    ("settle", 0),
]
_RECORD_BYTES: Final = 17 + 12

Rows = dict[Any, Any]


def rows_in(filled: Filled) -> Rows:
    """The value of column `c` of each row of the watched table that has one."""
    columns = ("k", "n")
    found = filled.rows_of(WATCHED, columns)
    return {key: cells["c"][0][1] for key, cells in found if "c" in cells}


def told_in(filled: Filled) -> set[tuple[Any, Any]]:
    """Every put of the watched table that its logs tell of."""
    logs = change_prefix(filled.tables.tables.find(INSTANCE, WATCHED).id)
    found = filled.store.snapshot().scan(logs, after_prefix(logs))
    rows = [
        decode_change(decode_record(value).record)
        for key, value in found
        if len(key) == _RECORD_BYTES
    ]
    return {
        (tuple([value for _, value in row.key]), cell.value)
        for row in rows
        for cell in row.cells
        if isinstance(cell, VersionedValue) and cell.column == "c"
    }


def shard(rows: Rows, partition: str) -> Rows:
    """The rows of a partition key value."""
    return {key: value for key, value in rows.items() if key[0] == partition}


def sound(found: Filled, seen: Sequence[Rows]) -> None:
    """Each shard is as it was at some moment; logs tell of it; new numbers are new."""
    rows, told = rows_in(found), told_in(found)
    for partition in {key[0] for each in seen for key in each} | {key[0] for key in rows}:
        assert shard(rows, partition) in [shard(each, partition) for each in seen]
    assert set(rows.items()) <= told
    counted = found.rows_of("counted", ("k", "n"))
    users = found.users()
    for number in range(2):
        found.change("count", number)
        found.change("user", number)
    assert len(found.rows_of("counted", ("k", "n"))) == len(counted) + 2
    assert found.users() > users
    assert len(found.users()) == len(users) + 2
