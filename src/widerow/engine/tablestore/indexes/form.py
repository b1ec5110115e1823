"""The entries of a row in an index, which follow from the stored row alone.

A row has an entry where each listed defined column holds a value of the defined type that may be in
a key (change §A4). The entry is a row record under the composed key: the listed columns, then the
key columns of the table that are not among them. It holds the covered cells with their versions.
`latest_server` in its header is the version that decides whether the entry has expired: the oldest
of the listed defined columns; where only key columns are listed, the newest of the row.
"""

from collections.abc import Iterable
from typing import Final, final

from widerow.engine.tablestore.observed import ObservedRow
from widerow.engine.tablestore.stored import KeySection, whole_or_cut
from widerow.errors import InvalidRequest, Rule
from widerow.keys.decode import decode_key
from widerow.keys.encode import encode_key
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_LOCAL_INDEXES, row_prefix
from widerow.limits import INT64_MAX, KEY_VALUE_BYTES_MAX, WHOLE_ROW_BYTES_MAX
from widerow.model.tablestore.schema import KeyColumn, SecondaryIndex, Table
from widerow.model.values import ColumnType, KeyType, KeyValue
from widerow.rows.cells import Cell, cell_value, encode_key_section, key_section_size
from widerow.rows.record import summarize

__all__ = ["EntryForm", "IndexedRow", "TableForms", "composed_key"]

_KEY_TYPES: Final = {
    ColumnType.INTEGER: KeyType.INTEGER,
    ColumnType.STRING: KeyType.STRING,
    ColumnType.BINARY: KeyType.BINARY,
}
_CLASSES: Final[dict[KeyType, type]] = {
    KeyType.INTEGER: int,
    KeyType.STRING: str,
    KeyType.BINARY: bytes,
}


def composed_key(table: Table, listed: tuple[str, ...]) -> tuple[KeyColumn, ...]:
    """The key columns of an index on the `listed` columns, none auto-increment (change §A3).

    Every name is a key column or a defined column of a type that keys have.
    """
    types = {column.name: column.type for column in table.key_columns}
    for defined in table.defined_columns:
        if defined.type in _KEY_TYPES:
            types[defined.name] = _KEY_TYPES[defined.type]
    own = [column.name for column in table.key_columns if column.name not in listed]
    return tuple(KeyColumn(name, types[name]) for name in (*listed, *own))


@final
class IndexedRow:
    """The part of a row that its entries follow from.

    `shard`: its prefix among the rows. `newest`: the newest cell of each column that an index
    names. `latest`: the newest version of all cells, INT64_MAX without cells; it is set only where
    it is asked for.
    """

    __slots__ = ("latest", "newest", "shard", "values")

    def __init__(
        self, shard: bytes, values: tuple[KeyValue, ...], newest: dict[str, Cell], latest: int
    ) -> None:
        self.shard = shard
        self.values = values
        self.newest = newest
        self.latest = latest


