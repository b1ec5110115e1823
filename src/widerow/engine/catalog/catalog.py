"""The catalogue in the store: how tables are looked up and how the catalogue is changed.

Readers ask the published state, a value that is replaced whole. Every change of the catalogue is a
check-and-set in one shard: its body reads the epoch, loads the state anew from its transaction if
it is another one, checks everything there, and raises the epoch with what it writes. The state that
it leaves is published when it is durable, before the next group starts (`Write.settle`).

Where the store is this process's own, the published state is the truth: a change commits in a group
of its own, so a body looks its table up and never sees one that a reader could lose. A change whose
outcome is not known leaves the state in doubt: the first body after it compares epochs again.

Where others may change the store (`Capabilities.shared`), readers compare epochs first, and load
the catalogue again where it is another one; not while a read lease holds (`nodes/nodes.py`), during
which no change is answered that this process does not know. Bodies name the epoch's key in
`Write.reads` and ask to be planned again (`Replan`) where it is not the one that they were planned
at; bodies of row writes rely on the read lease instead, while it holds. That alone does not keep a
row out of a table whose drop commits at the same moment, unless the store's transactions reach over
shards: so a drop note says until when such a transaction may still commit.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar, final

from mypy_extensions import mypyc_attr

from widerow.engine.catalog.draft import Draft, load_state, read_epoch
from widerow.engine.catalog.model import CatalogModel, CatalogModels, Numbered
from widerow.engine.catalog.read_lease import ReadLease
from widerow.engine.catalog.state import CatalogState, Leftover
from widerow.errors import OutcomeUnknown, Replan, StorageFailure, StoreDamaged
from widerow.keys.layout import (
    CATALOG_EPOCH_KEY,
    SPACE_STORE,
    STORE_FORMAT_KEY,
)
from widerow.limits import TRANSACTION_SECONDS_MAX
from widerow.storage.interface import Store, Transaction, Write

__all__ = [
    "STORE_FORMAT",
    "STORE_FORMAT_NUMBER",
    "UNRESTORED",
    "Catalog",
    "CatalogWrite",
    "Tables",
    "check_format",
]

STORE_FORMAT_NUMBER: Final = 1
"""Goes up with each change after which an earlier version could misread a store (docs/formats)."""
_FORMAT_NAME: Final = b"widerow "
STORE_FORMAT: Final = b"%b%d" % (_FORMAT_NAME, STORE_FORMAT_NUMBER)
"""The record of the store's format."""
UNRESTORED: Final = b"%brestoring " % _FORMAT_NAME
"""How that record begins while a backup is restored into the store."""

T = TypeVar("T", bound=Numbered)
R = TypeVar("R")


