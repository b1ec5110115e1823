"""Every part of Tablestore's tables in the walk of a store (`engine/check.py`)."""

from collections.abc import Iterator
from functools import partial
from itertools import chain

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.check_part import CheckPart
from widerow.engine.entry_intents import decode_entry_intent
from widerow.engine.intents import IntentKind, decode_intent
from widerow.engine.tablestore.check_rows import tablestore_parts
from widerow.engine.tablestore.indexes.check_indexes import index_parts
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.streams.check_streams import check_row_named, stream_parts
from widerow.engine.tablestore.streams.intents import decode_change_intent
from widerow.engine.tablestore.streams.log import decode_record
from widerow.engine.tablestore.tunnels.check_tunnels import tunnel_parts
from widerow.keys.encode import after_prefix
from widerow.keys.layout import intent_prefix
from widerow.model.tablestore.schema import Table
from widerow.rows.plain_values import decode_plain_record
from widerow.storage.interface import Snapshot

__all__ = ["all_parts"]


def all_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:
    """Rows and sequence records, entries of indexes, logs, tunnels, intents."""
    parts = (tablestore_parts, index_parts, stream_parts, tunnel_parts, _intent_parts)
    return chain.from_iterable(each(catalog, snapshot) for each in parts)


def _intent_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:  # noqa: ARG001  # as every part
    for table in Tables(catalog, TABLESTORE_MODEL).all():
        prefix = intent_prefix(table.id)
        visit = partial(_check_intent, table)
        yield CheckPart(table.qualified, prefix, after_prefix(prefix), visit)


def _check_intent(table: Table, key: bytes, record: bytes) -> None:
    """Check that an intent can be decoded. Intents may be there at any moment."""
    intent = decode_intent(key, record)
    if intent.kind is IntentKind.ENTRIES:
        decode_entry_intent(intent)
        return
    change = decode_change_intent(intent)
    if table.journal is not None and table.journal.number == change.log:
        check_row_named(change.value, [column.type for column in table.key_columns])
        return
    if table.stream is None or table.stream.number != change.log:
        return  # of a log that was switched off meanwhile
    left = decode_record(change.value)
    decode_plain_record(left.record)
    if left.origin:
        decode_plain_record(left.origin)
