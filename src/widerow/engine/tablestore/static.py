"""Checks that need no table: names, counts, lengths, markers (semantics §1.4, §3, §17, §20).

They run before a table is looked up, so that a malformed request gets the same answer whether or
not its table exists.
"""

import re
from typing import Final

from widerow.errors import InvalidRequest
from widerow.limits import (
    CELLS_PER_CHANGE_MAX,
    KEY_COLUMNS_MAX,
    KEY_VALUE_BYTES_MAX,
    NAME_BYTES_MAX,
    READ_COLUMNS_MAX,
    VALUE_BYTES_MAX,
    VERSION_MAX,
)
from widerow.model.tablestore.filter import columns_of
from widerow.model.tablestore.row import (
    CellChange,
    CellOperation,
    Modification,
    PrimaryKey,
    ReturnType,
    RowChange,
    RowShape,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyMarker
from widerow.rows.cells import body_value

__all__ = [
    "STRICT",
    "ColumnNames",
    "check_change",
    "check_point_key",
    "check_range_key",
    "check_selection",
    "check_table_name",
]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}\Z", re.ASCII)
_KNOWN_NAMES_MAX: Final = 10_000
_KNOWN_SHAPES_MAX: Final = 1_000  # of at most 1024 names, which other sets share: 8 MB


class ColumnNames:
    """The rule for names of attribute columns (semantics §1.4).

    Strict: the documented rule. Otherwise what the service was seen to take: any text of 1 to 255
    bytes that does not begin with "#". Names of tables, of primary key columns and of defined
    columns are always strict.
    """

    __slots__ = ("_known", "_latest", "_shapes", "_strict")

    def __init__(self, *, strict: bool = False) -> None:
        """The rule of the service unless `strict`."""
        self._strict = strict
        # Names and shapes of whole rows that passed before: most requests repeat them.
        self._known: set[str] = set()
        self._shapes: set[RowShape] = set()
        self._latest: RowShape | None = None

    def check(self, name: str) -> None:
        """Raise `InvalidRequest`: COLUMN_NAME where names are strict, or ATTRIBUTE_NAME.

        A name seen before costs one set lookup.
        """
        if not self.takes(name):
            rule = TablestoreRule.COLUMN_NAME if self._strict else TablestoreRule.ATTRIBUTE_NAME
            raise InvalidRequest(rule, name=name)

    def takes(self, name: str) -> bool:
        """Whether the rule allows `name`. A name seen before costs one set lookup."""
        if name in self._known:
            return True
        if _NAME.match(name) is None and (self._strict or not _taken_by_the_service(name)):
            return False
        if len(self._known) < _KNOWN_NAMES_MAX:
            self._known.add(name)
        return True

    def has_passed(self, shape: RowShape | None) -> bool:
        """Whether all names of a row of this shape are known to be allowed."""
        if shape is self._latest:
            return shape is not None
        if shape not in self._shapes:
            return False
        self._latest = shape
        return True

    def passed(self, shape: RowShape) -> None:
        """Remember that all names of a row of this shape are allowed."""
        if len(self._shapes) >= _KNOWN_SHAPES_MAX:
            self._shapes.clear()
        self._shapes.add(shape)
        self._latest = shape


def _taken_by_the_service(name: str) -> bool:
    return bool(name) and name[0] != "#" and len(name.encode()) <= NAME_BYTES_MAX


STRICT: Final = ColumnNames(strict=True)


def check_table_name(name: str) -> None:
    """Raise `InvalidRequest(TABLE_NAME)` unless `name` follows the strict rule of column names."""
    if not STRICT.takes(name):
        raise InvalidRequest(TablestoreRule.TABLE_NAME, name=name)


def _check_key_length(key: PrimaryKey) -> None:
    for name, value in key.columns:
        if isinstance(value, int):
            continue
        # a character takes at most four bytes: most values pass without being encoded
        if isinstance(value, str) and len(value) * 4 <= KEY_VALUE_BYTES_MAX:
            continue
        if isinstance(value, KeyMarker):
            continue
        size = len(value.encode()) if isinstance(value, str) else len(value)
        if size > KEY_VALUE_BYTES_MAX:
            raise InvalidRequest(
                TablestoreRule.KEY_LENGTH, column=name, limit=KEY_VALUE_BYTES_MAX, length=size
            )


def check_point_key(key: PrimaryKey, *, write: bool) -> None:
    """Check the key of a single row: no infinities, and auto-increment markers only in writes."""
    for _, value in key.columns:
        if not isinstance(value, (str, int, bytes)):
            _refuse_marker(value, write=write)
    _check_key_length(key)


def _refuse_marker(marker: KeyMarker, *, write: bool) -> None:
    if marker is not KeyMarker.AUTO_INCREMENT:
        raise InvalidRequest(TablestoreRule.KEY_MARKER, marker=marker.value)
    if not write:
        raise InvalidRequest(TablestoreRule.KEY_AUTO_INCREMENT_READ)


