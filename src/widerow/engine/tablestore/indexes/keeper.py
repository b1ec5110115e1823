"""Changes the entries of a row in the transaction that changes the row (change §A4).

Where the transaction cannot reach a global index, or a lag is set, it leaves an intent beside the
row (`intents.py`).
"""

from typing import Final

from widerow.engine.entry_intents import leave_entry_intent
from widerow.engine.index_entries import replace_entries
from widerow.engine.intents import IntentQueue
from widerow.engine.observer import RowEvent
from widerow.engine.tablestore.indexes.form import TableForms
from widerow.engine.tablestore.observed import ObservedRow
from widerow.errors import InvalidRequest
from widerow.keys.layout import SPACE_INTENTS, SPACE_LOCAL_INDEXES, row_prefix
from widerow.limits import KEY_VALUE_BYTES_MAX
from widerow.model.tablestore.row import CellChange, RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import SecondaryIndex, Table
from widerow.model.values import ColumnType
from widerow.rows.cells import body_value
from widerow.storage.interface import Transaction

__all__ = ["SecondaryIndexKeeper"]

_TYPES: Final = {kind.value: kind for kind in ColumnType}
_SIZED: Final = (ColumnType.STRING, ColumnType.BINARY)
_NONE: Final[dict[bytes, bytes]] = {}


class SecondaryIndexKeeper:
    """The `RowObserver` of Tablestore's tables with indexes, ready or not.

    `deferred`: changes of global indexes are left to intents.
    """

    def __init__(self, queue: IntentQueue, key_bytes_max: int, *, deferred: bool) -> None:
        """`queue`: where intents are left. `key_bytes_max`: of the store."""
        self._queue = queue
        self._key_bytes_max = key_bytes_max
        self._forms: dict[int, TableForms] = {}
        self.deferred = deferred

    def watches(self, table: Table) -> bool:
        """Whether the table has an index."""
        return bool(table.indexes)

    def shards(self, table: Table) -> tuple[bytes, ...]:
        """The rows of every global index, unless they are left to intents."""
        if self.deferred:
            return ()
        return tuple(row_prefix(index.id) for index in table.indexes if not index.is_local)

    def spaces(self, table: Table) -> bytes:
        """The spaces of local entries and of intents."""
        kinds = {index.is_local for index in table.indexes}
        local = SPACE_LOCAL_INDEXES if True in kinds else b""
        return local + (SPACE_INTENTS if self.deferred and False in kinds else b"")

    def reads(self, table: Table) -> tuple[bytes, ...]:  # noqa: ARG002  # one answer for all tables
        """Empty: entries follow from the row alone."""
        return ()

    def forms(self, table: Table) -> TableForms:
        """The forms of a table's indexes, made once for a definition."""
        known = self._forms.get(table.id)
        if known is None or known.table is not table:
            known = self._forms[table.id] = TableForms(table, self._key_bytes_max)
        return known

    def changed(self, txn: Transaction, table: Table, event: RowEvent[ObservedRow]) -> None:
        """Remove the entries that the row no longer has, and put new and changed entries.

        Cost: one write for each record that changes. Raises `InvalidRequest` for a write that the
        indexes do not allow, `Exhausted` where too many intents wait.
        """
        forms = self.forms(table)
        if event.write is not None:
            self.check(table, event.write.change)
        shard, values = event.shard, forms.values(event.key)
        old = None if event.old is None else forms.row(event.old, shard, values)
        new = None if event.new is None else forms.row(event.new, shard, values)
        deferred: list[tuple[int, bytes]] = []
        for form in forms.forms:
            before, after = form.change(old, new)
            if not after and new is not None and event.write is not None:
                form.check_length(old, new)
            index = form.index
            if self.deferred and not index.is_local:
                deferred += _entry_keys(index, before, after)
            else:
                replace_entries(txn, before, after)
        if deferred:
            leave_entry_intent(self._queue, txn, shard, event.key, deferred)

    def add(
        self, txn: Transaction, table: Table, index: SecondaryIndex, row: tuple[ObservedRow, bytes]
    ) -> int:
        """Put the entry of an existing row, given with its shard: part of a step of a build.

        Returns the time of the intent, in microseconds since 1970, where one was left instead; else
        0.
        """
        forms = self.forms(table)
        stored, shard = row
        indexed = forms.row(stored, shard)
        for form in forms.forms:
            if form.index.id != index.id:
                continue
            entries = form.entries(indexed)
            if self.deferred and not index.is_local:
                keys = _entry_keys(index, _NONE, entries)
                if keys:
                    return leave_entry_intent(self._queue, txn, shard, stored.key, keys)
            else:
                replace_entries(txn, _NONE, entries)
        return 0

    # --- what writes may hold ----------------------------------------------------------------

    def check(self, table: Table, change: RowChange) -> None:
        """Check a change of a row of a table with indexes (change §A4).

        Raises `InvalidRequest`: INDEX_VERSION for a cell that names its version, INDEX_VALUE_TYPE,
        KEY_LENGTH for a value that no key may hold, in a column that an index lists.
        """
        forms = self.forms(table)
        for cell in change.cells:
            if cell.version is not None:
                raise InvalidRequest(TablestoreRule.INDEX_VERSION, column=cell.name)
            expected = forms.types.get(cell.name)
            if expected is not None and cell.body:
                _check_value(cell, expected, listed=cell.name in forms.listed)


def _check_value(cell: CellChange, expected: ColumnType, *, listed: bool) -> None:
    kind = _TYPES[cell.body[11 + len(cell.name.encode())]]
    if kind is not expected:
        raise InvalidRequest(
            TablestoreRule.INDEX_VALUE_TYPE,
            column=cell.name,
            expected=expected.name,
            type=kind.name,
        )
    if listed and kind in _SIZED and len(cell.body) > KEY_VALUE_BYTES_MAX:
        value = body_value(cell.body)
        size = len(value.encode()) if isinstance(value, str) else len(value)  # type: ignore[arg-type]  # sized
        if size > KEY_VALUE_BYTES_MAX:
            raise InvalidRequest(
                TablestoreRule.KEY_LENGTH, column=cell.name, limit=KEY_VALUE_BYTES_MAX, length=size
            )


def _entry_keys(
    index: SecondaryIndex, before: dict[bytes, bytes], after: dict[bytes, bytes]
) -> list[tuple[int, bytes]]:
    """The changed entries: the number of the index, and the key of each entry.

    A wide entry has several records; its key is the shortest of theirs.
    """
    keys = {min(records) for records in (before, after) if records}
    return [(index.id, key) for key in sorted(keys)]