@final
class Catalog:
    """Every table of every model. Any thread may look; changes are writes."""

    def __init__(self, store: Store, models: CatalogModels) -> None:
        """Load the catalogue; make a new store ours. Raises `StoreDamaged` for a foreign one."""
        self._store = store
        self._known = models
        self.shard = (SPACE_STORE, *models)  # the prefixes that a change writes
        self.shared = store.capabilities.shared
        self.key_bytes_max = store.capabilities.key_bytes_max
        self.reads: tuple[bytes, ...] = (CATALOG_EPOCH_KEY,) if self.shared else ()
        self.unsure = self.shared  # whether bodies must not rely on the published state
        self._read_lease: ReadLease | None = None
        self._acknowledgement_of: Callable[[int], Callable[[], bool]] | None = None
        self._check: Callable[[], None] | None = None
        self.models: dict[type[Any], CatalogModel[Any]] = {}
        _claim(store)
        self.state: CatalogState = load_state(store.snapshot(), self._known, self.models)

    # --- looking up --------------------------------------------------------------------------

    def seen(self) -> CatalogState:
        """The state that readers and planning use.

        Cost: nothing, or one read where the store is shared and no read lease holds. Raises
        `StoreDamaged`.
        """
        if self.shared:
            lease = self._read_lease
            if lease is None or not lease.holds():
                self.renew()
        return self.state

    def go_by(
        self,
        lease: ReadLease,
        acknowledgement_of: Callable[[int], Callable[[], bool]],
        check: Callable[[], None],
    ) -> None:
        """Rely on the published state while the read lease holds.

        `acknowledgement_of` gives, for an epoch, a function that tells whether every server has
        acknowledged it. `check` raises `StoreBusy` where this process must not write.
        """
        self._read_lease = lease
        self._acknowledgement_of = acknowledgement_of
        self._check = check

    def planned(self) -> int:
        """The epoch that a row write is planned at, asked for before its table is looked up.

        -1 where bodies need not compare it. Raises `StoreBusy` where this process must not write.
        """
        if not self.shared:
            return -1
        if self._check is not None:
            self._check()
        return self.seen().epoch

    def lease_holds(self) -> bool:
        """Whether a read lease holds: the published state has every change that was answered."""
        return self._read_lease is not None and self._read_lease.holds()

    def under_lease(self, planned: int) -> CatalogState:
        """The state for a body that was planned under a read lease, and reads no epoch.

        Raises `Replan` where the lease has ended, or the catalogue is not at the epoch `planned`
        any more.
        """
        state = self.state
        if state.epoch != planned or not self.lease_holds():
            raise Replan
        return state

    def in_body(self, txn: Transaction | None, planned: int = -1) -> CatalogState:
        """The state for the body of a row write; without `txn`, the state for a reader.

        `planned`: what `planned()` gave. Raises `Replan` if the catalogue has changed since; the
        write must name `reads` for that.
        """
        if not self.unsure:
            return self.state
        if not self.shared:
            if txn is not None:
                # The outcome of the change is known by now, to the store and to its view.
                self.renew()
                self.unsure = False
            return self.state
        if txn is None:
            return self.seen()
        epoch, state = read_epoch(txn), self.state
        if state.epoch != epoch or (planned >= 0 and planned != epoch):
            if self._read_lease is not None:
                self._read_lease.end()
            raise Replan
        return state

    def renew(self) -> None:
        """Read the catalogue again if its epoch has changed.

        Cost: one read, or the whole catalogue.
        """
        snapshot = self._store.snapshot()
        if read_epoch(snapshot) != self.state.epoch:
            self.publish(load_state(snapshot, self._known, self.models))

    def holds(self, space: bytes) -> bool:
        """Whether the catalogue has had a record of a model's space since it was opened."""
        self.seen()
        return any(model.space == space for model in self.models.values())

    def leftovers(self) -> list[Leftover]:
        """What is still to be removed of dropped tables and indexes of every model."""
        return list(self.seen().leftovers.values())

    def tables(self) -> list[Any]:
        """Every table of every model, each as its model shows it."""
        return list(self.seen().by_id.values())

    def model_of(self, table: Numbered) -> CatalogModel[Any]:
        """The model that a table is of."""
        return self.models[type(table)]

    # --- changing ----------------------------------------------------------------------------

    def change(
        self, make: Callable[[Draft], R], *, due_us: int = 0, shards: tuple[bytes, ...] = ()
    ) -> "CatalogWrite[R]":
        """The write of a change: `make` makes it, in the transaction, from the state it finds.

        What `make` raises refuses the change. It may be called more than once. `due_us`: see
        `Leftover`. `shards`: what `make` writes beside the catalogue. Raises `StoreBusy` where this
        process must not write.
        """
        if self._check is not None:
            self._check()
        return CatalogWrite(self, make, due_us, shards)

    def due_us(self, now_us: int) -> int:
        """`Leftover.due_us` of what is dropped now."""
        return now_us + TRANSACTION_SECONDS_MAX * 1_000_000 if self.shared else 0

    def forget(self, leftover: Leftover) -> Write[None]:
        """The write that removes a drop note, once nothing is left of what was dropped."""
        return self.change(lambda draft: draft.forget(leftover))

    def state_in(self, txn: Transaction) -> CatalogState:
        """The state as a transaction of the catalogue's shard reads it, before it writes."""
        state = self.state
        if read_epoch(txn) != state.epoch:
            state = load_state(txn, self._known, self.models)
            self.publish(state)  # durable, whatever becomes of this transaction
        return state

    def publish(self, state: CatalogState) -> None:
        """Show a state to everybody, unless a newer one is shown already."""
        if state.epoch > self.state.epoch:
            self.state = state

    def doubt(self) -> None:
        """The outcome of a change is unknown: the next body reads the epoch."""
        self.unsure = True
        if self._read_lease is not None:
            self._read_lease.end()

    def acknowledgement_of(self, epoch: int) -> Callable[[], bool] | None:
        """What tells whether every server acknowledged an epoch; None: the store is not shared."""
        return None if self._acknowledgement_of is None else self._acknowledgement_of(epoch)


