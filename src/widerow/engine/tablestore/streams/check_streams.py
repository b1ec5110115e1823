"""Streams and journals in the walk of a store (`engine/streams/log_walk.py`).

A stream's record repeats its position, and the checksums of its cells and rows are right; a
journal's record is the key of a row.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.check_part import CheckPart
from widerow.engine.streams.change_rows import placed
from widerow.engine.streams.log import LogPosition, decode_record
from widerow.engine.streams.log_walk import log_part
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.errors import StoreDamaged
from widerow.keys.decode import decode_key
from widerow.model.streams import Stream
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyType
from widerow.rows.plain_values import decode_plain_change, decode_plain_record
from widerow.storage.interface import Snapshot

__all__ = ["check_row_named", "stream_parts"]


def stream_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:  # noqa: ARG001  # as every model's
    """What a walk visits of each table: everything in the space of its streams."""
    for table in Tables(catalog, TABLESTORE_MODEL).all():
        yield log_part(catalog, table, partial(_check, table))


def _check(table: Table, log: Stream, record: bytes, position: LogPosition) -> int:
    if log is table.journal:
        check_row_named(record, [column.type for column in table.key_columns])
    else:
        _check_record(record, position)
    return 1


def _check_record(data: bytes, position: LogPosition) -> None:
    found = decode_record(data)
    decode_plain_change(found.record)
    if found.origin:
        decode_plain_record(found.origin)
    if placed(found.record, position) != found.record:
        raise StoreDamaged("a change record says another position than its key")


def check_row_named(data: bytes, kinds: Sequence[KeyType]) -> None:
    """A record of a journal is a whole encoded primary key. Raises `StoreDamaged`."""
    _, end = decode_key(data, 0, kinds)
    if end != len(data):
        raise StoreDamaged("a record of a journal is not a primary key")
