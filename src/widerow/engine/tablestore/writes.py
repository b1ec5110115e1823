"""PutRow, UpdateRow, DeleteRow: one row change inside a transaction (semantics §4.1-4.6).

The body of each follows one shape: read the row, judge the condition against it, work out the new
cells, and only then write. Versions that the server chooses are its time in milliseconds, but never
smaller than one it chose for the row before.
"""

from collections.abc import Callable, Sequence
from typing import Final, final

from widerow.engine.capacity import units
from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.select import live_cells
from widerow.engine.tablestore.stored import (
    KeySection,
    cells_named,
    put_row,
    put_sealed,
    remove_row,
    row_cells,
    segments_holding,
    update_segments,
    wide_root,
)
from widerow.engine.tablestore.wide import is_present
from widerow.errors import Conflict, InvalidRequest
from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.tablestore.answers import RowWritten
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.filter import columns_of, passes
from widerow.model.tablestore.row import (
    CellChange,
    CellOperation,
    Modification,
    ReturnType,
    RowChange,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyValue, Value
from widerow.rows.cells import (
    Cell,
    body_value,
    cell_body,
    cell_value,
    encode_key_section,
    key_section_size,
    seal,
)
from widerow.rows.record import (
    Header,
    RecordKind,
    Summary,
    header_of,
    join_row,
    record_bytes,
    summarize,
)
from widerow.storage.interface import Transaction

__all__ = ["RowWrite", "key_section_for", "write_row"]


_IGNORE: Final = RowExpectation.IGNORE
_EXPECT_EXIST: Final = RowExpectation.EXPECT_EXIST
_EXPECT_NOT_EXIST: Final = RowExpectation.EXPECT_NOT_EXIST
_UPDATE: Final = Modification.UPDATE
_NOTHING: Final = ReturnType.NONE


@final
class RowWrite:
    """A checked row change, with its key, for one definition of the table at one moment."""

    __slots__ = ("change", "key", "now_ms", "table", "values")

    def __init__(
        self,
        table: Table,
        change: RowChange,
        key: bytes,
        values: tuple[KeyValue, ...],
        now_ms: int,
    ) -> None:
        """`key`: where the row of these `values` is stored; `now_ms`: milliseconds since 1970."""
        self.table = table
        self.change = change
        self.key = key
        self.values = values
        self.now_ms = now_ms


@final
class _Current:
    """The row before the change. `header` and `record` are None where nothing is stored.

    `present`: the row exists for clients; a stored row whose cells all expired does not. `put`: the
    record that replaced it, where it is known.
    """

    __slots__ = ("header", "present", "put", "record")

    def __init__(self, record: bytes | None, header: Header | None, *, present: bool) -> None:
        self.record = record
        self.header = header
        self.present = present
        self.put: bytes | None = None


def write_row(txn: Transaction, write: RowWrite) -> RowWritten:
    """Make one row change. Raises the refusal of its condition or of its cells."""
    updates = write.change.modification is _UPDATE
    if updates and not write.table.options.allow_update:
        raise InvalidRequest(TablestoreRule.UPDATE_NOT_ALLOWED, table=write.table.name)
    section = key_section_for(write)
    current = _current(txn, write)
    _check_condition(txn, write, current)
    incremented = _MODIFY[write.change.modification - 1](txn, write, current, section)
    return _answer(txn, write, current, section, incremented)


def key_section_for(write: RowWrite) -> KeySection:
    """The key section of the row that a write changes, as it is stored."""
    key = write.change.key
    encoded, crc = key.encoded, key.crc
    if not encoded or not _unmarked(write):
        names = [name for name, _ in key.columns]
        encoded, crc = encode_key_section(zip(names, write.values, strict=True))
    return KeySection(encoded, crc, key_section_size(encoded, write.values))


def _unmarked(write: RowWrite) -> bool:
    index = write.table.auto_increment
    return index is None or write.change.key.columns[index][1] == write.values[index]


def _current(txn: Transaction, write: RowWrite) -> _Current:
    record = txn.get(write.key)
    if record is None:
        return _Current(None, None, present=False)
    header = header_of(record)
    options = write.table.options
    if options.time_to_live < 0:
        return _Current(record, header, present=True)
    alive = live_from(options, write.now_ms)
    present = _is_present(txn, write.key, record, header, alive)
    return _Current(record, header, present=present)


def _is_present(
    txn: Transaction, key: bytes, record: bytes, header: Header, live_from: int
) -> bool:
    if header.cell_count == 0 or header.oldest >= live_from:
        return True
    if header.kind == RecordKind.WIDE:
        return is_present(txn, key, header, live_from)
    return any(cell.version >= live_from for cell in row_cells(record, header))


# --- conditions --------------------------------------------------------------------------------


def _check_condition(txn: Transaction, write: RowWrite, current: _Current) -> None:
    condition = write.change.condition
    if condition.row is _EXPECT_EXIST and not current.present:
        raise Conflict(TablestoreRule.ROW_ABSENT)
    if condition.row is _EXPECT_NOT_EXIST and current.present:
        raise Conflict(TablestoreRule.ROW_EXISTS)
    if condition.columns is not None and not _columns_pass(txn, write, current, condition):
        raise Conflict(TablestoreRule.CONDITION_FAILED)


def _columns_pass(
    txn: Transaction, write: RowWrite, current: _Current, condition: Condition
) -> bool:
    tree = condition.columns
    assert tree is not None
    columns: dict[str, list[Cell]] = {}
    if current.present:
        for cell in _live_columns(txn, write, current, columns_of(tree)):
            columns.setdefault(cell.name, []).append(cell)
    names = [name for name, _ in write.change.key.columns]
    keys = dict(zip(names, write.values, strict=True)) if current.present else {}

    def lookup(name: str) -> Sequence[Value]:
        if name in keys:
            return [keys[name]]
        return [cell_value(cell) for cell in columns.get(name, ())]

    return passes(tree, lookup)


def _live_columns(
    txn: Transaction, write: RowWrite, current: _Current, names: frozenset[str]
) -> list[Cell]:
    if current.record is None or current.header is None:
        return []
    return _live(write, cells_named(txn, write.key, current.record, current.header, names))


# --- the three modifications -------------------------------------------------------------------


def _server_version(write: RowWrite, header: Header | None) -> int:
    return write.now_ms if header is None else max(write.now_ms, header.latest_server)


def _latest_server(write: RowWrite, header: Header | None, version: int) -> int:
    change = write.change
    chosen = change.body_bytes > 0
    if chosen and change.is_dated:
        chosen = any(c.version is None and c.body for c in change.cells)
    former = INT64_MIN if header is None else header.latest_server
    return max(former, version) if chosen else former


def _put(txn: Transaction, write: RowWrite, current: _Current, section: KeySection) -> list[Cell]:
    """Put a row.

    Under a number that the client has chosen for an auto-increment column none is created, unless
    the change keeps numbers (semantics §4.7). Raises `Conflict(CONDITION_FAILED)` then.
    """
    if (
        write.table.auto_increment is not None
        and not current.present
        and not write.change.keeps_number
        and _unmarked(write)
    ):
        raise Conflict(TablestoreRule.CONDITION_FAILED)
    header = current.header
    version = _server_version(write, header)
    latest = _latest_server(write, header, version)
    if header is not None and header.kind == RecordKind.WIDE:
        remove_row(txn, write.key, header)
    # Most rows come in stored order and without versions, and need no sorting.
    current.put = put_sealed(txn, write.key, section, write.change.sent, version, latest)
    if current.put is None:
        put_row(txn, write.key, section, _put_cells(write, version), latest)
    return []


def _put_cells(write: RowWrite, version: int) -> list[Cell]:
    """A put's cells in stored order; of equal versions the last, at most max_versions a column."""
    changes = write.change.cells
    cells: dict[tuple[str, int], Cell] = {}
    for change in changes:
        cell = _sealed(change, version)
        cells[cell.name, -cell.version] = cell
    ordered = [cells[position] for position in sorted(cells)]
    return live_cells(ordered, write.table.options.max_versions, INT64_MIN)


def _sealed(change: CellChange, server_version: int) -> Cell:
    version = server_version if change.version is None else change.version
    return Cell(change.name, version, seal(change.body, change.crc, version))


def _delete(
    txn: Transaction, write: RowWrite, current: _Current, section: KeySection
) -> list[Cell]:
    del section  # a delete stores no row
    if current.header is not None:
        remove_row(txn, write.key, current.header)
    return []


def _update(
    txn: Transaction, write: RowWrite, current: _Current, section: KeySection
) -> list[Cell]:
    header = current.header
    version = _server_version(write, header)
    latest = _latest_server(write, header, version)
    if current.record is None or header is None or not current.present:
        return _update_absent(txn, write, current, section, version)
    names = frozenset(change.name for change in write.change.cells)
    if header.kind == RecordKind.WIDE:
        holding = list(segments_holding(txn, write.key, sorted(names)))
        found = [cell for _, segment in holding for cell in segment.cells if cell.name in names]
        columns, incremented = _apply(write, _live(write, found), names, version)
        changed = update_segments(txn, write.key, holding, columns)
        _put_wide_root(txn, write, header, section, changed, latest)
        return incremented
    old = _live(write, row_cells(current.record, header))
    columns, incremented = _apply(write, [c for c in old if c.name in names], names, version)
    cells = [cell for cell in old if cell.name not in names]
    for column in columns.values():
        cells += column
    cells.sort(key=_stored_order)
    put_row(txn, write.key, section, cells, latest)
    return incremented


def _update_absent(
    txn: Transaction, write: RowWrite, current: _Current, section: KeySection, version: int
) -> list[Cell]:
    """Update a row that does not exist: puts and increments create it, deletes alone do nothing.

    Under a concrete value of an auto-increment column there is no row to update, and none is
    created (semantics §4.7). Raises `Conflict(CONDITION_FAILED)` then.
    """
    if write.table.auto_increment is not None and _unmarked(write):
        raise Conflict(TablestoreRule.CONDITION_FAILED)
    changes = write.change.cells
    if not any(change.body for change in changes):
        return []
    if current.header is not None:
        remove_row(txn, write.key, current.header)
    names = frozenset(change.name for change in changes)
    columns, incremented = _apply(write, [], names, version)
    cells = sorted((c for column in columns.values() for c in column), key=_stored_order)
    put_row(txn, write.key, section, cells, _latest_server(write, current.header, version))
    return incremented


def _stored_order(cell: Cell) -> tuple[str, int]:
    return cell.name, -cell.version


def _put_wide_root(
    txn: Transaction,
    write: RowWrite,
    header: Header,
    section: KeySection,
    changed: tuple[list[Cell], list[Cell]],
    latest: int,
) -> None:
    gone, come = map(summarize, changed)
    summary = Summary(
        header.cell_count - gone.cell_count + come.cell_count,
        max(header.versions_max, come.versions_max),
        header.data_size - gone.data_size + come.data_size,
        min(header.oldest, come.oldest),
    )
    if summary.cell_count == 0:
        put_row(txn, write.key, section, [], latest)
        return
    txn.put(write.key, wide_root(section, summary, latest))


def _apply(
    write: RowWrite, old: Sequence[Cell], names: frozenset[str], version: int
) -> tuple[dict[str, list[Cell]], list[Cell]]:
    """The columns that an update names after it, and the cells that its increments made.

    Operations apply in the order of the request; then each column loses what is beyond
    max_versions. `old`: the live cells of those columns. A cell may expire in the second it is
    written: it is stored, and hides a row that has nothing else.
    """
    columns: dict[str, dict[int, Cell]] = {name: {} for name in names}
    for cell in old:
        columns[cell.name][cell.version] = cell
    incremented: list[Cell] = []
    for change in write.change.cells:
        made = _OPERATE[change.operation](columns[change.name], change, version)
        if change.operation is CellOperation.INCREMENT and made is not None:
            incremented.append(made)
    return {name: _trim(write, column) for name, column in columns.items()}, incremented


def _trim(write: RowWrite, column: dict[int, Cell]) -> list[Cell]:
    newest_first = [column[version] for version in sorted(column, reverse=True)]
    return newest_first[: write.table.options.max_versions]


def _live(write: RowWrite, cells: Sequence[Cell]) -> list[Cell]:
    options = write.table.options
    return live_cells(cells, options.max_versions, live_from(options, write.now_ms))


def _put_cell(column: dict[int, Cell], change: CellChange, version: int) -> Cell | None:
    cell = _sealed(change, version)
    column[cell.version] = cell
    return cell


def _delete_all(column: dict[int, Cell], change: CellChange, version: int) -> Cell | None:
    del change, version  # all versions are removed
    column.clear()
    return None


def _delete_one(column: dict[int, Cell], change: CellChange, version: int) -> Cell | None:
    del version  # the request names the version
    if change.version is not None:
        column.pop(change.version, None)
    return None


def _increment(column: dict[int, Cell], change: CellChange, version: int) -> Cell | None:
    """Add to the newest live value; the sum is the newest version afterwards."""
    newest = max(column, default=None)
    former: Value = 0 if newest is None else cell_value(column[newest])
    operand = body_value(change.body)
    if type(former) is not int or type(operand) is not int:
        raise InvalidRequest(TablestoreRule.INCREMENT_TYPE, column=change.name)
    total = former + operand
    if not INT64_MIN <= total <= INT64_MAX:
        raise InvalidRequest(TablestoreRule.INCREMENT_OVERFLOW, column=change.name)
    version = version if newest is None else max(version, newest)
    cell = Cell(change.name, version, seal(*cell_body(change.name, total), version))
    column[version] = cell
    return cell


_Operate = Callable[[dict[int, Cell], CellChange, int], Cell | None]
_OPERATE: dict[CellOperation, _Operate] = {
    CellOperation.PUT: _put_cell,
    CellOperation.DELETE_ALL_VERSIONS: _delete_all,
    CellOperation.DELETE_ONE_VERSION: _delete_one,
    CellOperation.INCREMENT: _increment,
}

_Modify = Callable[[Transaction, RowWrite, _Current, KeySection], list[Cell]]
_MODIFY: Final[tuple[_Modify, ...]] = (_put, _update, _delete)  # by number, from 1 on


# --- the answer --------------------------------------------------------------------------------


def _answer(
    txn: Transaction,
    write: RowWrite,
    current: _Current,
    section: KeySection,
    incremented: list[Cell],
) -> RowWritten:
    before = current.record
    record = txn.get(write.key) if current.put is None else current.put
    rows = (record is not None) - (before is not None)
    size = 0 if record is None else record_bytes(write.key, record)
    if before is not None:
        size -= record_bytes(write.key, before)
    change = write.change
    conditional = change.condition.row is not _IGNORE or change.condition.columns
    reads = units(section.size) if conditional or incremented else 0
    writes = units(section.size + change.data_size)
    if change.returns.type is _NOTHING:
        return RowWritten(reads, writes, b"", rows, size)
    wanted = frozenset(change.returns.columns)
    cells = sorted((c for c in incremented if c.name in wanted), key=_stored_order)
    row = join_row(section.encoded, section.crc, [cell.wire for cell in cells])
    return RowWritten(reads, writes, row, rows, size)
