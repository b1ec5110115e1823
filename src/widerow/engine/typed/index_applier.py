"""Applies intents for the indexes of typed tables (model §11; `engine/entry_applier.py`)."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, final

from widerow.clock import Clock
from widerow.engine.entry_applier import EntryApplier, FollowedIndex, IntentRow
from widerow.engine.intents import IntentKind
from widerow.engine.lease import Lease
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_keeper import IndexKeeper, agree_with_row
from widerow.engine.typed.tables import TypedTables
from widerow.keys.layout import index_prefix
from widerow.storage.interface import Store, Transaction, Write

__all__ = ["TypedEntryApplier"]


@final
class TypedEntryApplier(EntryApplier[TableForm, IntentRow]):
    """Applies the intents of all typed tables; those of a hierarchy stand under its top table."""

    kind: ClassVar[IntentKind] = IntentKind.INDEX_SPACE_ENTRIES

    def __init__(
        self, store: Store, tables: TypedTables, clock: Clock, keeper: IndexKeeper, lease: Lease
    ) -> None:
        """The intents that `keeper` leaves. `lease`: of the process that applies intents."""
        super().__init__(store, tables, clock, lease)
        self._keeper = keeper
        self._owners: tuple[int, dict[int, TableForm]] = (-1, {})

    def follows(self) -> bool:
        """Whether any table has an index, and entries follow their rows."""
        return self._keeper.deferred and bool(self._tables_of_indexes())

    def followed(self) -> Iterable[FollowedIndex]:
        """All indexes."""
        for form in self._tables.all():
            for index in form.table.indexes:
                yield FollowedIndex(form.table.top, form.table.qualified, index.name, index.id)

    def numbers(self, table: TableForm) -> set[int]:  # noqa: ARG002  # an intent names no others
        """The numbers of all indexes."""
        return set(self._tables_of_indexes())

    def row(self, table: TableForm, key: bytes) -> IntentRow:  # noqa: ARG002  # its record names it
        """A row that has intents."""
        return IntentRow(key)

    def writes(self, row: IntentRow) -> Iterator[Write[Any]]:
        """A write for each index that the row's intents name, unless it was dropped."""
        by_index: dict[int, list[bytes]] = {}
        for number, key in row.entries():
            by_index.setdefault(number, []).append(key)
        reads = (*self._tables.catalog.reads, row.key)
        owners = self._tables_of_indexes()
        for number, keys in by_index.items():
            form = owners.get(number)
            if form is not None:
                body = partial(self._agree, form, number, row.key, keys)
                yield Write((index_prefix(number),), body, reads=reads)

    def _agree(
        self, form: TableForm, number: int, row_key: bytes, keys: list[bytes], txn: Transaction
    ) -> None:
        current = self._tables.current(form, txn)
        index = self._keeper.form_of(current, number)
        if index is not None:
            agree_with_row(txn, current, index, row_key, keys)

    def _tables_of_indexes(self) -> dict[int, TableForm]:
        """The table of each index, by the index's number."""
        epoch = self._tables.catalog.seen().epoch
        if self._owners[0] != epoch:
            forms = self._tables.all()
            found = {index.id: form for form in forms for index in form.table.indexes}
            self._owners = epoch, found
        return self._owners[1]
