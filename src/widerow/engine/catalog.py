"""The tables of all instances, as they are in the store and as operations look them up.

The published catalogue is a pair of dictionaries read without a lock. A change of it commits in a
group of its own (`Write.alone`) and is published before the next group starts, so a body never
sees a table that a reader could lose, and no write lands in a table after its drop. A change of
which it is not known whether it happened makes the catalogue doubtful: the next body reads it
again.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from widerow.engine.partitions.tables import Bounds, KeyText, PartitionKey
from widerow.engine.table_record import decode_table, encode_table
from widerow.errors import NotFound, Rule, StoreDamaged
from widerow.keys.decode import decode_key_value, key_value_end
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    DROPPED_MARK,
    ROW_PREFIX_BYTES,
    SPACE_CATALOG,
    SPACE_STORE,
    SPACE_TYPED_CATALOG,
    STORE_FORMAT_KEY,
    TABLE_ID_KEY,
    catalog_key,
    catalog_prefix,
    dropped_key,
    table_prefixes,
)
from widerow.model.schema import Table
from widerow.model.values import KeyType
from widerow.storage.interface import Reader, Snapshot, Store, Transaction, Write

__all__ = ["Catalog", "holds_typed_tables"]

STORE_FORMAT = b"widerow 1"
_IDS_RESERVED = 64  # table numbers taken at once: a restart skips at most so many


class Catalog:
    """Every table, by name and by number."""

    def __init__(self, store: Store) -> None:
        """Load the catalogue; make a new store ours. Raises `StoreDamaged` for a foreign one."""
        self._store = store
        self._by_name: dict[tuple[str, str], Table] = {}
        self._by_id: dict[int, Table] = {}
        self._dropped: dict[int, str] = {}  # number -> instance; rows still to be removed
        self._ids: Iterator[int] = iter(())
        self._doubted: Snapshot | None = None  # the view that a change may be missing from
        _claim(store)
        self._load()

    def _load(self) -> None:
        """Read every record, and show all of them at once."""
        tables: list[Table] = []
        dropped: dict[int, str] = {}
        snapshot = self._store.snapshot()
        for key, record in snapshot.scan(SPACE_CATALOG, after_prefix(SPACE_CATALOG)):
            note = _dropped_table(key)
            if note is None:
                tables.append(decode_table(record))
            else:
                dropped[note[1]] = note[0]
        self._by_name = {(table.instance, table.name): table for table in tables}
        self._by_id = {table.id: table for table in tables}
        self._dropped = dropped

    def _renew(self) -> None:
        """In a body: read everything again if it is not known how a change ended."""
        if self._doubted is not None:
            known = self._store.snapshot() is not self._doubted
            self._load()
            if known:  # a body finds a newer view; who asks before one has not learnt it yet
                self._doubted = None

    def _doubt(self) -> None:
        """It is not known whether a change was made. The next body learns it."""
        self._doubted = self._store.snapshot()

    # --- looking up --------------------------------------------------------------------------

    def find(self, instance: str, name: str) -> Table:
        """The table of that name. Raises `NotFound`."""
        table = self._by_name.get((instance, name))
        if table is None:
            raise NotFound(Rule.TABLE_NOT_FOUND, instance=instance, table=name)
        return table

    def current(self, table: Table) -> Table:
        """The table as it is now, which a body asks before it writes. Raises `NotFound`."""
        self._renew()
        found = self._by_id.get(table.id)
        if found is None:
            raise NotFound(Rule.TABLE_NOT_FOUND, instance=table.instance, table=table.name)
        return found

    def by_id(self, table_id: int) -> Table | None:
        """The table of that number, or None if it was dropped."""
        return self._by_id.get(table_id)

    def names(self, instance: str) -> list[str]:
        """The names of an instance's tables, sorted."""
        return sorted(name for owner, name in self._by_name if owner == instance)

    def exists(self, instance: str, name: str) -> bool:
        """Whether there is such a table."""
        return (instance, name) in self._by_name

    def tables(self) -> list[Table]:
        """Every table of every instance."""
        return list(self._by_id.values())

    def dropped(self) -> list[int]:
        """The numbers of dropped tables whose rows are still to be removed."""
        return list(self._dropped)

    # --- changing ----------------------------------------------------------------------------

    def new_id(self) -> int:
        """A table number that was never used. Writes to the store once in many calls."""
        taken = next(self._ids, None)
        if taken is not None:
            return taken
        first = self._store.transact((SPACE_STORE,), _reserve_ids)
        self._ids = iter(range(first + 1, first + _IDS_RESERVED))
        return first

    def change(self, instance: str, make: Callable[[], Table]) -> Write[Table]:
        """A write that puts the table which `make` returns, called on the writer.

        Whatever `make` raises refuses the change. Publishes the table once it is durable.
        """

        def body(txn: Transaction) -> Table:
            self._renew()
            table = make()
            txn.put(catalog_key(table.instance, table.name), encode_table(table))
            return table

        return Write(
            (catalog_prefix(instance),),
            body,
            alone=True,
            settled=self._publish,
            doubted=self._doubt,
        )

    def divide(self, table: Table, bounds: Callable[[Bounds], Bounds]) -> Write[Table]:
        """The write that puts what `bounds` makes of a table's splits. Raises `NotFound`."""

        def make() -> Table:
            current = self.current(table)
            return replace(current, splits=bounds(current.splits))

        return self.change(table.instance, make)

    def partition_key(self, table: Table) -> PartitionKey:
        """The first column of the primary key."""
        column = table.key_columns[0]
        return PartitionKey(
            table.instance,
            table.name,
            column.name,
            column.type.value,
            lambda key: key_value_end(key, ROW_PREFIX_BYTES, column.type),
            partial(_key_text, column.type),
        )

    def drop(self, table: Table) -> Write[None]:
        """The write that removes a table from the catalogue and notes that its rows must go."""

        def forget(txn: Transaction) -> None:
            self.current(table)
            txn.delete(catalog_key(table.instance, table.name))
            txn.put(dropped_key(table.instance, table.id), b"")

        def unpublish(_: None) -> None:
            self._by_name.pop((table.instance, table.name), None)
            self._by_id.pop(table.id, None)
            self._dropped[table.id] = table.instance

        return Write(
            (catalog_prefix(table.instance),),
            forget,
            alone=True,
            settled=unpublish,
            doubted=self._doubt,
        )

    def reclaim(self) -> list[Write[None]]:
        """The writes that remove the rows of dropped tables and then the notes of them.

        Safe to repeat at any time, also after a crash in the middle: notes are read when the
        catalogue is loaded, and a note goes only after the rows it stands for.
        """
        return [
            write
            for table_id, instance in list(self._dropped.items())
            for write in self._reclaim(instance, table_id)
        ]

    def _reclaim(self, instance: str, table_id: int) -> tuple[Write[None], Write[None]]:
        prefixes = table_prefixes(table_id)
        removed = False

        def remove(txn: Transaction) -> None:
            for prefix in prefixes:
                txn.delete_range(prefix, after_prefix(prefix))

        def rows_gone(_: None) -> None:
            nonlocal removed
            removed = True

        def note_gone(txn: Transaction) -> None:
            if removed:
                txn.delete(dropped_key(instance, table_id))

        def forget_note(_: None) -> None:
            if removed:
                self._dropped.pop(table_id, None)

        return (
            Write(prefixes, remove, alone=True, settled=rows_gone),
            Write(
                (catalog_prefix(instance),),
                note_gone,
                alone=True,
                settled=forget_note,
                doubted=self._doubt,
            ),
        )

    def _publish(self, table: Table) -> None:
        self._by_name[table.instance, table.name] = table
        self._by_id[table.id] = table


