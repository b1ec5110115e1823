"""Tables, defined columns, secondary indexes and split points (semantics §2, §6; change §A)."""

from itertools import chain, islice
from typing import Final, NamedTuple

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, NotFound
from widerow.limits import INDEXES_MAX, SPLIT_UNIT_BYTES, SPLIT_UNIT_BYTES_MIN
from widerow.model.tablestore.requests import (
    ComputeSplitPoints,
    CreateIndex,
    CreateTable,
    DropIndex,
    OptionsChange,
    SplitPoints,
    UpdateTable,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import DefinedColumn, Table
from widerow.model.values import KeyInput, KeyMarker
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations import definitions as d
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.beside import describe_beside
from widerow.wire.tablestore.operations.bodies import decoder, text, texts
from widerow.wire.tablestore.plainbuffer import decode_variant_value

__all__ = ["TABLE_ACTIONS", "AddDefinedColumn", "DeleteDefinedColumn"]

_ACTIVE: Final = 1  # tables take requests from the moment they exist


class AddDefinedColumn(NamedTuple):
    """The table and the columns to declare."""

    table: str
    columns: tuple[DefinedColumn, ...]


class DeleteDefinedColumn(NamedTuple):
    """The table and the columns to declare no longer."""

    table: str
    columns: tuple[str, ...]


@decoder(m.CreateTableRequest)
def _create(sent: m.CreateTableRequest) -> CreateTable:
    """One index too many is enough to be refused for; those behind it cost nothing."""
    meta, has = sent.table_meta, sent.HasField
    indexes = chain(sent.index_metas, meta.index_meta)
    return CreateTable(
        name=text(meta.table_name),
        key_columns=tuple(map(d.key_column, meta.primary_key)),
        defined_columns=tuple(map(d.defined_column, meta.defined_column)),
        throughput=d.throughput_change(sent.reserved_throughput),
        options=d.options_change(sent.table_options) if has("table_options") else OptionsChange(),
        partitions=tuple([(_bound(each.begin), _bound(each.end)) for each in sent.partitions]),
        stream=d.stream_change(sent.stream_spec) if has("stream_spec") else None,
        encryption=d.encryption(sent.sse_spec) if has("sse_spec") else None,
        local_transactions=sent.enable_local_txn if has("enable_local_txn") else None,
        indexes=tuple(map(d.index_definition, islice(indexes, INDEXES_MAX + 1))),
    )


def _bound(data: bytes) -> KeyInput:
    """A value or an infinity; other types of value are none a partition key can have."""
    value = decode_variant_value(data, TablestoreRule.SPLIT_TYPE)
    if isinstance(value, (bool, float)) or value is KeyMarker.AUTO_INCREMENT:
        raise InvalidRequest(TablestoreRule.SPLIT_TYPE)
    return value


def _describe(engine: TablestoreEngine, instance: str, name: str) -> Table:
    try:
        return engine.describe_table(instance, name)
    except (NotFound, InvalidRequest) as error:
        return describe_beside(engine, instance, name, error)


def _described(table: Table) -> bytes:
    """With the status that two clients cannot do without (protos §0)."""
    details = None if table.encryption is None else d.describe_encryption(table.encryption)
    return m.DescribeTableResponse(
        table_meta=d.describe_meta(table),
        reserved_throughput_details=d.describe_throughput(table),
        table_options=d.describe_options(table),
        table_status=_ACTIVE,
        stream_details=d.describe_stream(table),
        shard_splits=d.describe_splits(table),
        sse_details=details,
        creation_time=table.created_us,
        index_metas=map(d.describe_index, table.indexes),
    ).SerializeToString()


@decoder(m.UpdateTableRequest)
def _update(sent: m.UpdateTableRequest) -> UpdateTable:
    has = sent.HasField
    throughput = d.throughput_change(sent.reserved_throughput)
    return UpdateTable(
        name=text(sent.table_name),
        throughput=throughput if has("reserved_throughput") else None,
        options=d.options_change(sent.table_options) if has("table_options") else None,
        stream=d.stream_change(sent.stream_spec) if has("stream_spec") else None,
    )


def _updated(table: Table) -> bytes:
    """The table as it is afterwards, its stream always (protos §0)."""
    return m.UpdateTableResponse(
        reserved_throughput_details=d.describe_throughput(table),
        table_options=d.describe_options(table),
        stream_details=d.describe_stream(table),
    ).SerializeToString()


@decoder(m.AddDefinedColumnRequest)
def _add_columns(sent: m.AddDefinedColumnRequest) -> AddDefinedColumn:
    return AddDefinedColumn(text(sent.table_name), tuple(map(d.defined_column, sent.columns)))


@decoder(m.DeleteDefinedColumnRequest)
def _delete_columns(sent: m.DeleteDefinedColumnRequest) -> DeleteDefinedColumn:
    return DeleteDefinedColumn(text(sent.table_name), texts(sent.columns))


@decoder(m.CreateIndexRequest)
def _create_index(sent: m.CreateIndexRequest) -> CreateIndex:
    index = d.index_definition(sent.index_meta)
    return CreateIndex(text(sent.main_table_name), index, sent.include_base_data)


@decoder(m.DropIndexRequest)
def _drop_index(sent: m.DropIndexRequest) -> DropIndex:
    return DropIndex(text(sent.main_table_name), text(sent.index_name))


@decoder(m.ComputeSplitPointsBySizeRequest)
def _split_points(sent: m.ComputeSplitPointsBySizeRequest) -> ComputeSplitPoints:
    """The table and the size of a part in bytes."""
    has_unit = sent.HasField("split_size_unit_in_byte")
    unit = sent.split_size_unit_in_byte if has_unit else SPLIT_UNIT_BYTES
    if sent.split_size > 0 and unit < SPLIT_UNIT_BYTES_MIN:
        raise InvalidRequest(TablestoreRule.SPLIT_SIZE_UNIT, value=unit)
    limit = sent.split_point_limit if sent.HasField("split_point_limit") else None
    return ComputeSplitPoints(text(sent.table_name), sent.split_size * unit, limit)


def _split(found: SplitPoints) -> bytes:
    """The repeats of locations add up to the parts."""
    units = m.CapacityUnit(read=found.read_units, write=0)
    response = m.ComputeSplitPointsBySizeResponse(
        consumed=m.ConsumedCapacity(capacity_unit=units),
        schema=d.describe_meta(found.table).primary_key,
        split_points=d.describe_bounds(found.table, found.points),
    )
    for location, repeat in found.locations:
        response.locations.add(location=location, repeat=repeat)
    return response.SerializeToString()


TABLE_ACTIONS: Final[dict[str, Action]] = {
    "CreateTable": Action(
        _create, lambda engine, instance, asked: engine.create_table(instance, asked)
    ),
    "ListTable": Action(
        decoder(m.ListTableRequest)(lambda _: None),
        lambda engine, instance, _: engine.list_tables(instance),
        lambda names: m.ListTableResponse(table_names=names).SerializeToString(),
    ),
    "DescribeTable": Action(
        decoder(m.DescribeTableRequest)(lambda sent: text(sent.table_name)),
        _describe,
        _described,
    ),
    "UpdateTable": Action(
        _update, lambda engine, instance, asked: engine.update_table(instance, asked), _updated
    ),
    "DeleteTable": Action(
        decoder(m.DeleteTableRequest)(lambda sent: text(sent.table_name)),
        lambda engine, instance, asked: engine.delete_table(instance, asked),
    ),
    "AddDefinedColumn": Action(
        _add_columns, lambda engine, instance, asked: engine.add_defined_columns(instance, *asked)
    ),
    "DeleteDefinedColumn": Action(
        _delete_columns,
        lambda engine, instance, asked: engine.delete_defined_columns(instance, *asked),
    ),
    "CreateIndex": Action(
        _create_index, lambda engine, instance, asked: engine.indexes.create(instance, asked)
    ),
    "DropIndex": Action(
        _drop_index, lambda engine, instance, asked: engine.indexes.drop(instance, asked)
    ),
    "ComputeSplitPointsBySize": Action(
        _split_points,
        lambda engine, instance, asked: engine.compute_split_points(instance, asked),
        _split,
    ),
}
