"""What the table actions share: schemas, options, throughput, streams (semantics §2)."""

from collections.abc import Iterable
from typing import Final

from widerow.errors import InvalidRequest, Unsupported
from widerow.keys.decode import decode_key_value
from widerow.model.tablestore.requests import (
    IndexDefinition,
    OptionsChange,
    StreamChange,
    ThroughputChange,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import (
    DefinedColumn,
    Encryption,
    KeyColumn,
    SecondaryIndex,
    Table,
)
from widerow.model.values import ColumnType, KeyType
from widerow.rows.cells import encode_key_section
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.operations.bodies import text, texts
from widerow.wire.tablestore.plainbuffer import encode_primary_key

__all__ = [
    "defined_column",
    "describe_bounds",
    "describe_encryption",
    "describe_index",
    "describe_meta",
    "describe_options",
    "describe_splits",
    "describe_stream",
    "describe_throughput",
    "encryption",
    "index_definition",
    "key_column",
    "options_change",
    "stream_change",
    "throughput_change",
]

_KEY_TYPES: Final = {1: KeyType.INTEGER, 2: KeyType.STRING, 3: KeyType.BINARY}
_KEY_TYPE_NUMBERS: Final = {kind: number for number, kind in _KEY_TYPES.items()}
_KEY_TYPE_NAMES: Final = {5: "BOOLEAN"}  # one client can ask for it
_AUTO_INCREMENT: Final = 1
_COLUMN_TYPES: Final = {
    1: ColumnType.INTEGER,
    2: ColumnType.DOUBLE,
    3: ColumnType.BOOLEAN,
    4: ColumnType.STRING,
    7: ColumnType.BINARY,
}
_PHASE_FULL: Final = 1  # being built
_PHASE_INCREMENTAL: Final = 2
_COLUMN_TYPE_NUMBERS: Final = {kind: number for number, kind in _COLUMN_TYPES.items()}

# --- from requests ---------------------------------------------------------------------------


def key_column(sent: messages.PrimaryKeySchema) -> KeyColumn:
    """A primary key column. Raises `InvalidRequest(KEY_COLUMN_TYPE)`."""
    kind = _KEY_TYPES.get(sent.type)
    if kind is None:
        name = _KEY_TYPE_NAMES.get(sent.type, str(sent.type))
        raise InvalidRequest(TablestoreRule.KEY_COLUMN_TYPE, type=name)
    has_option = sent.HasField("option")
    if has_option and sent.option != _AUTO_INCREMENT:
        feature = f"primary key option {sent.option}"
        raise Unsupported(TablestoreRule.FEATURE_UNSUPPORTED, feature=feature)
    return KeyColumn(text(sent.name), kind, auto_increment=has_option)


def defined_column(sent: messages.DefinedColumnSchema) -> DefinedColumn:
    """A defined column. Raises `InvalidRequest(DEFINED_COLUMN_TYPE)`."""
    kind = _COLUMN_TYPES.get(sent.type)
    if kind is None:
        raise InvalidRequest(TablestoreRule.DEFINED_COLUMN_TYPE, type=sent.type)
    return DefinedColumn(text(sent.name), kind)


def options_change(sent: messages.TableOptions) -> OptionsChange:
    """The options as sent. Hints for the service's own storage format say nothing to ours."""
    has = sent.HasField
    return OptionsChange(
        time_to_live=sent.time_to_live if has("time_to_live") else None,
        max_versions=sent.max_versions if has("max_versions") else None,
        max_version_offset=(
            sent.deviation_cell_version_in_sec if has("deviation_cell_version_in_sec") else None
        ),
        allow_update=sent.allow_update if has("allow_update") else None,
        update_full_row=sent.update_full_row if has("update_full_row") else None,
    )


def throughput_change(sent: messages.ReservedThroughput) -> ThroughputChange:
    """The reserved throughput as sent."""
    units = sent.capacity_unit
    return ThroughputChange(
        read=units.read if units.HasField("read") else None,
        write=units.write if units.HasField("write") else None,
    )


def stream_change(sent: messages.StreamSpecification) -> StreamChange:
    """The stream specification as sent."""
    hours = sent.expiration_time if sent.HasField("expiration_time") else None
    return StreamChange(sent.enable_stream, hours, texts(sent.columns_to_get))


def encryption(sent: messages.SSESpecification) -> Encryption:
    """The server-side encryption as sent."""
    has = sent.HasField
    return Encryption(
        enabled=sent.enable,
        key_type=sent.key_type if has("key_type") else None,
        key_id=sent.key_id if has("key_id") else None,
        role_arn=sent.role_arn if has("role_arn") else None,
    )


def index_definition(sent: messages.IndexMeta) -> IndexDefinition:
    """A secondary index as sent (change §A1)."""
    return IndexDefinition(
        text(sent.name),
        texts(sent.primary_key),
        texts(sent.defined_column),
        sent.index_type,
        sent.index_update_mode,
    )


# --- into responses --------------------------------------------------------------------------


def describe_meta(table: Table) -> messages.TableMeta:
    """Name, id and columns, in the order of creation."""
    meta = messages.TableMeta(table_name=table.name, table_id=str(table.id))
    for column in table.key_columns:
        added = meta.primary_key.add(name=column.name, type=_KEY_TYPE_NUMBERS[column.type])
        if column.auto_increment:
            added.option = _AUTO_INCREMENT
    for defined in table.defined_columns:
        meta.defined_column.add(name=defined.name, type=_COLUMN_TYPE_NUMBERS[defined.type])
    return meta


def describe_index(index: SecondaryIndex) -> messages.IndexMeta:
    """Names as the client gave them; type, mode and phase always (change §0, change §A3)."""
    return messages.IndexMeta(
        name=index.name,
        primary_key=index.key_columns,
        defined_column=index.defined_columns,
        index_type=int(index.is_local),
        index_update_mode=int(index.is_local),
        index_sync_phase=_PHASE_INCREMENTAL if index.ready else _PHASE_FULL,
    )


def describe_options(table: Table) -> messages.TableOptions:
    """Every option, for one client reads them unseen (protos §0 rule 6)."""
    options = table.options
    return messages.TableOptions(
        time_to_live=options.time_to_live,
        max_versions=options.max_versions,
        deviation_cell_version_in_sec=options.max_version_offset,
        allow_update=options.allow_update,
        update_full_row=options.update_full_row,
    )


def describe_throughput(table: Table) -> messages.ReservedThroughputDetails:
    """Both capacity units always; the last decrease only once there was one."""
    state = table.throughput
    return messages.ReservedThroughputDetails(
        capacity_unit=messages.CapacityUnit(read=state.reserved.read, write=state.reserved.write),
        last_increase_time=state.last_increase,
        last_decrease_time=state.last_decrease,
    )


def describe_stream(table: Table) -> messages.StreamDetails:
    """Always there, also when the stream is off (protos §0 rule 6)."""
    stream = table.stream
    if stream is None:
        return messages.StreamDetails(enable_stream=False)
    return messages.StreamDetails(
        enable_stream=True,
        stream_id=stream.id,
        expiration_time=stream.expiration_hours,
        last_enable_time=stream.enabled_at_us,
        columns_to_get=stream.columns,
    )


def describe_encryption(sent: Encryption) -> messages.SSEDetails:
    """What was asked for when the table was created."""
    return messages.SSEDetails(
        enable=sent.enabled,
        key_type=sent.key_type,
        key_id=sent.key_id,
        role_arn=sent.role_arn,
    )


def describe_splits(table: Table) -> list[bytes]:
    """The bounds between partitions, as primary keys of the partition key column alone."""
    return describe_bounds(table, table.splits)


def describe_bounds(table: Table, bounds: Iterable[bytes]) -> list[bytes]:
    """Encoded partition keys as primary keys: the infinite columns behind them are left out."""
    first = table.key_columns[0]
    values = [decode_key_value(bound, 0, first.type)[0] for bound in bounds]
    return [encode_primary_key(*encode_key_section([(first.name, value)])) for value in values]
