"""A table as a catalogue record: JSON, so that a person with a dump can read it.

`format` is raised when a reader of the former one could misunderstand; unknown fields are refused,
because a field that is not understood may change what the rows mean (docs/formats/catalog.md).
"""

import json
from collections.abc import Iterator
from dataclasses import astuple, replace
from typing import Final, TypeVar

from widerow.engine.stored_json import decode_json
from widerow.engine.streams.log_shards import first_shards
from widerow.engine.streams.stored_logs import decode_log, encode_log
from widerow.engine.tablestore.search_record import decode_search_index, encode_search_index
from widerow.engine.tunnels.stored_tunnels import decode_tunnel, encode_tunnel
from widerow.model.streams import Stream
from widerow.model.tablestore.delivery import (
    DeliveryColumn,
    DeliveryConfig,
    DeliveryTask,
    DeliveryType,
    EventColumn,
    EventTimeFormat,
    ParquetType,
)
from widerow.model.tablestore.mapping import MappedColumn, SearchMapping, SqlMapping, SqlType
from widerow.model.tablestore.schema import (
    DefinedColumn,
    Encryption,
    KeyColumn,
    NewestView,
    SecondaryIndex,
    Table,
    TableOptions,
    Throughput,
    ThroughputState,
)
from widerow.model.values import ColumnType, KeyType

__all__ = ["decode_table", "encode_table"]

_FORMAT: Final = 1
_FIRST_FIELDS: Final = 4  # of a stream, before it had records

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
T = TypeVar("T")


def encode_table(table: Table) -> bytes:
    """The record of a table."""
    throughput = table.throughput
    record: dict[str, Json] = {
        "format": _FORMAT,
        "instance": table.instance,
        "name": table.name,
        "id": table.id,
        "key_columns": [[c.name, c.type.value, c.auto_increment] for c in table.key_columns],
        "defined_columns": [[c.name, c.type.name] for c in table.defined_columns],
        "options": {name: getattr(table.options, name) for name in _OPTIONS},
        "throughput": [throughput.reserved.read, throughput.reserved.write],
        "throughput_changed": [throughput.last_increase, throughput.last_decrease],
        "created_us": table.created_us,
        "splits": [bound.hex() for bound in table.splits],
    }
    record.update((name, made) for name, made in _parts(table) if made is not None)
    return json.dumps(record, separators=(",", ":")).encode()


def _parts(table: Table) -> Iterator[tuple[str, Json]]:
    """The optional fields, in the order of the record; None: the field is absent."""
    stream, encryption, journal = table.stream, table.encryption, table.journal
    moved = table.asked != table.splits
    yield "asked", [bound.hex() for bound in table.asked] if moved else None
    yield "stream", None if stream is None else encode_log(stream)
    yield "encryption", None if encryption is None else _encryption_record(encryption)
    yield "untrimmed", table.untrimmed or None
    yield "local_transactions", None if table.local_transactions else False
    yield "indexes", [list(map(_plain, astuple(each))) for each in table.indexes] or None
    yield "index_of", [table.index_of, table.local_index] if table.index_of else None
    yield "tunnels", [encode_tunnel(each) for each in table.tunnels] or None
    yield "deliveries", [_delivery_record(each) for each in table.deliveries] or None
    yield "search", [encode_search_index(each) for each in table.search] or None
    yield "journal", None if journal is None else encode_log(journal)
    yield "mapping", None if table.mapping is None else _mapping_record(table.mapping)
    yield "search_mappings", list(map(_search_mapping_record, table.search_mappings)) or None
    yield "newest", [list(each) for each in table.newest] or None


def _mapping_record(mapping: SqlMapping) -> Json:
    return [_columns(mapping.columns), mapping.consistent, mapping.exact]


def _search_mapping_record(mapping: SearchMapping) -> Json:
    return [mapping.name, mapping.index, _columns(mapping.columns)]


def _columns(columns: tuple[MappedColumn, ...]) -> Json:
    return [[c.name, c.type.name, c.nullable] for c in columns]


def _encryption_record(asked: Encryption) -> Json:
    return [asked.enabled, asked.key_type, _hex(asked.key_id), _hex(asked.role_arn)]


_OPTIONS: Final = tuple(TableOptions.__dataclass_fields__)


