"""Writing index entries: a change of a row changes its entries with it (model §11).

Where the transaction of a row does not reach the entries, it leaves intents beside the row
(`engine/entry_intents.py`), and entries are made to agree with the row behind it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from widerow.engine.entry_intents import leave_entry_intent
from widerow.engine.index_entries import replace_entries
from widerow.engine.intents import IntentKind, IntentQueue
from widerow.engine.observer import RowEvent
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.stored import StoredRow
from widerow.errors import InvalidRequest
from widerow.keys.layout import SPACE_INTENTS, index_prefix
from widerow.limits import INT64_MAX
from widerow.model.typed.rules import TypedRule
from widerow.rows.typed import typed_table_and_expiry
from widerow.storage.interface import Transaction

__all__ = ["IndexKeeper", "agree_with_row", "lenient_entries"]

_NONE: Mapping[bytes, bytes] = {}
_INTENT_ENTRIES: Final = 1000  # named by one intent; a row with more changed ones leaves several


class IndexKeeper:
    """The `RowObserver` that keeps all indexes of typed tables, also those still being built."""

    def __init__(self, queue: IntentQueue | None = None, key_bytes_max: int = INT64_MAX) -> None:
        """`queue`: where intents are left; None: entries are written with their rows.

        `key_bytes_max`: of a key in the store.
        """
        self._queue = queue
        self._key_bytes_max = key_bytes_max
        self._forms: dict[int, tuple[TableForm, tuple[IndexForm, ...]]] = {}

    @property
    def deferred(self) -> bool:
        """Whether entries follow their rows by intents."""
        return self._queue is not None

    def watches(self, table: TableForm) -> bool:
        """Whether the table has an index."""
        return bool(table.table.indexes)

    def shards(self, table: TableForm) -> tuple[bytes, ...]:
        """The shards of the table's indexes, one prefix of entries each, unless left to intents."""
        if self.deferred:
            return ()
        return tuple(index_prefix(index.id) for index in table.table.indexes)

    def reads(self, table: TableForm) -> tuple[bytes, ...]:  # noqa: ARG002  # the answer is one for all tables
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

    def form_of(self, form: TableForm, number: int) -> IndexForm | None:
        """The form of the index of that number; None where the table has none."""
        for each in self.forms(form):
            if each.index.id == number:
                return each
        return None

    def spaces(self, table: TableForm) -> bytes:  # noqa: ARG002  # the answer is one for all tables
        """The space of intents, if they are left."""
        return SPACE_INTENTS if self.deferred else b""

    def changed(self, txn: Transaction, table: TableForm, event: RowEvent[StoredRow]) -> None:
        """Delete the entries that the row loses by the change and put the new and changed ones.

        Cost: one write for each entry that changes, or a read and a write for all of them where
        they are left to an intent. Raises `InvalidRequest` for a new row that cannot be indexed,
        `Exhausted` where too many intents wait.
        """
        old, new = event.old, event.new
        left: list[tuple[int, bytes]] = []
        for index in self.forms(table):
            after = _NONE if new is None else index.new_entries(new)
            before = _NONE if old is None else lenient_entries(index, old)
            if self._queue is None:
                replace_entries(txn, before, after)
            else:
                changed = _differing(before, after)
                self._check_length(changed)
                left += [(index.index.id, key) for key in changed]
        if left:
            self._leave(txn, event, left)

    def _leave(
        self, txn: Transaction, event: RowEvent[StoredRow], left: Sequence[tuple[int, bytes]]
    ) -> None:
        assert self._queue is not None
        kind = IntentKind.INDEX_SPACE_ENTRIES
        for first in range(0, len(left), _INTENT_ENTRIES):
            named = left[first : first + _INTENT_ENTRIES]
            leave_entry_intent(self._queue, txn, event.shard, event.key, named, kind)

    def _check_length(self, keys: Sequence[bytes]) -> None:
        """Raise `InvalidRequest` for an entry that the store could not take behind its row."""
        limit = self._key_bytes_max
        for key in keys:
            if len(key) > limit:
                raise InvalidRequest(TypedRule.INDEX_KEY_LENGTH, size=len(key), limit=limit)


def lenient_entries(index: IndexForm, row: StoredRow) -> Mapping[bytes, bytes]:
    """The entries of a row that is stored; none where it cannot be indexed.

    Such a row is one from before the index was created, and the build of the index ends when it
    comes to it.
    """
    try:
        return index.entries(row)
    except InvalidRequest:
        return _NONE


def agree_with_row(
    txn: Transaction, form: TableForm, index: IndexForm, row_key: bytes, keys: Sequence[bytes]
) -> None:
    """Make the entries under `keys` what the row says as it is now; a write named it to read it.

    An entry is written even if it is unchanged: then a body of another process that has read an
    older state of the row cannot be committed after this one.
    """
    record = txn.get(row_key)
    wanted: Mapping[bytes, bytes] = _NONE
    if record is not None and typed_table_and_expiry(record)[0] == form.id:
        wanted = lenient_entries(index, StoredRow(form, row_key, record))
    for key in keys:
        value = wanted.get(key)
        if value is None:
            txn.delete(key)
        else:
            txn.put(key, value)


def _differing(before: Mapping[bytes, bytes], after: Mapping[bytes, bytes]) -> list[bytes]:
    """The keys of entries that come, go or change, in their order."""
    keys = before.keys() | after.keys()
    return sorted([key for key in keys if before.get(key) != after.get(key)])
