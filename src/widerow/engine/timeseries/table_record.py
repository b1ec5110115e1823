"""A timeseries table as a catalogue record, in JSON (docs/formats/catalog.md)."""

import json
from typing import Any, Final

from widerow.engine.stored_json import decode_json
from widerow.engine.streams.log_shards import new_stream
from widerow.engine.streams.stored_logs import decode_log, encode_log
from widerow.engine.tunnels.stored_tunnels import decode_tunnel, encode_tunnel
from widerow.limits import STREAM_HOURS_MAX
from widerow.model.streams import Stream
from widerow.model.tablestore.mapping import MappedColumn, SqlType
from widerow.model.timeseries.table import (
    AnalyticalStore,
    FieldKey,
    FieldMapping,
    LastpointIndex,
    SyncOption,
    TimeseriesOptions,
    TimeseriesTable,
)
from widerow.model.values import KeyType

__all__ = ["decode_timeseries_table", "encode_timeseries_table"]

_FORMAT: Final = 1
_WHAT: Final = "the definition of a timeseries table"


def encode_timeseries_table(table: TimeseriesTable) -> bytes:
    """The record of a table."""
    options = table.options
    record: dict[str, Any] = {
        "format": _FORMAT,
        "id": table.id,
        "meta_id": table.meta_id,
        "instance": table.instance,
        "name": table.name,
        "options": [options.ttl_s, options.meta_ttl_s, options.update_attributes],
        "key": list(table.key),
        "field_keys": [[each.name, each.type.value] for each in table.field_keys],
        "stores": [
            [each.name, each.ttl_s, each.sync.name, each.created_us, each.with_table]
            for each in table.stores
        ],
        "lastpoints": [
            [each.name, each.number, each.ready, each.created_us] for each in table.lastpoints
        ],
        "hashed": table.hashed,
        "meta_index": table.meta_index,
        "splits": [bound.hex() for bound in table.splits],
        "asked": [bound.hex() for bound in table.asked],
    }
    record["stream"] = encode_log(table.stream)
    if table.tunnels:
        record["tunnels"] = [encode_tunnel(each) for each in table.tunnels]
    if table.mappings:
        record["mappings"] = [
            [each.name, each.of_store, [[c.name, c.type.name, c.nullable] for c in each.columns]]
            for each in table.mappings
        ]
    return json.dumps(record, separators=(",", ":")).encode()


def decode_timeseries_table(record: bytes) -> TimeseriesTable:
    """The table of a record. Raises `StoreDamaged`."""
    return decode_json(record, _WHAT, _table, form=_FORMAT, whole=True)


def _table(fields: dict[str, Any]) -> TimeseriesTable:
    pop = fields.pop
    hashed, meta_index = _typed([pop("hashed"), pop("meta_index")], bool, bool)
    number, name = int(pop("id")), str(pop("name"))
    splits = tuple(map(bytes.fromhex, pop("splits")))
    stream = pop("stream", None)
    return TimeseriesTable(
        number,
        int(pop("meta_id")),
        str(pop("instance")),
        name,
        TimeseriesOptions(*_typed(pop("options"), int, int, bool)),
        tuple(map(str, pop("key"))),
        tuple(FieldKey(str(name), KeyType(kind)) for name, kind in pop("field_keys")),
        tuple(_store(each) for each in pop("stores")),
        tuple(LastpointIndex(*_typed(each, str, int, bool, int)) for each in pop("lastpoints")),
        hashed,
        meta_index,
        splits,
        tuple(map(bytes.fromhex, pop("asked"))),
        tuple(map(_mapping, pop("mappings", []))),
        stream=_first_stream(number, name, splits) if stream is None else decode_log(stream),
        tunnels=tuple(map(decode_tunnel, pop("tunnels", []))),
    )


def _first_stream(number: int, name: str, splits: tuple[bytes, ...]) -> Stream:
    """The stream of a record that has none, which is of a version without streams.

    It begins now, with the number of its table, which no other stream has.
    """
    return new_stream(name, STREAM_HOURS_MAX, splits, number, 0)


def _store(values: list[Any]) -> AnalyticalStore:
    name, ttl_s, sync, created_us, with_table = values
    values = [name, ttl_s, SyncOption[sync], created_us, with_table]
    return AnalyticalStore(*_typed(values, str, int, SyncOption, int, bool))


def _mapping(values: list[Any]) -> FieldMapping:
    name, of_store = _typed(values[:2], str, bool)
    [columns] = values[2:]
    mapped = [(str(name), SqlType[kind], nullable is True) for name, kind, nullable in columns]
    return FieldMapping(name, tuple([MappedColumn(*each) for each in mapped]), of_store)


def _typed(values: list[Any], *kinds: type[Any]) -> list[Any]:
    """The values, each of its type. Raises `TypeError`, `ValueError`."""
    for value, kind in zip(values, kinds, strict=True):
        if type(value) is not kind:
            raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return values
