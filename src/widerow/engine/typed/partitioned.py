"""Hierarchies of typed tables as their partitions see them: top tables and their shard keys."""

from collections.abc import Callable
from functools import partial

from widerow.engine.partitions.tables import Bounds, KeyText, PartitionKey
from widerow.engine.typed.catalog import TypedCatalog
from widerow.engine.typed.form import TableForm
from widerow.errors import NotFound
from widerow.keys.layout import row_prefix
from widerow.model.typed.json_rows import value_to_json
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable
from widerow.storage.interface import Write

__all__ = ["PartitionedHierarchies", "shard_end"]


class PartitionedHierarchies:
    """The tables without a parent. Rows of their children lie between theirs and count as such."""

    __slots__ = ("_catalog",)

    def __init__(self, catalog: TypedCatalog) -> None:
        """Those of a catalogue."""
        self._catalog = catalog

    def by_id(self, table_id: int) -> TypedTable | None:
        """The top table of that number as it is now, or None."""
        form = self._catalog.form(table_id)
        return None if form is None or form.table.parent is not None else form.table

    def tables(self) -> list[TypedTable]:
        """Every top table."""
        return [form.table for form in self._catalog.forms() if form.table.parent is None]

    def current(self, table: TypedTable) -> TypedTable:
        """The table as it is now, which a body asks before it writes. Raises `NotFound`."""
        return self._catalog.current(self._form(table)).table

    def divide(self, table: TypedTable, bounds: Callable[[Bounds], Bounds]) -> Write[TypedTable]:
        """The write that puts what `bounds` makes of a table's splits. Raises `NotFound`."""
        return self._catalog.divide(self._form(table), bounds)

    def partition_key(self, table: TypedTable) -> PartitionKey:
        """The shard key. Raises `NotFound` if the table was dropped."""
        form = self._form(table)
        length = form.key.shard_length
        return PartitionKey(
            table.shown_namespace,
            table.name,
            ", ".join(table.shard_key),
            ", ".join(kind.kind.value for kind in table.key_types[:length]),
            partial(shard_end, form),
            partial(_key_text, form),
        )

    def _form(self, table: TypedTable) -> TableForm:
        form = self._catalog.form(table.id)
        if form is None:
            raise NotFound(TypedRule.TABLE_MISSING, table=table.qualified)
        return form


def shard_end(form: TableForm, key: bytes) -> int:
    """Where the shard key ends in the key of a row of the hierarchy. Raises `StoreDamaged`."""
    return form.key.end(key, form.key.shard_length)


def _key_text(form: TableForm, key: bytes) -> KeyText:
    """The value of a shard key of one column; of several, an object of them."""
    table = form.table
    values = form.key.decode_shard(row_prefix(table.id) + key)
    shown = {
        name: value if isinstance(value, int | str) else str(value_to_json(value, kind))
        for name, value, kind in zip(table.shard_key, values, table.key_types, strict=False)
    }
    return shown if len(shown) > 1 else next(iter(shown.values()))