@final
class CatalogWrite(Write[R]):
    """A change of the catalogue: check-and-set, and published once it is durable."""

    __slots__ = ("_acknowledged", "_after", "_catalog", "_due_us", "_make")

    def __init__(
        self,
        catalog: Catalog,
        make: Callable[[Draft], R],
        due_us: int,
        shards: tuple[bytes, ...],
    ) -> None:
        # Drops and shorter lives of rows give room back, and all definitions together are small.
        super().__init__((*catalog.shard, *shards), alone=True, frees=True)
        self._catalog = catalog
        self._make = make
        self._due_us = due_us
        self._after: CatalogState | None = None
        self._acknowledged: Callable[[], bool] | None = None

    def run(self, txn: Transaction) -> R:
        """Make the change to the catalogue as it is now. Raises what refuses it."""
        draft = Draft(txn, self._catalog.state_in(txn), self._due_us)
        result = self._make(draft)
        self._after = draft.finish()
        return result

    def settle(self, result: R) -> None:  # noqa: ARG002  # the state says more than the answer
        """Publish the state that the change leaves: the change is durable."""
        after = self._after
        assert after is not None, "a write settles after it ran"
        self._catalog.publish(after)
        self._acknowledged = self._catalog.acknowledgement_of(after.epoch)

    def is_acknowledged(self) -> bool:
        """Whether every server of the store has acknowledged the change."""
        return self._acknowledged is None or self._acknowledged()

    def doubt(self) -> None:
        """The outcome of the change is unknown: the next body reads the epoch."""
        self._catalog.doubt()


