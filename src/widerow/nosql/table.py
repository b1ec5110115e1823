"""One typed table of an open store: the vendor's TableAPI in Python's style (model §5, §6)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from widerow.engine.plan import Plan
from widerow.engine.typed.engine import MultiRow, TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_scan import IndexKey, scan_entry_rows, scan_index_keys
from widerow.engine.typed.index_selection import IndexSelection, select_index
from widerow.engine.typed.stored import Key, StoredRow
from widerow.engine.typed.write import WriteResult
from widerow.errors import InvalidRequest
from widerow.model.typed.json_rows import row_from_json
from widerow.model.typed.requests import (
    Direction,
    FieldRange,
    WriteChoice,
)
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TimeToLive, TypedTable
from widerow.nosql.operation import Operation, Operations, RowWrites, Target

__all__ = ["Host", "Included", "TableHandle"]

T = TypeVar("T")

Included = Sequence[str | Target]


class Host(Protocol):
    """The part of `TypedStore` that its tables use."""

    engine: TypedEngine

    def write_many(self, operations: Iterable[Operation]) -> list[WriteResult]:
        """Make many writes that share syncs."""
        ...

    def commit(self, plan: Plan[T]) -> T:
        """Commit a plan and return its answer."""
        ...

    def form_of(self, table: str | Target) -> TableForm:
        """The form of a table given by name or itself."""
        ...


class TableHandle(RowWrites[WriteResult]):
    """A table. Stays valid when the table is altered; raises `NotFound` once it was dropped.

    Rows and keys are mappings from column names, in any case, to values
    (`widerow.model.typed.values` says which); rows and keys that were read may be given back.
    Columns that a row leaves out get their default, else NULL. A write is durable when its method
    returns.
    """

    def __init__(self, store: Host, form: TableForm) -> None:
        self._store = store
        self._form = form

    def __repr__(self) -> str:
        return f"Table({self.name})"

    @property
    def form(self) -> TableForm:
        """The table as the engine knows it now. Raises `NotFound` once it was dropped."""
        self._form = self._store.engine.tables.current(self._form)
        return self._form

    @property
    def definition(self) -> TypedTable:
        """The definition as it is now. Raises `NotFound` once the table was dropped."""
        return self.form.table

    @property
    def name(self) -> str:
        """The qualified name."""
        return self._form.table.qualified

    # --- one row -----------------------------------------------------------------------------

    def get(self, key: Mapping[str, Any]) -> StoredRow | None:
        """The row of a whole primary key, or None."""
        return self._store.engine.get(self.form, key)

    def _write(self, choice: WriteChoice) -> WriteResult:
        """Make the write. Durable on return."""
        return self._store.commit(self._store.engine.write(self.form, choice))

    def operation(self, *, abort_if_unsuccessful: bool = False) -> Operations:
        """The writes of a single row, described for `TypedStore.execute` and `write_many`.

        `abort_if_unsuccessful`: in a sequence, undo all of it when the write does not succeed.
        """
        return Operations(self, abort_if_unsuccessful=abort_if_unsuccessful)

    def put_many(
        self,
        rows: Iterable[Mapping[str, Any]],
        *,
        ttl: TimeToLive | None = None,
        update_ttl: bool = False,
    ) -> list[WriteResult]:
        """Put many rows, each for itself, sharing syncs; all are durable on return.

        Raises: the error of the first row that is refused; those in front of it may be written.
        """
        operation = self.operation()
        return self._store.write_many(
            operation.put(row, ttl=ttl, update_ttl=update_ttl) for row in rows
        )

    # --- several rows ------------------------------------------------------------------------

    def multi_get(
        self,
        key: Mapping[str, Any],
        *,
        field_range: FieldRange | None = None,
        ancestors: Included = (),
        children: Included = (),
    ) -> list[StoredRow]:
        """Rows of one shard in key order, as they were at one moment.

        `key` holds at least the whole shard key and the first so many key columns.
        """
        rows = self._rows(key, field_range, ancestors, children)
        return self._store.engine.multi_get(self.form, rows)

    def multi_get_keys(
        self,
        key: Mapping[str, Any],
        *,
        field_range: FieldRange | None = None,
        ancestors: Included = (),
        children: Included = (),
    ) -> list[Key]:
        """The keys of the rows that `multi_get` returns."""
        rows = self._rows(key, field_range, ancestors, children)
        return self._store.engine.multi_get_keys(self.form, rows)

    def table_iterator(
        self,
        key: Mapping[str, Any] | None = None,
        *,
        field_range: FieldRange | None = None,
        direction: Direction = Direction.UNORDERED,
        ancestors: Included = (),
        children: Included = (),
        batch_size: int = 0,
    ) -> Iterator[StoredRow]:
        """Rows of any partial key, `batch_size` (0: a hundred) from one moment at a time.

        Bounded memory, however many rows there are. Rows written meanwhile may or may not show.
        """
        rows = self._rows(key or {}, field_range, ancestors, children)
        return self._store.engine.iterate(self.form, rows, direction, batch_size)

    def table_keys_iterator(
        self,
        key: Mapping[str, Any] | None = None,
        *,
        field_range: FieldRange | None = None,
        direction: Direction = Direction.UNORDERED,
        ancestors: Included = (),
        children: Included = (),
        batch_size: int = 0,
    ) -> Iterator[Key]:
        """The keys of the rows that `table_iterator` returns."""
        found = self.table_iterator(
            key,
            field_range=field_range,
            direction=direction,
            ancestors=ancestors,
            children=children,
            batch_size=batch_size,
        )
        return (row.key for row in found)

    def index_iterator(  # as the vendor's
        self,
        name: str,
        key: Mapping[str, Any] | None = None,
        *,
        field_range: FieldRange | None = None,
        direction: Direction = Direction.UNORDERED,
        children: Included = (),
    ) -> Iterator[StoredRow]:
        """Rows in the order of a secondary index, then of the primary key (model §11).

        `key`: values for the first few paths of the index; None is NULL, `JSON_NULL` a null of
        JSON, `EMPTY` nothing at the path. `field_range`: bounds of the next path, which are values
        only. A row comes once for each entry that it has. Children cannot be included.

        Raises: `NotFound`, `InvalidRequest`, `Conflict` while the index is being built.
        """
        selection = self._index_selection(name, key, field_range, children)
        engine, reverse = self._store.engine, direction is Direction.REVERSE
        found = scan_entry_rows(engine.store, selection, engine.now_hour, reverse=reverse)
        return engine.counted(selection.table, (each.row for each in found))

    def index_keys_iterator(  # as the vendor's
        self,
        name: str,
        key: Mapping[str, Any] | None = None,
        *,
        field_range: FieldRange | None = None,
        direction: Direction = Direction.UNORDERED,
        children: Included = (),
    ) -> Iterator[IndexKey]:
        """The indexed values and primary keys of what `index_iterator` returns; reads no row."""
        selection = self._index_selection(name, key, field_range, children)
        engine, reverse = self._store.engine, direction is Direction.REVERSE
        return scan_index_keys(engine.store, selection, engine.now_hour, reverse=reverse)

    def _index_selection(
        self,
        name: str,
        key: Mapping[str, Any] | None,
        field_range: FieldRange | None,
        children: Included,
    ) -> IndexSelection:
        if children:
            raise InvalidRequest(TypedRule.INDEX_CHILDREN)
        return select_index(self.form, name, key or {}, field_range)

    def multi_delete(
        self,
        key: Mapping[str, Any],
        *,
        field_range: FieldRange | None = None,
        ancestors: Included = (),
        children: Included = (),
    ) -> int:
        """Delete rows of one shard in one transaction. Returns how many.

        Rows of child and parent tables are deleted only if included.
        """
        rows = self._rows(key, field_range, ancestors, children)
        return self._store.commit(self._store.engine.multi_delete(self.form, rows))

    # --- JSON --------------------------------------------------------------------------------

    def row_from_json(self, text: str | bytes, *, exact: bool = False) -> dict[str, Any]:
        """The columns of a JSON object; `exact`: it must have every column and no other."""
        return row_from_json(text, self.definition, exact=exact)

    def key_from_json(self, text: str | bytes, *, exact: bool = False) -> dict[str, Any]:
        """The key columns of a JSON object; `exact`: it must have all of them and no other."""
        return row_from_json(text, self.definition, exact=exact, key_only=True)

    def _rows(
        self,
        key: Mapping[str, Any],
        field_range: FieldRange | None,
        ancestors: Included,
        children: Included,
    ) -> MultiRow:
        return MultiRow(
            key,
            field_range,
            tuple(self._store.form_of(each) for each in ancestors),
            tuple(self._store.form_of(each) for each in children),
        )
