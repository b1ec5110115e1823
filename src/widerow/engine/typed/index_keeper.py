"""Keeping secondary indexes true: every change of a row changes its entries with it (model §11)."""

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
    """The `RowObserver` of typed tables' indexes, ready ones and those being built alike."""

    def __init__(self) -> None:
        """No index is known yet."""
        self._forms: dict[int, tuple[TableForm, tuple[IndexForm, ...]]] = {}

    def watches(self, table: TableForm) -> bool:
        """Tables that have an index."""
        return bool(table.table.indexes)

    def shards(self, table: TableForm) -> tuple[bytes, ...]:
        """The entries of every index of the table."""
        return tuple(index_prefix(index.id) for index in table.table.indexes)

    def reads(self, table: TableForm) -> tuple[bytes, ...]:  # noqa: ARG002  # the same for all
        """Nothing."""
        return ()

    def forms(self, form: TableForm) -> tuple[IndexForm, ...]:
        """The forms of a table's indexes, made once for a definition."""
        known = self._forms.get(form.table.id)
        if known is not None and known[0] is form:
            return known[1]
        made = tuple(IndexForm(form.table, index) for index in form.table.indexes)
        self._forms[form.table.id] = (form, made)
        return made

    def spaces(self, table: TableForm) -> bytes:  # noqa: ARG002  # the same for all
        """None."""
        return b""

    def changed(self, txn: Transaction, table: TableForm, event: RowEvent[StoredRow]) -> None:
        """Take away entries that the row no longer has and put those that are new or differ.

        Cost: one write for each entry that changes. Raises `InvalidRequest` for a new row that
        cannot be indexed.
        """
        old, new = event.old, event.new
        for index in self.forms(table):
            after = _NONE if new is None else index.entries(new)
            before = _NONE if old is None else _former(index, old)
            replace_entries(txn, before, after)


def _former(index: IndexForm, row: StoredRow) -> Mapping[bytes, bytes]:
    """The entries of a row that is stored.

    One written before the index was begun may not fit it: it has none, and the build that finds it
    gives up.
    """
    try:
        return index.entries(row)
    except InvalidRequest:
        return _NONE
