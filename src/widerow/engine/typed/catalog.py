"""Typed tables and namespaces, as they are in the store and as operations look them up.

As with the other dialect's tables, a change commits in a group of its own and is published before
the next group starts, so a body never sees a table that a reader could lose. Dropping is two steps:
the record goes at once and leaves a note of the bytes that must go; housekeeping removes them, and
then the note. A table with a parent shares its top ancestor's range, so its rows are looked for.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from widerow.engine.catalog import Catalog
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.record import decode_typed_table, encode_typed_table
from widerow.errors import Conflict, InvalidRequest, NotFound, StoreDamaged
from widerow.keys.decode import decode_key_value
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    DROPPED_MARK,
    NAMESPACE_MARK,
    SPACE_TYPED_CATALOG,
    index_prefix,
    namespace_key,
    row_prefix,
    sequence_prefix,
    statistics_prefix,
    typed_catalog_key,
    typed_dropped_key,
)
from widerow.model.typed.names import check_namespace, folded, split_name
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable
from widerow.model.values import KeyType
from widerow.storage.interface import Snapshot, Store, Transaction, Write

__all__ = ["Leftover", "TypedCatalog"]

_SHARD: Final = (SPACE_TYPED_CATALOG,)


@dataclass(frozen=True, slots=True)
class Leftover:
    """Bytes of a dropped table or index that are not all gone.

    `prefixes` go as ranges; rows of table `id` between other tables' rows under `top` are looked
    for (0: there are none).
    """

    id: int
    prefixes: tuple[bytes, ...]
    top: int = 0


class TypedCatalog:
    """Every typed table, by name and by number, with its form."""

    def __init__(self, store: Store, catalog: Catalog) -> None:
        """Load the tables; numbers are taken from `catalog`. Raises `StoreDamaged`."""
        self.new_id = catalog.new_id
        self._store = store
        self._doubted: Snapshot | None = None  # the view that a change may be missing from
        self._read()

    def _read(self) -> None:
        """Read every record."""
        self._by_name: dict[tuple[str, str], TableForm] = {}
        self._by_id: dict[int, TableForm] = {}
        self._namespaces: dict[str, str] = {}
        self._leftovers: dict[int, Leftover] = {}
        start = SPACE_TYPED_CATALOG
        for key, record in self._store.snapshot().scan(start, after_prefix(start)):
            self._load(key, record)

    def _renew(self) -> None:
        """In a body: read everything again if it is not known how a change ended."""
        if self._doubted is not None:
            known = self._store.snapshot() is not self._doubted
            self._read()
            if known:  # a body finds a newer view; who asks before one has not learnt it yet
                self._doubted = None

    def _doubt(self) -> None:
        """It is not known whether a change was made. The next body learns it."""
        self._doubted = self._store.snapshot()

    def _load(self, key: bytes, record: bytes) -> None:
        at = len(SPACE_TYPED_CATALOG)
        if key.startswith(DROPPED_MARK, at):
            number = int.from_bytes(key[at + len(DROPPED_MARK) :], "big")
            self._leftovers[number] = _read_note(number, record)
        elif key.startswith(NAMESPACE_MARK, at):
            name, _ = decode_key_value(key, at + len(NAMESPACE_MARK), KeyType.STRING)
            self._namespaces[str(name)] = record.decode()
        else:
            self._publish(decode_typed_table(record))

    # --- looking up --------------------------------------------------------------------------

    def find(self, name: str) -> TableForm:
        """The table of a qualified name, in any case. Raises `NotFound`."""
        form = self.get(name)
        if form is None:
            raise NotFound(TypedRule.TABLE_MISSING, table=name)
        return form

    def get(self, name: str) -> TableForm | None:
        """The table of a qualified name, in any case, or None."""
        namespace, table = split_name(name)
        return self._by_name.get((folded(namespace), folded(table)))

    def form(self, table_id: int) -> TableForm | None:
        """The table of a number as it is now, or None."""
        return self._by_id.get(table_id)

    def current(self, form: TableForm) -> TableForm:
        """The table as it is now, which a body asks before it writes. Raises `NotFound`."""
        self._renew()
        found = self._by_id.get(form.table.id)
        if found is None:
            raise NotFound(TypedRule.TABLE_MISSING, table=form.table.qualified)
        return found

    def forms(self) -> list[TableForm]:
        """Every table, sorted by namespace and name: parents before their children."""
        tables = dict(self._by_name)  # the writer may publish meanwhile
        return [tables[name] for name in sorted(tables)]

    def children(self, table_id: int) -> list[TableForm]:
        """The tables directly below one."""
        return [form for form in self.forms() if form.table.path[-2:-1] == (table_id,)]

    def namespaces(self) -> list[str]:
        """Names of all namespaces but the default one, sorted."""
        return sorted(self._namespaces.values())

    def leftovers(self) -> list[Leftover]:
        """What is still to be removed of dropped tables and indexes."""
        return list(self._leftovers.values())

    # --- changing ----------------------------------------------------------------------------

    def create(self, table: TypedTable, now_us: int) -> Write[TypedTable]:
        """The write that creates a table. Its body raises `Conflict` or `NotFound`."""
        table_id = self.new_id()

        def body(txn: Transaction) -> TypedTable:
            made = self._numbered(table, table_id, now_us)
            _put(txn, made)
            return made

        return Write(_SHARD, body, alone=True, settled=self._publish, doubted=self._doubt)

    def _numbered(self, table: TypedTable, table_id: int, now_us: int) -> TypedTable:
        self._renew()
        if self.get(table.qualified) is not None:
            raise Conflict(TypedRule.TABLE_EXISTS, table=table.name)
        if table.namespace and folded(table.namespace) not in self._namespaces:
            raise NotFound(TypedRule.NAMESPACE_MISSING, namespace=table.namespace)
        path: tuple[int, ...] = (table_id,)
        if table.parent is not None:
            parent = self._by_name.get((folded(table.namespace), folded(table.parent)))
            if parent is None:
                raise NotFound(TypedRule.PARENT_MISSING, parent=table.parent, table=table.name)
            if parent.table.primary_key != table.primary_key[: table.parent_key_length]:
                raise Conflict(TypedRule.EVOLVE_STALE, table=parent.table.qualified)
            path = (*parent.table.path, table_id)
        return replace(table, id=table_id, path=path, created_us=now_us, splits=())

    def change(
        self,
        form: TableForm,
        make: Callable[[TypedTable], TypedTable],
        *,
        restart_sequence: bool = False,
    ) -> Write[TypedTable]:
        """The write that puts what `make` makes of the newest definition, called on the writer.

        Indexes that are gone afterwards leave a note, so that their bytes go too. Whatever `make`
        raises refuses the change.
        """
        sequence = sequence_prefix(form.table.id)
        gone: list[Leftover] = []

        def body(txn: Transaction) -> TypedTable:
            before = self.current(form).table
            # A split may have come since what `make` knows of the table.
            after = replace(make(before), revision=before.revision + 1, splits=before.splits)
            kept = {index.id for index in after.indexes}
            gone[:] = [
                Leftover(index.id, (index_prefix(index.id),))
                for index in before.indexes
                if index.id not in kept
            ]
            for leftover in gone:
                txn.put(typed_dropped_key(leftover.id), _note(leftover))
            if restart_sequence:
                txn.delete(sequence)
            _put(txn, after)
            return after

        def settled(table: TypedTable) -> None:
            self._publish(table)
            self._leftovers.update({leftover.id: leftover for leftover in gone})

        shards = (*_SHARD, sequence) if restart_sequence else _SHARD
        return Write(shards, body, alone=True, settled=settled, doubted=self._doubt)

    def divide(
        self,
        form: TableForm,
        bounds: Callable[[tuple[bytes, ...]], tuple[bytes, ...]],
    ) -> Write[TypedTable]:
        """The write that puts what `bounds` makes of a top table's splits.

        It leaves the revision, because the definition stays: whoever evolves the table meanwhile
        notices nothing. Its body raises `NotFound`.
        """

        def body(txn: Transaction) -> TypedTable:
            before = self.current(form).table
            after = replace(before, splits=bounds(before.splits))
            _put(txn, after)
            return after

        return Write(_SHARD, body, alone=True, settled=self._publish, doubted=self._doubt)

    def drop(self, form: TableForm) -> Write[None]:
        """The write that removes a table and notes what must go.

        Its body raises `NotFound`, or `InvalidRequest` while there are child tables.
        """
        table = form.table
        leftover = _leftover_of(self.current(form).table)

        def body(txn: Transaction) -> None:
            self.current(form)
            if self.children(table.id):
                raise InvalidRequest(TypedRule.PARENT_HAS_CHILDREN, table=table.name)
            txn.delete(_record_key(table))
            txn.put(typed_dropped_key(table.id), _note(leftover))

        def settled(_: None) -> None:
            self._by_name.pop(_name(table), None)
            self._by_id.pop(table.id, None)
            self._leftovers[table.id] = leftover

        return Write(_SHARD, body, alone=True, settled=settled, doubted=self._doubt)

    def create_namespace(self, name: str) -> Write[None]:
        """The write that creates a namespace. Its body raises `Conflict`."""
        check_namespace(name)

        def body(txn: Transaction) -> None:
            if folded(name) in self._namespaces:
                raise Conflict(TypedRule.NAMESPACE_EXISTS, namespace=name)
            txn.put(namespace_key(folded(name)), name.encode())

        def settled(_: None) -> None:
            self._namespaces[folded(name)] = name

        return Write(_SHARD, body, alone=True, settled=settled, doubted=self._doubt)

    def drop_namespace(self, name: str) -> Write[None]:
        """The write that removes an empty namespace. Its body raises `NotFound` or `Conflict`."""

        def body(txn: Transaction) -> None:
            if folded(name) not in self._namespaces:
                raise NotFound(TypedRule.NAMESPACE_MISSING, namespace=name)
            if any(namespace == folded(name) for namespace, _ in self._by_name):
                raise Conflict(TypedRule.NAMESPACE_NOT_EMPTY, namespace=name)
            txn.delete(namespace_key(folded(name)))

        def settled(_: None) -> None:
            self._namespaces.pop(folded(name), None)

        return Write(_SHARD, body, alone=True, settled=settled, doubted=self._doubt)

    def forget(self, leftover: Leftover) -> Write[None]:
        """The write that takes a note away, once nothing is left of what it stands for."""

        def body(txn: Transaction) -> None:
            txn.delete(typed_dropped_key(leftover.id))

        def settled(_: None) -> None:
            self._leftovers.pop(leftover.id, None)

        return Write(_SHARD, body, alone=True, settled=settled, doubted=self._doubt)

    def _publish(self, table: TypedTable) -> None:
        form = TableForm(table)
        self._by_name[_name(table)] = form
        self._by_id[table.id] = form


def _name(table: TypedTable) -> tuple[str, str]:
    return folded(table.namespace), folded(table.name)


def _record_key(table: TypedTable) -> bytes:
    return typed_catalog_key(*_name(table))


def _put(txn: Transaction, table: TypedTable) -> None:
    txn.put(_record_key(table), encode_typed_table(table))


def _leftover_of(table: TypedTable) -> Leftover:
    """What a table's drop leaves behind."""
    prefixes = [sequence_prefix(table.id), *(index_prefix(index.id) for index in table.indexes)]
    if table.parent is None:
        prefixes += (row_prefix(table.id), statistics_prefix(table.id))
    return Leftover(table.id, tuple(prefixes), 0 if table.parent is None else table.top)


def _note(leftover: Leftover) -> bytes:
    prefixes = [prefix.hex() for prefix in leftover.prefixes]
    return json.dumps({"format": 1, "prefixes": prefixes, "top": leftover.top}).encode()


def _read_note(number: int, record: bytes) -> Leftover:
    try:
        note = json.loads(record)
        if note.pop("format") != 1:
            raise StoreDamaged(f"a note of a dropped table of an unknown format: {record!r}")
        prefixes = tuple(bytes.fromhex(prefix) for prefix in note["prefixes"])
        return Leftover(number, prefixes, int(note["top"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreDamaged(f"a note of a dropped table is not readable: {record!r}") from error