@mypyc_attr(allow_interpreted_subclasses=True)
class Tables(Generic[T]):
    """The tables of one model."""

    def __init__(self, catalog: Catalog, model: CatalogModel[T]) -> None:
        self.catalog = catalog
        self.model = model
        self._space = model.space
        catalog.models[model.kind] = model

    def get(self, owner: str, name: str) -> T | None:
        """The table of that name, or None."""
        found: T | None = self.catalog.seen().by_name.get((self._space, owner, name))
        return found

    def find(self, owner: str, name: str) -> T:
        """The table of that name. Raises the model's `NotFound`."""
        catalog = self.catalog
        state = catalog.seen() if catalog.shared else catalog.state
        found: T | None = state.by_name.get((self._space, owner, name))
        if found is None:
            raise self.model.missing(owner, name)
        return found

    def under_lease(self, table: T, planned: int) -> T:
        """The table for a body that was planned under a read lease, and reads no epoch.

        Raises: the model's `NotFound`, `Replan`.
        """
        found: T | None = self.catalog.under_lease(planned).by_id.get(table.id)
        if found is None:
            raise self.model.gone(table)
        return found

    def current(self, table: T, txn: Transaction | None = None, planned: int = -1) -> T:
        """The table as it is now, which a body asks before it writes (`Catalog.in_body`).

        Raises: the model's `NotFound`, `Replan`.
        """
        catalog = self.catalog
        state = catalog.in_body(txn, planned) if catalog.unsure else catalog.state
        found: T | None = state.by_id.get(table.id)
        if found is None:
            raise self.model.gone(table)
        return found

    def by_id(self, table_id: int) -> T | None:
        """The table of that number, or None if it was dropped or is of another model."""
        found = self.catalog.seen().by_id.get(table_id)
        return found if isinstance(found, self.model.kind) else None

    def names(self, owner: str) -> list[str]:
        """The names of an owner's tables, sorted."""
        return self.catalog.seen().names(self._space, owner)

    def owned(self, owner: str) -> list[T]:
        """An owner's tables, sorted by name."""
        by_name = self.catalog.seen().by_name
        return [by_name[self._space, owner, name] for name in self.names(owner)]

    def all(self) -> list[T]:
        """Every table, sorted by owner and name."""
        by_name = self.catalog.seen().by_name
        return [by_name[key] for key in sorted(by_name) if key[0] == self._space]

    def leftovers(self) -> list[Leftover]:
        """What is still to be removed of dropped tables of this model and of parts of them."""
        return [each for each in self.catalog.leftovers() if each.key.startswith(self._space)]

    # --- changing ----------------------------------------------------------------------------

    def create(self, make: Callable[[Draft], T]) -> Write[T]:
        """The write that adds the table of `make`, which takes its number from the draft."""
        return self.catalog.change(lambda draft: draft.put(self.model, make(draft)))

    def change(self, table: T, make: Callable[[T], T], *, due_us: int = 0) -> Write[T]:
        """The write that replaces the newest definition of a table by what `make` makes of it.

        Its body raises the model's `NotFound`, and whatever `make` raises. Parts that the table has
        no more afterwards get a drop note with `due_us`.
        """

        def body(draft: Draft) -> T:
            return draft.put(self.model, make(draft.current(self.model, table)))

        return self.catalog.change(body, due_us=due_us)

    def drop(self, table: T, *, due_us: int = 0) -> Write[None]:
        """The write that removes a table and adds drop notes for all that it has at that moment.

        Its body raises the model's `NotFound`.
        """
        return self.catalog.change(
            lambda draft: draft.drop(self.model, draft.current(self.model, table)), due_us=due_us
        )


def _claim(store: Store) -> None:
    """Write the format record into a new store; another process may do that at the same moment."""
    found = store.snapshot().get(STORE_FORMAT_KEY)
    while found is None:
        holds_data = next(store.snapshot().scan(b"", b"\xff" * 8), None) is not None
        found = store.snapshot().get(STORE_FORMAT_KEY)
        if found is None and holds_data:
            raise StoreDamaged("the store holds data and no format record: not a widerow store")
        if found is None:
            with suppress(OutcomeUnknown):  # the next read decides
                store.transact((SPACE_STORE,), _put_format)
            found = store.snapshot().get(STORE_FORMAT_KEY)
    check_format(found)


def check_format(record: bytes) -> None:
    """Raise `StorageFailure` unless this version reads stores whose format record is `record`."""
    if record == STORE_FORMAT:
        return
    number = record.removeprefix(_FORMAT_NAME)
    if number.isdigit() and int(number) > STORE_FORMAT_NUMBER:
        raise StorageFailure(
            f"a newer version of widerow wrote the store: its format is {int(number)}, this "
            f"one reads {STORE_FORMAT_NUMBER}; open it with that version, or restore a backup"
        )
    if record.startswith(UNRESTORED):
        raise StorageFailure(
            "a backup is being restored into the store, or the restore was broken off: run "
            "widerow restore again"
        )
    raise StoreDamaged(f"the record of the store's format is not readable: {record[:200]!r}")


def _put_format(txn: Transaction) -> None:
    if txn.get(STORE_FORMAT_KEY) is None:
        txn.put(STORE_FORMAT_KEY, STORE_FORMAT)
