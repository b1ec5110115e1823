"""Typed tables in the catalogue: their records, namespaces, drop notes and shard keys."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from widerow.engine.catalog.model import CatalogModel, Namespace
from widerow.engine.catalog.notes import decode_note
from widerow.engine.catalog.state import Leftover
from widerow.engine.partitions.partitioned_tables import Bounds, KeyText, PartitionKey
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.record import decode_typed_table, encode_typed_table
from widerow.errors import NotFound
from widerow.keys.decode import decode_key_value
from widerow.keys.layout import (
    DROPPED_MARK,
    NAMESPACE_MARK,
    SPACE_TYPED_CATALOG,
    index_prefix,
    intent_prefix,
    row_prefix,
    sequence_prefix,
    statistics_prefix,
    typed_catalog_key,
    typed_dropped_key,
)
from widerow.model.typed.json_rows import value_to_json
from widerow.model.typed.names import folded
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable
from widerow.model.values import KeyType

__all__ = ["TYPED_MODEL", "TypedModel", "shard_end"]


class TypedModel(CatalogModel[TableForm]):
    """Records, names, drop notes and partition keys of typed tables.

    The rows of a child table lie among those of its top ancestor. An index has a number of its own.
    """

    space = SPACE_TYPED_CATALOG
    kind = TableForm

    def name_of(self, table: TableForm) -> tuple[str, str]:
        """Namespace and name of a table, both in lower case."""
        return folded(table.table.namespace), folded(table.table.name)

    def record_of(self, table: TableForm) -> tuple[bytes, bytes]:
        """Key and value of the catalogue record of a table."""
        return typed_catalog_key(*self.name_of(table)), encode_typed_table(table.table)

    def read(self, key: bytes, record: bytes) -> TableForm | Leftover | Namespace:
        """Decode a catalogue record: of a table, a drop note or a namespace."""
        at = len(SPACE_TYPED_CATALOG)
        if key.startswith(DROPPED_MARK, at):
            return decode_note(int.from_bytes(key[at + len(DROPPED_MARK) :], "big"), key, record)
        if key.startswith(NAMESPACE_MARK, at):
            name, _ = decode_key_value(key, at + len(NAMESPACE_MARK), KeyType.STRING)
            return Namespace(str(name), record.decode())
        return TableForm(decode_typed_table(record))

    def leftover_of(self, table: TableForm, due_us: int) -> Leftover:
        """The drop note of a table: its sequence, its indexes, its rows.

        A top table leaves ranges of rows, statistics and intents; a child leaves rows among those
        of its top table.
        """
        made = table.table
        prefixes = [sequence_prefix(made.id), *(index_prefix(index.id) for index in made.indexes)]
        if made.parent is None:
            prefixes += (row_prefix(made.id), statistics_prefix(made.id), intent_prefix(made.id))
        top = 0 if made.parent is None else made.top
        return Leftover(made.id, typed_dropped_key(made.id), tuple(prefixes), top, due_us)

    def left_by_change(
        self, before: TableForm, after: TableForm, due_us: int
    ) -> Iterable[Leftover]:
        """A drop note for each index that the change removed."""
        kept = {index.id for index in after.table.indexes}
        for index in before.table.indexes:
            if index.id not in kept:
                key = typed_dropped_key(index.id)
                yield Leftover(index.id, key, (index_prefix(index.id),), 0, due_us)

    def missing(self, owner: str, name: str) -> NotFound:
        """The error for a name that no table has."""
        return NotFound(TypedRule.TABLE_MISSING, table=f"{owner}:{name}" if owner else name)

    def gone(self, table: TableForm) -> NotFound:
        """The error for a table that was dropped, by the name that it had."""
        return NotFound(TypedRule.TABLE_MISSING, table=table.table.qualified)

    def partitioned(self, table: TableForm) -> TypedTable | None:
        """The definition of a top table, whose partitions are those of its hierarchy."""
        return table.table if table.table.parent is None else None

    def with_bounds(self, table: TableForm, bounds: Bounds) -> TableForm:
        """The table with other partition bounds. Its revision stays, as its definition does."""
        return TableForm(replace(table.table, splits=bounds))

    def partition_key(self, table: TableForm) -> PartitionKey:
        """The shard key as the partition key of the hierarchy."""
        made, length = table.table, table.key.shard_length
        return PartitionKey(
            made.shown_namespace,
            made.name,
            ", ".join(made.shard_key),
            ", ".join(kind.kind.value for kind in made.key_types[:length]),
            partial(shard_end, table),
            partial(_key_text, table),
        )

    def entry_numbers(self, table: TableForm) -> Sequence[int]:
        """The numbers of the table's indexes."""
        return [index.id for index in table.table.indexes]

    def unbuilt(self, table: TableForm) -> TableForm:
        """Every index is still to be built."""
        indexes = tuple([replace(index, ready=False) for index in table.table.indexes])
        return TableForm(replace(table.table, indexes=indexes))


def shard_end(form: TableForm, key: bytes) -> int:
    """Where the shard key ends in the key of a row of the hierarchy. Raises `StoreDamaged`."""
    return form.key.end(key, form.key.shard_length)


def _key_text(form: TableForm, key: bytes) -> KeyText:
    """A shard key for people: its value, or an object of values by name if it has several."""
    table = form.table
    values = form.key.decode_shard(row_prefix(table.id) + key)
    shown = {
        name: value if isinstance(value, int | str) else str(value_to_json(value, kind))
        for name, value, kind in zip(table.shard_key, values, table.key_types, strict=False)
    }
    return shown if len(shown) > 1 else next(iter(shown.values()))


TYPED_MODEL = TypedModel()