def _delivery_record(task: DeliveryTask) -> Json:
    config = task.config
    where: list[Json] = [
        *(config.bucket, config.prefix, config.dirty_prefix, config.endpoint, config.role)
    ]
    event = config.event_column
    return [
        task.name,
        task.type.name,
        encode_tunnel(task.tunnel),
        where,
        None if event is None else [event.name, event.format.name],
        [[each.name, each.delivered_as, each.type.name, each.encoding] for each in config.columns],
    ]


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def _unhex(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def decode_table(data: bytes) -> Table:
    """The table of a record. Raises `StoreDamaged` for anything `encode_table` does not write."""
    return decode_json(data, "catalogue record", _table, form=_FORMAT, whole=True)


def _table(record: dict[str, Json]) -> Table:
    # Json is recursive: each field is popped as what it must be, and a wrong shape raises.
    pop = record.pop
    read, write = _items(pop("throughput"))
    increase, decrease = _items(pop("throughput_changed"))
    splits = _bounds(pop("splits"))
    asked = pop("asked", None)
    journal = pop("journal", None)
    index_of, local_index = _items(pop("index_of", [0, False]))
    name, number = _as(str, pop("name")), _as(int, pop("id"))
    return Table(
        instance=_as(str, pop("instance")),
        name=name,
        id=number,
        key_columns=tuple(
            KeyColumn(_as(str, name), KeyType(kind), _as(bool, auto))
            for name, kind, auto in map(_items, _items(pop("key_columns")))
        ),
        defined_columns=tuple(
            DefinedColumn(_as(str, name), ColumnType[_as(str, kind)])
            for name, kind in map(_items, _items(pop("defined_columns")))
        ),
        options=_options(pop("options")),
        throughput=ThroughputState(
            Throughput(_as(int, read), _as(int, write)),
            _as(int, increase),
            None if decrease is None else _as(int, decrease),
        ),
        created_us=_as(int, pop("created_us")),
        splits=splits,
        asked=splits if asked is None else _bounds(asked),
        stream=_stream(pop("stream", None), name, number, splits),
        encryption=_encryption(pop("encryption", None)),
        untrimmed=_as(bool, pop("untrimmed", False)),  # the default of a field
        local_transactions=_as(bool, pop("local_transactions", True)),  # the default of a field
        indexes=tuple(map(_index, _items(pop("indexes", [])))),
        index_of=_as(int, index_of),
        local_index=_as(bool, local_index),
        tunnels=tuple(decode_tunnel(each) for each in _items(pop("tunnels", []))),
        deliveries=tuple(_delivery(each) for each in _items(pop("deliveries", []))),
        search=tuple(decode_search_index(each) for each in _items(pop("search", []))),
        journal=None if journal is None else decode_log(journal),
        mapping=_mapping(pop("mapping", None)),
        search_mappings=tuple(map(_search_mapping, _items(pop("search_mappings", [])))),
        newest=tuple(map(_newest, _items(pop("newest", [])))),
    )


def _mapping(value: Json) -> SqlMapping | None:
    if value is None:
        return None
    columns, consistent, exact = _items(value)
    return SqlMapping(_mapped(columns), _as(bool, consistent), _as(bool, exact))


def _mapped(columns: Json) -> tuple[MappedColumn, ...]:
    return tuple(
        MappedColumn(_as(str, name), SqlType[_as(str, kind)], _as(bool, nullable))
        for name, kind, nullable in map(_items, _items(columns))
    )


def _newest(value: Json) -> NewestView:
    name, width, since_ms = _items(value)
    return NewestView(_as(str, name), _as(int, width), _as(int, since_ms))


def _search_mapping(value: Json) -> SearchMapping:
    name, index, columns = _items(value)
    return SearchMapping(_as(str, name), _as(str, index), _mapped(columns))


def _plain(value: str | int | tuple[str, ...]) -> Json:
    return list(value) if isinstance(value, tuple) else value


def _index(value: Json) -> SecondaryIndex:
    name, number, is_local, listed, covered, ready, complete = _items(value)
    return SecondaryIndex(
        _as(str, name),
        _as(int, number),
        _as(bool, is_local),
        tuple(_as(str, column) for column in _items(listed)),
        tuple(_as(str, column) for column in _items(covered)),
        _as(bool, ready),
        _as(bool, complete),
    )


def _bounds(value: Json) -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(_as(str, bound)) for bound in _items(value))


def _as(kind: type[T], value: Json) -> T:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, found {value!r}")
    return value


def _items(value: Json) -> list[Json]:
    return _as(list, value)


def _options(value: Json) -> TableOptions:
    fields = _as(dict, value)
    return TableOptions(**{name: fields[name] for name in _OPTIONS})


def _stream(value: Json, table: str, table_id: int, splits: tuple[bytes, ...]) -> Stream | None:
    """The stream of a record.

    Records of four fields are of a version that recorded no changes: such a stream begins now, with
    the number of its table, which no other stream has.
    """
    if value is None:
        return None
    fields = _items(value)
    if len(fields) > _FIRST_FIELDS:
        return decode_log(fields)
    stream_id, hours, enabled, columns = fields
    stream = decode_log([stream_id, hours, enabled, columns, table_id, []])
    name = f"{table}_{stream.enabled_at_us:016}"
    return replace(stream, id=name, shards=first_shards(splits))


def _delivery(value: Json) -> DeliveryTask:
    name, kind, tunnel, where, event, columns = _items(value)
    bucket, prefix, dirty_prefix, endpoint, role = (_as(str, each) for each in _items(where))
    return DeliveryTask(
        _as(str, name),
        DeliveryType[_as(str, kind)],
        DeliveryConfig(
            bucket,
            tuple(_delivery_column(each) for each in _items(columns)),
            prefix,
            dirty_prefix,
            endpoint,
            role,
            None if event is None else _event_column(event),
        ),
        decode_tunnel(tunnel),
    )


def _event_column(value: Json) -> EventColumn:
    name, form = _items(value)
    return EventColumn(_as(str, name), EventTimeFormat[_as(str, form)])


def _delivery_column(value: Json) -> DeliveryColumn:
    name, delivered_as, kind, encoding = _items(value)
    return DeliveryColumn(
        _as(str, name),
        _as(str, delivered_as),
        ParquetType[_as(str, kind)],
        None if encoding is None else _as(int, encoding),
    )


def _encryption(value: Json) -> Encryption | None:
    if value is None:
        return None
    enabled, key_type, key_id, role = _items(value)
    return Encryption(
        _as(bool, enabled),
        None if key_type is None else _as(int, key_type),
        _unhex(None if key_id is None else _as(str, key_id)),
        _unhex(None if role is None else _as(str, role)),
    )
