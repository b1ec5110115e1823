"""What an instance holds, as a value, and the plan that makes an instance hold it again.

For tests: between two of them an instance goes back to what it was, or to nothing. A copy has all
that can be read of the instance's tables; what that is, each table model says (`ModelCopy`). A
reset drops every table of the instance and puts the copied ones in their place under new numbers,
so nothing that is remembered of the former tables is taken for theirs: counts and locks begin anew.
Tables of models that copy nothing stay as they are.

Requests see the instance before or after a reset. Where the store's transactions reach over shards,
all of it is one write. Elsewhere the copied records are written under numbers that no table has
yet, beside a drop note for each of them, so that the sweep removes what a reset leaves that ends in
the middle; then one change of the catalogue exchanges the tables and removes these notes. What is
dropped there is left to the sweep, and what is copied is of one moment: where the store's snapshots
are not, it is copied until twice the same was found, so that nothing has changed in between.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple

from widerow.engine.catalog.draft import Draft, read_epoch
from widerow.engine.catalog.model import CatalogModel
from widerow.engine.catalog.state import CatalogState, Leftover
from widerow.engine.copying import CopyMoment, CopyRefused, ModelCopy, PlacedTables
from widerow.engine.engine import Engine
from widerow.engine.plan import Plan, failing, single
from widerow.engine.shard_ranges import shard_ranges
from widerow.errors import Replan
from widerow.keys.layout import ROW_PREFIX_BYTES, TABLE_ID_KEY, revision_key
from widerow.limits import (
    COPY_ATTEMPTS_MAX,
    COPY_BYTES_MAX,
    RESET_GROUP_BYTES,
    RESET_SECONDS_MAX,
)
from widerow.storage.interface import Outcome, Snapshot, Transaction, Write
from widerow.storage.read_anew import read_anew

__all__ = [
    "EMPTY_COPY",
    "InstanceCopy",
    "copy_instance",
    "reset_instance",
]


class InstanceCopy(NamedTuple):
    """A copy of every table of an instance at one moment."""

    parts: tuple[ModelCopy, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the copied tables, without indexes."""
        return tuple([name for part in self.parts for name in part.names])

    @property
    def rows(self) -> int:
        """Records of rows in the copied tables; a wide row counts once for each of its segments."""
        return sum(part.rows for part in self.parts)

    @property
    def size(self) -> int:
        """Bytes of the copied records."""
        return sum(part.size for part in self.parts)


EMPTY_COPY: Final = InstanceCopy(())


def copy_instance(engine: Engine, instance: str) -> InstanceCopy:
    """What the instance holds now. Cost: a read of all of it, or a few, which stays in memory.

    Raises `CopyRefused` where it is more than `COPY_BYTES_MAX`, where a table has something that a
    copy cannot hold, and where the store cannot show one moment and the instance is written all the
    time; `CopyNotYet` where changes wait to be moved, which takes a moment.
    """
    copy = read_anew(partial(_copied, engine, instance))
    if engine.store.capabilities.shows_one_moment:
        return copy
    for _ in range(COPY_ATTEMPTS_MAX):
        before, copy = copy, read_anew(partial(_copied, engine, instance))
        if [part.tables for part in before.parts] == [part.tables for part in copy.parts]:
            return copy
    raise CopyRefused(f"instance {instance!r} is written all the time; keep a snapshot in a pause")


def _copied(engine: Engine, instance: str) -> InstanceCopy:
    store, catalog = engine.store, engine.catalog
    while True:
        moment = CopyMoment(store.snapshot(), catalog.seen(), not store.capabilities.shared)
        if read_epoch(moment.reader) == moment.state.epoch:
            break
        catalog.renew()
    parts: list[ModelCopy] = []
    for model in engine.open_models():
        room = COPY_BYTES_MAX - sum(part.size for part in parts)
        copied = model.copied(moment, instance, room)
        if copied is not None:
            parts.append(copied)
    return InstanceCopy(tuple(parts))


def reset_instance(engine: Engine, instance: str, copy: InstanceCopy, now_us: int) -> Plan[None]:
    """Let the instance hold what `copy` holds and nothing else. `now_us`: when logs begin."""
    reset = _Reset(engine, instance, copy, now_us)
    if engine.store.capabilities.atomic_across_shards:
        return reset.at_once()
    return reset.reserving() if any(part.numbers for part in copy.parts) else reset.exchanging()