def holds_typed_tables(reader: Reader) -> bool:
    """Whether anything of the other data model stands in the store's catalogue. Cost: one seek."""
    stop = after_prefix(SPACE_TYPED_CATALOG)
    return next(reader.scan(SPACE_TYPED_CATALOG, stop), None) is not None


def _key_text(kind: KeyType, key: bytes) -> KeyText:
    value = decode_key_value(key, 0, kind)[0]
    return {"binary": value.hex()} if isinstance(value, bytes) else value


def _dropped_table(key: bytes) -> tuple[str, int] | None:
    """Instance and number of a dropped table, or None where the key is a table's record."""
    instance, end = decode_key_value(key, len(SPACE_CATALOG), KeyType.STRING)
    if not key.startswith(DROPPED_MARK, end):
        return None
    return str(instance), int.from_bytes(key[end + len(DROPPED_MARK) :], "big")


def _claim(store: Store) -> None:
    snapshot = store.snapshot()
    found = snapshot.get(STORE_FORMAT_KEY)
    if found is None:
        if next(snapshot.scan(b"", b"\xff" * 8), None) is not None:
            raise StoreDamaged("the store holds data and no format record: not a widerow store")
        store.transact((SPACE_STORE,), lambda txn: txn.put(STORE_FORMAT_KEY, STORE_FORMAT))
    elif found != STORE_FORMAT:
        raise StoreDamaged(
            f"the store has format {found!r}; this widerow reads {STORE_FORMAT!r}. "
            "Open it with the version that wrote it."
        )


def _reserve_ids(txn: Transaction) -> int:
    record = txn.get(TABLE_ID_KEY)
    first = 1 if record is None else int.from_bytes(record, "big")
    txn.put(TABLE_ID_KEY, (first + _IDS_RESERVED).to_bytes(4, "big"))
    return first
