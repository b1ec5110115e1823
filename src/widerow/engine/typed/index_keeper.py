"""Writing index entries: a change of a row changes its entries with it (model §11)."""

from collections.abc import Mapping

from widerow.engine.index_entries import replace_entries
from widerow.engine.observer import RowEvent
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.stored import StoredRow
from widerow.errors import InvalidRequest
from widerow.keys.layout import index_prefix
from widerow.storage.interface import Transaction

__all__ = ["IndexKeeper"]

_NONE: Mapping[bytes, bytes] = {}


class IndexKeeper:
    """The `RowObserver` that keeps all indexes of typed tables, also those still being built."""

    def __init__(self) -> None:
        self._forms: dict[int, tuple[TableForm, tuple[IndexForm, ...]]] = {}

    def watches(self, table: TableForm) -> bool:
        """Whether the table has an index."""
        return bool(table.table.indexes)

    def shards(self, table: TableForm) -> tuple[bytes, ...]:
        """The shards of the table's indexes: one prefix of entries each."""
        return tuple(index_prefix(index.id) for index in table.table.indexes)

    def reads(self, table: TableForm) -> tuple[bytes, ...]:  # noqa: ARG002  # the same for all
        """No key: the indexes of a table are known from its definition."""
        return ()

    def forms(self, form: TableForm) -> tuple[IndexForm, ...]:
        """The forms of a table's indexes, kept until its definition changes."""
        known = self._forms.get(form.table.id)
        if known is not None and known[0] is form:
            return known[1]
        made = tuple(IndexForm(form.table, index) for index in form.table.indexes)
        self._forms[form.table.id] = (form, made)
        return made

    def spaces(self, table: TableForm) -> bytes:  # noqa: ARG002  # the same for all
        """No space of the row's own shard: entries are in shards of their own."""
        return b""

    def changed(self, txn: Transaction, table: TableForm, event: RowEvent[StoredRow]) -> None:
        """Delete the entries that the row loses by the change and put the new and changed ones.

        Cost: one write for each entry that changes. Raises `InvalidRequest` for a new row that
        cannot be indexed.
        """
        old, new = event.old, event.new
        for index in self.forms(table):
            after = _NONE if new is None else index.new_entries(new)
            before = _NONE if old is None else _former(index, old)
            replace_entries(txn, before, after)


def _former(index: IndexForm, row: StoredRow) -> Mapping[bytes, bytes]:
    """The entries of the row as it was before the change.

    A row from before the index was created may have values that cannot be indexed: it has no
    entries, and the build of the index ends when it comes to such a row.
    """
    try:
        return index.entries(row)
    except InvalidRequest:
        return _NONE