class _Reset:
    """A reset as plans. `placed` and `notes`: the copied tables under their new numbers."""

    def __init__(self, engine: Engine, instance: str, copy: InstanceCopy, now_us: int) -> None:
        self._engine = engine
        self._instance = instance
        self._copy = copy
        self._now_us = now_us
        self._placed: list[PlacedTables] = []
        self._notes: list[Leftover] = []

    def at_once(self) -> Plan[None]:
        """All of it in one write, planned again where the instance got other tables meanwhile."""
        catalog = self._engine.catalog
        planned = self._owned(catalog.seen())
        first = _next_number(self._engine.store.snapshot())
        numbers = range(first, first + sum(part.numbers for part in self._copy.parts))

        def make(draft: Draft) -> None:
            present = self._owned(draft.state)
            if [table.id for _, table in present] != [table.id for _, table in planned]:
                raise Replan
            for model, table in present:
                draft.erase(model, table, model.leftover_of(table, 0).prefixes)
            self._place(_numbered(draft, numbers))
            self._show(draft)
            for key, record in self._records():
                draft.txn.put(key, record)

        gone = {each for model, table in planned for each in model.leftover_of(table, 0).prefixes}
        filled = {p for part in self._copy.parts for number in numbers for p in part.filled(number)}
        write = catalog.change(make, due_us=0, shards=(*sorted(gone), *sorted(filled)))
        return Plan((write,), self._finish, self._copy.size, lambda _: self.at_once())

    def reserving(self) -> Plan[None]:
        """Draw the numbers, and note that what stands under them goes unless it is exchanged."""

        def make(draft: Draft) -> None:
            self._place(draft.number)
            unused_us = self._now_us + RESET_SECONDS_MAX * 1_000_000
            self._notes = [model.leftover_of(table, unused_us) for model, table in self._tables()]
            for note in self._notes:
                draft.leave(note)

        def again(_: Sequence[Outcome[Any]]) -> Plan[None]:
            return self._filling(deque(_groups(self._writes())))

        write = self._engine.catalog.change(make)
        return Plan((write,), _go_on, self._copy.size, again, prepares=True)

    def _filling(self, groups: "deque[tuple[Write[None], ...]]") -> Plan[None]:
        """Write the records, a group at a time."""

        def again(_: Sequence[Outcome[Any]]) -> Plan[None]:
            return self._filling(groups) if groups else self.exchanging()

        writes = groups.popleft() if groups else ()
        return Plan(writes, _go_on, self._copy.size, again, prepares=True)

    def exchanging(self) -> Plan[None]:
        """Drop the tables that are there, and show those whose records are written."""
        catalog = self._engine.catalog

        def make(draft: Draft) -> None:
            if any(note.id not in draft.state.leftovers for note in self._notes):
                raise Replan  # it took so long that the sweep has removed them
            for note in self._notes:
                draft.forget(note)
            for model, table in self._owned(draft.state):
                draft.drop(model, table)
            self._show(draft)

        def again(_: Sequence[Outcome[Any]]) -> Plan[None]:
            return reset_instance(self._engine, self._instance, self._copy, self._now_us)

        write = catalog.change(make, due_us=catalog.due_us(self._now_us))
        return Plan((write,), self._finish, self._copy.size, again)

    # --- parts of plans ----------------------------------------------------------------------

    def _owned(self, state: CatalogState) -> list[tuple[CatalogModel[Any], Any]]:
        """Every table and index of the instance whose model copies tables, with its model."""
        models = [each.tables.model for each in self._engine.open_models() if each.copies]
        return [(model, table) for model in models for table in model.owned(state, self._instance)]

    def _place(self, number: Callable[[], int]) -> None:
        self._placed = [part.under(number, self._now_us) for part in self._copy.parts]

    def _tables(self) -> list[tuple[CatalogModel[Any], Any]]:
        return [each for placed in self._placed for each in placed.tables]

    def _records(self) -> Iterator[tuple[bytes, bytes]]:
        return chain.from_iterable([placed.records for placed in self._placed])

    def _show(self, draft: Draft) -> None:
        for model, table in self._tables():
            draft.put(model, table)

    def _finish(self, outcomes: Sequence[Outcome[None]]) -> None:
        single(outcomes)
        for placed in self._placed:
            placed.placed()

    def _writes(self) -> Iterator[tuple[int, Write[None]]]:
        """A write for each shard of the copied tables, with its bytes."""
        ends = {
            space + found.number.to_bytes(4, "big"): found.end
            for model, table in self._tables()
            for found in shard_ranges(model, table)
            for space in found.spaces
        }
        shards: dict[bytes, list[tuple[bytes, bytes]]] = {}
        for key, record in self._records():
            end = ends[key[:ROW_PREFIX_BYTES]](key)
            shards.setdefault(revision_key(key[:end]), []).append((key, record))
        for records in shards.values():
            prefixes = {key[: ends[key[:ROW_PREFIX_BYTES]](key)] for key, _ in records}
            size = sum([len(key) + len(record) for key, record in records])
            yield size, Write(tuple(prefixes), partial(_put, records))


def _groups(writes: Iterable[tuple[int, Write[None]]]) -> Iterator[tuple[Write[None], ...]]:
    """Writes in groups of about `RESET_GROUP_BYTES`."""
    group: list[Write[None]] = []
    size = 0
    for more, write in writes:
        group.append(write)
        size += more
        if size >= RESET_GROUP_BYTES:
            yield tuple(group)
            group, size = [], 0
    if group:
        yield tuple(group)


def _go_on(outcomes: Sequence[Outcome[Any]]) -> None:
    """The step is made, and the next one is to be planned. Raises the error of a step."""
    failing(outcomes)
    raise Replan


def _put(records: Sequence[tuple[bytes, bytes]], txn: Transaction) -> None:
    for key, record in records:
        txn.put(key, record)


def _numbered(draft: Draft, numbers: range) -> Callable[[], int]:
    """Gives `numbers` to new tables. Raises `Replan` where other tables got them meanwhile."""

    def number() -> int:
        given = draft.number()
        if given not in numbers:
            raise Replan
        return given

    return number


def _next_number(reader: Snapshot) -> int:
    record = reader.get(TABLE_ID_KEY)
    return 1 if record is None else int.from_bytes(record, "big")