def check_range_key(key: PrimaryKey) -> None:
    """Check a bound of a range: infinities are allowed, the auto-increment marker is not."""
    if any(value is KeyMarker.AUTO_INCREMENT for _, value in key.columns):
        raise InvalidRequest(TablestoreRule.KEY_AUTO_INCREMENT_READ)
    _check_key_length(key)


def check_selection(
    selection: Selection,
    names: ColumnNames = STRICT,
    missing: TablestoreRule = TablestoreRule.VERSION_CONDITION_MISSING,
) -> None:
    """Check the columns that a read and its filter name, and that it says which versions.

    Raises `InvalidRequest`: READ_COLUMN_COUNT, a name's rule, and `missing` where the read names
    neither versions nor times (semantics §5.1).
    """
    if selection.everything:
        return
    if len(selection.columns) > READ_COLUMNS_MAX:
        raise InvalidRequest(
            TablestoreRule.READ_COLUMN_COUNT, limit=READ_COLUMNS_MAX, count=len(selection.columns)
        )
    named = set(selection.columns)
    if selection.filter is not None:
        named |= columns_of(selection.filter)
    for name in (*sorted(named), selection.start_column, selection.end_column):
        if name is not None:
            names.check(name)
    if selection.max_versions == 0:
        raise InvalidRequest(missing)


def check_change(change: RowChange, names: ColumnNames = STRICT) -> None:
    """Check everything about a row change that does not depend on its table."""
    check_table_name(change.table)
    sent = change.sent
    shape = None if sent is None else sent.shape
    if names.has_passed(shape):
        check_point_key(change.key, write=True)
    else:
        _check_names(change, names)
        if shape is not None:
            names.passed(shape)
    if change.is_dated or change.body_bytes > VALUE_BYTES_MAX:
        _check_values(change.cells)
    if change.modification is Modification.UPDATE and sent is None:
        _check_increments(change.cells)
    if change.condition.columns is not None:
        for name in sorted(columns_of(change.condition.columns)):
            names.check(name)
    _check_returns(change)


def _check_names(change: RowChange, names: ColumnNames) -> None:
    """Check the names of key columns and cells, their number, and the key values in between."""
    key_names = [name for name, _ in change.key.columns]
    if not 1 <= len(key_names) <= KEY_COLUMNS_MAX:
        raise InvalidRequest(
            TablestoreRule.KEY_COLUMN_COUNT, limit=KEY_COLUMNS_MAX, count=len(key_names)
        )
    for name in key_names:
        STRICT.check(name)
    check_point_key(change.key, write=True)
    count = change.cell_count
    if count > CELLS_PER_CHANGE_MAX:
        raise InvalidRequest(TablestoreRule.COLUMN_COUNT, limit=CELLS_PER_CHANGE_MAX, count=count)
    sent = change.sent
    for name in [cell.name for cell in change.cells] if sent is None else sent.shape.names:
        names.check(name)
        if name in key_names:
            raise InvalidRequest(TablestoreRule.COLUMN_SHADOWS_KEY, name=name)


def _check_values(cells: tuple[CellChange, ...]) -> None:
    for cell in cells:
        if len(cell.body) > VALUE_BYTES_MAX:
            _check_value_length(cell)
        if cell.version is not None and not 0 <= cell.version <= VERSION_MAX:
            raise InvalidRequest(
                TablestoreRule.VERSION_RANGE, column=cell.name, version=cell.version
            )


def _check_value_length(cell: CellChange) -> None:
    value = body_value(cell.body)
    size = len(value.encode()) if isinstance(value, str) else 0
    size = len(value) if isinstance(value, bytes) else size
    if size > VALUE_BYTES_MAX:
        raise InvalidRequest(
            TablestoreRule.VALUE_LENGTH, column=cell.name, limit=VALUE_BYTES_MAX, length=size
        )


def _check_increments(cells: tuple[CellChange, ...]) -> None:
    increments = [c.name for c in cells if c.operation is CellOperation.INCREMENT]
    if not increments:
        return
    names = [cell.name for cell in cells]
    for name in increments:
        if names.count(name) > 1:
            raise InvalidRequest(TablestoreRule.INCREMENT_COMBINED, column=name)
    for cell in cells:
        if cell.operation is CellOperation.INCREMENT and type(body_value(cell.body)) is not int:
            raise InvalidRequest(TablestoreRule.INCREMENT_OPERAND, column=cell.name)


def _check_returns(change: RowChange) -> None:
    returns = change.returns
    if returns.type is not ReturnType.AFTER_MODIFY:
        if returns.columns:
            raise InvalidRequest(TablestoreRule.RETURN_COLUMNS, column=returns.columns[0])
        return
    incremented = {c.name for c in change.cells if c.operation is CellOperation.INCREMENT}
    for name in returns.columns:
        if name not in incremented:
            raise InvalidRequest(TablestoreRule.RETURN_COLUMNS, column=name)
