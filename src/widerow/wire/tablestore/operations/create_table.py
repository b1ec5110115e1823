"""CreateTable (semantics §2.1)."""

from itertools import chain, islice

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule
from widerow.limits import INDEXES_MAX
from widerow.model.tablestore.requests import CreateTable, OptionsChange
from widerow.model.values import KeyInput, KeyMarker
from widerow.wire.tablestore.messages import CreateTableRequest, PartitionRange
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.definitions import (
    defined_column,
    encryption,
    index_definition,
    key_column,
    options_change,
    stream_change,
    throughput_change,
)
from widerow.wire.tablestore.plainbuffer import decode_variant_value

__all__ = ["call", "decode", "encode"]


@decoder(CreateTableRequest)
def decode(sent: CreateTableRequest) -> CreateTable:
    """The table asked for. Raises `InvalidRequest`.

    One index too many is enough to be refused for; those behind it cost nothing.
    """
    meta, has = sent.table_meta, sent.HasField
    indexes = chain(sent.index_metas, meta.index_meta)
    return CreateTable(
        name=text(meta.table_name),
        key_columns=tuple(map(key_column, meta.primary_key)),
        defined_columns=tuple(map(defined_column, meta.defined_column)),
        throughput=throughput_change(sent.reserved_throughput),
        options=options_change(sent.table_options) if has("table_options") else OptionsChange(),
        partitions=tuple(map(_partition, sent.partitions)),
        stream=stream_change(sent.stream_spec) if has("stream_spec") else None,
        encryption=encryption(sent.sse_spec) if has("sse_spec") else None,
        local_transactions=sent.enable_local_txn if has("enable_local_txn") else None,
        indexes=tuple(map(index_definition, islice(indexes, INDEXES_MAX + 1))),
    )


def _partition(sent: PartitionRange) -> tuple[KeyInput, KeyInput]:
    return _bound(sent.begin), _bound(sent.end)


def _bound(data: bytes) -> KeyInput:
    """A value or an infinity; other types of value are none a partition key can have."""
    value = decode_variant_value(data, Rule.SPLIT_TYPE)
    if isinstance(value, (bool, float)) or value is KeyMarker.AUTO_INCREMENT:
        raise InvalidRequest(Rule.SPLIT_TYPE)
    return value


def call(engine: TablestoreEngine, instance: str, request: CreateTable) -> Plan[None]:
    """Ask the engine."""
    return engine.create_table(instance, request)


def encode(_result: None) -> bytes:
    """CreateTableResponse, which is empty."""
    return b""