@final
class EntryForm:
    """One index of one table definition, ready to make entries.

    A row has no entry where a value of its composed key is absent, of another type or longer than
    values of keys are, or where a key of the entry is longer than the store holds.
    """

    __slots__ = (
        "_covered",
        "_key_bytes_max",
        "_names",
        "_prefix",
        "_sources",
        "_used",
        "by_key",
        "index",
    )

    def __init__(self, table: Table, index: SecondaryIndex, key_bytes_max: int) -> None:
        """`key_bytes_max`: of the store."""
        self.index = index
        self._key_bytes_max = key_bytes_max
        composed = composed_key(table, index.key_columns)
        places = {column.name: place for place, column in enumerate(table.key_columns)}
        self._names = tuple(column.name for column in composed)
        self._sources = tuple(
            (places.get(column.name, -1), column.name, _CLASSES[column.type]) for column in composed
        )
        self._covered = tuple(sorted(index.defined_columns))
        number = index.id.to_bytes(4, "big")
        self._prefix = number if index.is_local else row_prefix(index.id)
        self._used = tuple(self.names())
        self.by_key = all(place >= 0 for place, _, _ in self._sources)

    def names(self) -> Iterable[str]:
        """The defined columns that the index lists or covers."""
        return (*[name for place, name, _ in self._sources if place < 0], *self._covered)

    def change(
        self, old: IndexedRow | None, new: IndexedRow | None
    ) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
        """Entries to remove and entries to put for a change of a row; both empty if none changes.

        The entries before the change have empty records where no entry can have several records:
        their keys are enough to replace or remove them.
        """
        if old is None or new is None:
            return {} if old is None else self._former(old), {} if new is None else self.entries(
                new
            )
        if self.index.complete and self._same(old, new):
            return {}, {}
        return self._former(old), self.entries(new)

    def _same(self, old: IndexedRow, new: IndexedRow) -> bool:
        """Whether both rows have an equal entry."""
        if self.by_key and old.latest != new.latest:
            return False
        for name in self._used:
            before, after = old.newest.get(name), new.newest.get(name)
            if before is not after and (
                before is None or after is None or before.wire != after.wire
            ):
                return False
        return True

    def _former(self, row: IndexedRow) -> dict[bytes, bytes]:
        size = 0
        for name in self._covered:
            if name in row.newest:
                size += len(row.newest[name].wire)
        if size > WHOLE_ROW_BYTES_MAX:
            return dict.fromkeys(self.entries(row), b"")
        found = self._values(row)
        key = b"" if found is None else self._key(row, found[0])
        return {key: b""} if 0 < len(key) <= self._key_bytes_max else {}

    def _values(self, row: IndexedRow) -> tuple[tuple[KeyValue, ...], int] | None:
        """The row's composed key and the version that decides its expiry; None: no entry."""
        values: list[KeyValue] = []
        alive = row.latest if self.by_key else INT64_MAX
        for place, name, kind in self._sources:
            if place >= 0:
                values.append(row.values[place])
                continue
            cell = row.newest.get(name)
            value = None if cell is None else _key_value(cell, kind)
            if cell is None or value is None:
                return None
            values.append(value)
            alive = min(alive, cell.version)
        return tuple(values), alive

    def entries(self, row: IndexedRow) -> dict[bytes, bytes]:
        """The records of the row's entry by their keys: none, one, or those of a wide entry."""
        records = self._records(row)
        return {} if _longest(records) > self._key_bytes_max else records

    def check_length(self, old: IndexedRow | None, new: IndexedRow) -> None:
        """Raise `InvalidRequest` for a new or changed entry that is too long for the store."""
        if old is not None and self._same(old, new):
            return
        length = _longest(self._records(new))
        if length > self._key_bytes_max:
            raise InvalidRequest(Rule.STORED_KEY_LENGTH, limit=self._key_bytes_max, length=length)

    def _records(self, row: IndexedRow) -> dict[bytes, bytes]:
        found = self._values(row)
        if found is None:
            return {}
        composed, alive = found
        cells = [row.newest[name] for name in self._covered if name in row.newest]
        encoded, crc = encode_key_section(zip(self._names, composed, strict=True))
        section = KeySection(encoded, crc, key_section_size(encoded, composed))
        summary = summarize(cells)
        summary = summary._replace(oldest=min(summary.oldest, alive))
        return whole_or_cut(self._key(row, composed), section, cells, summary, alive)

    def _key(self, row: IndexedRow, values: tuple[KeyValue, ...]) -> bytes:
        if not self.index.is_local:
            return encode_key(self._prefix, values)
        return encode_key(SPACE_LOCAL_INDEXES + row.shard[1:] + self._prefix, values[1:])


def _longest(records: dict[bytes, bytes]) -> int:
    """The length of the longest key."""
    return max(map(len, records), default=0)


def _key_value(cell: Cell, kind: type) -> KeyValue | None:
    """The value of a cell if it may be a key value of that type, or None."""
    value = cell_value(cell)
    if type(value) is not kind:
        return None
    if isinstance(value, str):
        return value if len(value.encode()) <= KEY_VALUE_BYTES_MAX else None
    if isinstance(value, bytes):
        return value if len(value) <= KEY_VALUE_BYTES_MAX else None
    return value  # type: ignore[return-value]  # an integer


@final
class TableForms:
    """The indexes of one definition of a table.

    `types`: the defined type of each column that an index lists or covers; `listed`: those that one
    lists.
    """

    __slots__ = ("_by_key", "_key_types", "_names", "forms", "listed", "table", "types")

    def __init__(self, table: Table, key_bytes_max: int) -> None:
        """`key_bytes_max`: of the store."""
        self.table = table
        self.forms = tuple(EntryForm(table, index, key_bytes_max) for index in table.indexes)
        self._names = frozenset(name for form in self.forms for name in form.names())
        self._by_key = any(form.by_key for form in self.forms)
        self._key_types = [column.type for column in table.key_columns]
        self.types = {
            column.name: column.type
            for column in table.defined_columns
            if column.name in self._names
        }
        self.listed = frozenset(name for index in table.indexes for name in index.key_columns)

    def values(self, key: bytes) -> tuple[KeyValue, ...]:
        """The values of a stored row's key."""
        return decode_key(key, ROW_PREFIX_BYTES, self._key_types)[0]

    def row(
        self, row: ObservedRow, shard: bytes, values: tuple[KeyValue, ...] | None = None
    ) -> IndexedRow:
        """The part of a stored row that entries need.

        Cost for a wide row: the segments of the columns.

        All segments are read where an index lists key columns only. `values`: the key's values, if
        the caller knows them.
        """
        newest: dict[str, Cell] = {}
        latest = -1
        names = self._names
        for cell in row.cells() if self._by_key else row.cells_of(names):
            latest = max(latest, cell.version)
            if cell.name in names and cell.name not in newest:  # the newest cell comes first
                newest[cell.name] = cell
        if values is None:
            values = self.values(row.key)
        return IndexedRow(shard, values, newest, INT64_MAX if latest < 0 else latest)
