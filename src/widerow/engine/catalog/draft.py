"""A change of the catalogue, made in one transaction: what it writes, and the state afterwards."""

from collections.abc import Sequence
from typing import Any, TypeVar

from widerow.engine.catalog.model import CatalogModel, CatalogModels, Namespace, Numbered
from widerow.engine.catalog.notes import encode_note
from widerow.engine.catalog.state import EMPTY_STATE, CatalogState, Leftover
from widerow.keys.encode import after_prefix
from widerow.keys.layout import CATALOG_EPOCH_KEY, TABLE_ID_KEY
from widerow.storage.interface import Reader, Transaction

__all__ = ["Draft", "load_state", "read_epoch"]

T = TypeVar("T", bound=Numbered)


class Draft:
    """The catalogue in the middle of a change. Every record that it touches is of one shard.

    `state`: the catalogue as the change leaves it so far; whoever makes the change asks it and
    nothing else, because the published state may be of another moment. `txn`: for whoever writes
    records that are not of the catalogue.
    """

    __slots__ = ("due_us", "state", "txn")

    def __init__(self, txn: Transaction, before: CatalogState, due_us: int = 0) -> None:
        """A change of `before`, which is what `txn` reads. `due_us`: that of drop notes."""
        self.txn = txn
        self.state = before.copy(before.epoch + 1)
        self.due_us = due_us

    def number(self) -> int:
        """A new number for a table or an index. Numbers are never used again."""
        record = self.txn.get(TABLE_ID_KEY)
        number = 1 if record is None else int.from_bytes(record, "big")
        self.txn.put(TABLE_ID_KEY, (number + 1).to_bytes(4, "big"))
        return number

    def current(self, model: CatalogModel[T], table: T) -> T:
        """The table as it is now. Raises the model's error where it was dropped."""
        found: T | None = self.state.by_id.get(table.id)
        if found is None:
            raise model.gone(table)
        return found

    def put(self, model: CatalogModel[T], table: T) -> T:
        """Write the record of a table, new or changed, and drop notes for parts it has no more.

        Raises the model's `Conflict` where another table has a name that this one takes.
        """
        before = self.state.by_id.get(table.id)
        if model.named_with:
            self._check_names(model, table)
            if before is not None:
                _free_names(self.state, model, before)
        self.txn.put(*model.record_of(table))
        _show(self.state, model, table)
        if before is not None:
            for leftover in model.left_by_change(before, table, self.due_us):
                self.leave(leftover)
        return table

    def _check_names(self, model: CatalogModel[T], table: T) -> None:
        owner, taken = model.name_of(table)[0], self.state.taken
        for name in model.names_taken(table):
            if taken.get((model.named_with, owner, name), table.id) != table.id:
                raise model.name_refused(table, name)

    def drop(self, model: CatalogModel[T], table: T) -> None:
        """Remove a table from the catalogue, and add its drop note."""
        self._hide(model, table)
        self.leave(model.leftover_of(table, self.due_us))

    def erase(self, model: CatalogModel[T], table: T, prefixes: Sequence[bytes]) -> None:
        """Remove a table from the catalogue, and every key under its prefixes, which are shards.

        For stores whose transactions reach over shards: nothing is left to the sweep.
        """
        self._hide(model, table)
        for prefix in prefixes:
            self.txn.delete_range(prefix, after_prefix(prefix))

    def _hide(self, model: CatalogModel[T], table: T) -> None:
        self.txn.delete(model.record_of(table)[0])
        self.state.by_name.pop((model.space, *model.name_of(table)), None)
        self.state.by_id.pop(table.id, None)
        _free_names(self.state, model, table)

    def leave(self, leftover: Leftover) -> None:
        """Add a drop note."""
        self.txn.put(leftover.key, encode_note(leftover))
        self.state.leftovers[leftover.id] = leftover

    def forget(self, leftover: Leftover) -> None:
        """Remove a drop note, if it is still there."""
        self.txn.delete(leftover.key)
        self.state.leftovers.pop(leftover.id, None)

    def finish(self) -> CatalogState:
        """Write the next epoch; the state after this change."""
        self.txn.put(CATALOG_EPOCH_KEY, self.state.epoch.to_bytes(8, "big"))
        return self.state


def read_epoch(reader: Reader) -> int:
    """The epoch: how many changes the catalogue has had; 0 without a record (docs/formats)."""
    record = reader.get(CATALOG_EPOCH_KEY)
    return 0 if record is None else int.from_bytes(record, "big")


def load_state(
    reader: Reader, known: CatalogModels, met: dict[type[Any], CatalogModel[Any]]
) -> CatalogState:
    """The whole catalogue. Models of which there are records are added to `met`.

    Raises: `StoreDamaged`.
    """
    state = EMPTY_STATE.copy(read_epoch(reader))
    for space, load in known.items():
        model: CatalogModel[Any] | None = None
        for key, record in reader.scan(space, after_prefix(space)):
            if model is None:
                model = load()
                met[model.kind] = model
            found = model.read(key, record)
            if isinstance(found, Leftover):
                state.leftovers[found.id] = found
            elif isinstance(found, Namespace):
                state.namespaces[space, found.folded] = found.shown
            else:
                _show(state, model, found)
    return state


def _show(state: CatalogState, model: CatalogModel[T], table: T) -> None:
    state.by_name[(model.space, *model.name_of(table))] = table
    state.by_id[table.id] = table
    if model.named_with:
        owner = model.name_of(table)[0]
        for name in model.names_taken(table):
            state.taken[model.named_with, owner, name] = table.id


def _free_names(state: CatalogState, model: CatalogModel[T], table: T) -> None:
    owner = model.name_of(table)[0]
    for name in model.names_taken(table) if model.named_with else ():
        state.taken.pop((model.named_with, owner, name), None)
