"""CreateTable, UpdateTable and the rules of table definitions (semantics §2)."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Final

from widerow.engine.streams.log_shards import new_stream
from widerow.engine.tablestore.static import STRICT, check_table_name
from widerow.errors import Exhausted, InvalidRequest
from widerow.keys.encode import encode_key_value
from widerow.limits import (
    CAPACITY_UNITS_MAX,
    DEFINED_COLUMNS_MAX,
    INT64_MAX,
    INT64_MIN,
    KEY_COLUMNS_MAX,
    MAX_VERSION_OFFSET_DEFAULT,
    MAX_VERSION_OFFSET_MAX,
    PARTITIONS_MAX,
    SPLIT_BYTES_MAX,
    STREAM_HOURS_MAX,
    THROUGHPUT_CHANGE_SECONDS,
)
from widerow.model.streams import Stream
from widerow.model.tablestore.requests import (
    CreateTable,
    OptionsChange,
    StreamChange,
    ThroughputChange,
    UpdateTable,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import (
    DefinedColumn,
    KeyColumn,
    Table,
    TableOptions,
    Throughput,
    ThroughputState,
)
from widerow.model.values import KeyInput, KeyMarker, KeyType, KeyValue

__all__ = [
    "begun_stream",
    "check_columns_named",
    "check_create",
    "check_update",
    "new_table",
    "updated_table",
    "with_columns",
    "without_columns",
]

_TYPES: Final[dict[type, KeyType]] = {
    int: KeyType.INTEGER,
    str: KeyType.STRING,
    bytes: KeyType.BINARY,
}


# --- CreateTable -------------------------------------------------------------------------------


def check_create(request: CreateTable) -> None:
    """Check what does not depend on the catalogue in a definition (semantics §2.1, §4.7)."""
    check_table_name(request.name)
    _check_key_columns(request.name, request.key_columns)
    _check_defined_columns(request)
    _check_throughput(request.throughput)
    if request.options.time_to_live is None:
        raise InvalidRequest(TablestoreRule.TIME_TO_LIVE_MISSING)
    if request.options.max_versions is None:
        raise InvalidRequest(TablestoreRule.MAX_VERSIONS_MISSING)
    _check_options(request.options)
    _check_partitions(request)
    if request.stream is not None:
        _check_stream(request.stream)


def _check_key_columns(table: str, columns: tuple[KeyColumn, ...]) -> None:
    if not 1 <= len(columns) <= KEY_COLUMNS_MAX:
        raise InvalidRequest(
            TablestoreRule.KEY_COLUMN_COUNT, limit=KEY_COLUMNS_MAX, count=len(columns)
        )
    seen: set[str] = set()
    for column in columns:
        STRICT.check(column.name)
        if column.name in seen:
            raise InvalidRequest(TablestoreRule.KEY_COLUMN_DUPLICATE, name=column.name)
        seen.add(column.name)
    chosen = [column for column in columns if column.auto_increment]
    if len(chosen) > 1:
        raise InvalidRequest(TablestoreRule.AUTO_INCREMENT_COUNT, count=len(chosen))
    if chosen and chosen[0].type is not KeyType.INTEGER:
        raise InvalidRequest(TablestoreRule.AUTO_INCREMENT_TYPE, column=chosen[0].name)
    if columns[0].auto_increment:
        raise InvalidRequest(TablestoreRule.AUTO_INCREMENT_FIRST, table=table)


def _check_defined_columns(request: CreateTable) -> None:
    _check_columns(request.defined_columns, {column.name for column in request.key_columns})


def _check_columns(columns: tuple[DefinedColumn, ...], seen: set[str]) -> None:
    """Check the number and the names of columns; no name may be in `seen` or repeat."""
    if len(columns) > DEFINED_COLUMNS_MAX:
        raise InvalidRequest(
            TablestoreRule.DEFINED_COLUMN_COUNT, limit=DEFINED_COLUMNS_MAX, count=len(columns)
        )
    for column in columns:
        STRICT.check(column.name)
        if column.name in seen:
            raise InvalidRequest(TablestoreRule.DEFINED_COLUMN_DUPLICATE, name=column.name)
        seen.add(column.name)


def _check_throughput(asked: ThroughputChange) -> None:
    if asked.read is None or asked.write is None:
        raise InvalidRequest(TablestoreRule.THROUGHPUT_MISSING)
    if asked.read < 0:
        raise InvalidRequest(TablestoreRule.THROUGHPUT_READ_NEGATIVE, value=asked.read)
    if asked.write < 0:
        raise InvalidRequest(TablestoreRule.THROUGHPUT_WRITE_NEGATIVE, value=asked.write)
    _check_throughput_size(asked)


def _check_throughput_size(asked: ThroughputChange) -> None:
    largest = max(asked.read or 0, asked.write or 0)
    if largest > CAPACITY_UNITS_MAX:
        raise InvalidRequest(
            TablestoreRule.THROUGHPUT_TOO_LARGE, value=largest, limit=CAPACITY_UNITS_MAX
        )


def _check_options(options: OptionsChange) -> None:
    ttl, versions, offset = options.time_to_live, options.max_versions, options.max_version_offset
    if ttl is not None and (ttl == 0 or ttl < -1):
        raise InvalidRequest(TablestoreRule.TIME_TO_LIVE_VALUE, value=ttl)
    if versions is not None and versions <= 0:
        raise InvalidRequest(TablestoreRule.MAX_VERSIONS_VALUE, value=versions)
    if offset is not None and not 0 <= offset <= MAX_VERSION_OFFSET_MAX:
        raise InvalidRequest(TablestoreRule.MAX_VERSION_OFFSET, value=offset)


def _check_partitions(request: CreateTable) -> None:
    partitions = request.partitions
    if not partitions:
        return
    if len(partitions) > PARTITIONS_MAX:
        raise InvalidRequest(
            TablestoreRule.SPLIT_COUNT, limit=PARTITIONS_MAX, count=len(partitions)
        )
    if partitions[0][0] is not KeyMarker.INF_MIN or partitions[-1][1] is not KeyMarker.INF_MAX:
        raise InvalidRequest(TablestoreRule.SPLIT_CONTIGUOUS)
    previous: KeyValue | None = None
    for (_, end), (begin, _) in pairwise(partitions):
        bound = _check_split(begin, request.key_columns[0].type)
        if end != begin or (previous is not None and _encoded(previous) >= _encoded(bound)):
            raise InvalidRequest(TablestoreRule.SPLIT_CONTIGUOUS)
        previous = bound


_encoded = encode_key_value


def _check_split(bound: KeyInput, kind: KeyType) -> KeyValue:
    if isinstance(bound, KeyMarker) or bound in (INT64_MIN, INT64_MAX):
        raise InvalidRequest(TablestoreRule.SPLIT_INFINITE)
    if _TYPES.get(type(bound)) is not kind:
        raise InvalidRequest(TablestoreRule.SPLIT_TYPE)
    if isinstance(bound, int):
        return bound
    size = len(bound.encode()) if isinstance(bound, str) else len(bound)
    if size == 0:
        raise InvalidRequest(
            TablestoreRule.SPLIT_EMPTY_STRING
            if kind is KeyType.STRING
            else TablestoreRule.SPLIT_EMPTY_BINARY
        )
    if size > SPLIT_BYTES_MAX:
        raise InvalidRequest(TablestoreRule.SPLIT_LENGTH, limit=SPLIT_BYTES_MAX, length=size)
    return bound


def _check_stream(stream: StreamChange) -> None:
    hours = stream.expiration_hours
    if stream.enable and hours is not None and not 1 <= hours <= STREAM_HOURS_MAX:
        raise InvalidRequest(TablestoreRule.STREAM_EXPIRATION, value=hours, limit=STREAM_HOURS_MAX)
    for name in stream.columns:
        STRICT.check(name)


def new_table(instance: str, request: CreateTable, number: Callable[[], int], now_us: int) -> Table:
    """The table of a checked definition. `number` gives numbers that were never used."""
    asked, options = request.throughput, request.options
    assert asked.read is not None
    assert asked.write is not None
    assert options.time_to_live is not None
    assert options.max_versions is not None
    allow = options.allow_update
    stream = request.stream
    splits = tuple(
        encode_key_value(begin)
        for begin, _ in request.partitions[1:]
        if not isinstance(begin, KeyMarker)
    )
    offset = options.max_version_offset
    return Table(
        instance=instance,
        name=request.name,
        id=number(),
        key_columns=request.key_columns,
        defined_columns=request.defined_columns,
        options=TableOptions(
            options.time_to_live,
            options.max_versions,
            MAX_VERSION_OFFSET_DEFAULT if offset is None else offset,
            allow_update=True if allow is None else allow,
            update_full_row=bool(options.update_full_row),
        ),
        throughput=ThroughputState(Throughput(asked.read, asked.write), now_us // 1_000_000),
        created_us=now_us,
        splits=splits,
        stream=(
            begun_stream(request.name, stream, splits, number(), now_us)
            if stream is not None and stream.enable
            else None
        ),
        encryption=request.encryption,
        asked=splits,
        local_transactions=request.local_transactions is not False,
    )


def _stream(
    table: Table, asked: StreamChange | None, now_us: int, number: Callable[[], int]
) -> Stream | None:
    """The stream after a change: the list of columns replaces the former one (change §C1.1)."""
    current = table.stream
    if asked is None:
        return current
    if not asked.enable:
        return None
    if current is None:
        return begun_stream(table.name, asked, table.splits, number(), now_us)
    kept = current.expiration_hours if asked.expiration_hours is None else asked.expiration_hours
    columns = tuple(dict.fromkeys(asked.columns))
    return replace(current, expiration_hours=kept, columns=columns)


def begun_stream(
    table: str, asked: StreamChange, splits: tuple[bytes, ...], number: int, now_us: int
) -> Stream:
    """A stream of a table of this name that begins now, without records (change §C1.1)."""
    hours = STREAM_HOURS_MAX if asked.expiration_hours is None else asked.expiration_hours
    stream = new_stream(table, hours, splits, number, now_us)
    return replace(stream, columns=tuple(dict.fromkeys(asked.columns)))


# --- UpdateTable -------------------------------------------------------------------------------


def check_update(request: UpdateTable) -> None:
    """Check everything about a change that does not depend on the table (semantics §2.4)."""
    check_table_name(request.name)
    options, throughput = request.options, request.throughput
    if options is None and throughput is None and request.stream is None:
        raise InvalidRequest(TablestoreRule.TABLE_UPDATE_EMPTY)
    if options is not None:
        if options.update_full_row is not None:
            raise InvalidRequest(TablestoreRule.UPDATE_FULL_ROW_FIXED)
        if options == OptionsChange() and throughput is None and request.stream is None:
            raise InvalidRequest(TablestoreRule.TABLE_OPTIONS_EMPTY)
        _check_options(options)
    if throughput is not None:
        _check_throughput_update(throughput)
    if request.stream is not None:
        _check_stream(request.stream)


def _check_throughput_update(asked: ThroughputChange) -> None:
    read = -1 if asked.read is None else asked.read
    write = -1 if asked.write is None else asked.write
    if read < 0 and write < 0:
        raise InvalidRequest(TablestoreRule.THROUGHPUT_UPDATE, read=read, write=write)
    _check_throughput_size(asked)


def updated_table(
    table: Table, request: UpdateTable, now_us: int, number: Callable[[], int]
) -> Table:
    """The table after a checked change. Raises `Exhausted` when throughput changes too often.

    `number` gives a number that was never used, for a new stream.
    """
    options = table.options
    if request.options is not None:
        changes = {
            name: value
            for name in ("time_to_live", "max_versions", "max_version_offset", "allow_update")
            if (value := getattr(request.options, name)) is not None
        }
        options = replace(options, **changes)
    throughput = table.throughput
    if request.throughput is not None:
        throughput = _throughput(throughput, request.throughput, now_us // 1_000_000)
    stream = _stream(table, request.stream, now_us, number)
    if stream is None and any(tunnel.kind.has_stream for tunnel in table.all_tunnels):
        raise InvalidRequest(TablestoreRule.STREAM_HAS_TUNNELS, table=table.name)
    untrimmed = table.untrimmed or _loses_sooner(table.options, options)
    return replace(
        table, options=options, throughput=throughput, stream=stream, untrimmed=untrimmed
    )


def _loses_sooner(before: TableOptions, after: TableOptions) -> bool:
    """Whether cells may expire sooner than the last pass of the sweep has noted."""
    if after.max_versions < before.max_versions:
        return True
    expires_now = before.time_to_live < 0 <= after.time_to_live
    moved = after.max_version_offset < before.max_version_offset and after.time_to_live >= 0
    return expires_now or moved


def check_columns_named(table: str, names: tuple[str, ...]) -> None:
    """Check what does not depend on the table in a change of its declared columns."""
    check_table_name(table)
    if not names:
        raise InvalidRequest(TablestoreRule.DEFINED_COLUMN_MISSING)
    for name in names:
        STRICT.check(name)


def with_columns(table: Table, columns: tuple[DefinedColumn, ...]) -> Table:
    """AddDefinedColumn: the table with more declarations (semantics §2.6)."""
    defined = table.defined_columns + columns
    _check_columns(defined, {column.name for column in table.key_columns})
    return replace(table, defined_columns=defined)


def without_columns(table: Table, names: tuple[str, ...]) -> Table:
    """DeleteDefinedColumn: the table with fewer declarations; rows are untouched."""
    known = {column.name for column in table.defined_columns}
    for name in names:
        if name not in known:
            raise InvalidRequest(TablestoreRule.DEFINED_COLUMN_UNKNOWN, name=name)
    kept = tuple(column for column in table.defined_columns if column.name not in names)
    return replace(table, defined_columns=kept)


def _throughput(state: ThroughputState, asked: ThroughputChange, now: int) -> ThroughputState:
    old = state.reserved
    read = old.read if asked.read is None or asked.read < 0 else asked.read
    write = old.write if asked.write is None or asked.write < 0 else asked.write
    new = Throughput(read, write)
    if new == old:
        return state
    changed = max(state.last_increase, state.last_decrease or 0)
    if changed <= now < changed + THROUGHPUT_CHANGE_SECONDS:
        raise Exhausted(
            TablestoreRule.THROUGHPUT_CHANGE_RATE, seconds=changed + THROUGHPUT_CHANGE_SECONDS - now
        )
    return ThroughputState(
        new,
        now if read > old.read or write > old.write else state.last_increase,
        now if read < old.read or write < old.write else state.last_decrease,
    )
