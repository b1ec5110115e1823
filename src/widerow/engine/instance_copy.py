"""What an instance holds, as a value, and the plan that makes an instance hold it again.

For tests: between two of them an instance goes back to what it was, or to nothing. A copy has all
that can be read of the instance's tables; what that is, each table model says (`ModelCopy`). A
reset drops every table of the instance and puts the copied ones in their place under new numbers,
so nothing that is remembered of the former tables is taken for theirs: counts and locks begin anew.
Tables of models that copy nothing stay as they are.

All of it is one write of the catalogue's shard: requests see the instance before or after it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from widerow.engine.catalog.draft import Draft, read_epoch
from widerow.engine.catalog.model import CatalogModel
from widerow.engine.catalog.state import CatalogState
from widerow.engine.copying import CopyMoment, CopyRefused, ModelCopy
from widerow.engine.engine import Engine
from widerow.engine.plan import Plan, single
from widerow.errors import Replan
from widerow.keys.layout import TABLE_ID_KEY
from widerow.limits import COPY_BYTES_MAX
from widerow.storage.interface import Outcome, Snapshot

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
    """What the instance holds now. Cost: a read of all of it, which stays in memory.

    Raises `CopyRefused` where it is more than `COPY_BYTES_MAX`, where a table has something that a
    copy cannot hold, and for a store whose transactions do not reach over shards.
    """
    store, catalog = engine.store, engine.catalog
    if not store.capabilities.atomic_across_shards:
        raise CopyRefused("snapshots need a store of one process: memory or RocksDB")
    while True:
        moment = CopyMoment(store.snapshot(), catalog.seen())
        if read_epoch(moment.reader) == moment.state.epoch:
            break
    parts: list[ModelCopy] = []
    for model in engine.open_models():
        room = COPY_BYTES_MAX - sum(part.size for part in parts)
        copied = model.copied(moment, instance, room)
        if copied is not None:
            parts.append(copied)
    return InstanceCopy(tuple(parts))


def reset_instance(engine: Engine, instance: str, copy: InstanceCopy, now_us: int) -> Plan[None]:
    """Let the instance hold what `copy` holds and nothing else. `now_us`: when logs begin.

    Where the store's transactions do not reach over shards, what is dropped is left to the sweep,
    and nothing but an empty copy can be put back.
    """
    store, catalog = engine.store, engine.catalog
    due_us = catalog.due_us(now_us)
    whole = store.capabilities.atomic_across_shards
    planned = _owned(engine, catalog.seen(), instance)
    first = _next_number(store.snapshot())
    numbers = range(first, first + sum(part.numbers for part in copy.parts))
    placed: list[Callable[[], None]] = []

    def make(draft: Draft) -> None:
        present = _owned(engine, draft.state, instance)
        if not whole:
            for model, table in present:
                draft.drop(model, table)
            return
        if [table.id for _, table in present] != [table.id for _, table in planned]:
            raise Replan
        for model, table in present:
            draft.erase(model, table, model.leftover_of(table, 0).prefixes)
        placed.clear()
        number = _numbered(draft, numbers)
        placed.extend(part.put_back(draft, number, now_us) for part in copy.parts)

    def finish(outcomes: Sequence[Outcome[None]]) -> None:
        single(outcomes)
        for take_over in placed:
            take_over()

    shards: list[bytes] = []
    if whole:
        shards += [
            each for model, table in planned for each in model.leftover_of(table, 0).prefixes
        ]
        filled = {p for part in copy.parts for number in numbers for p in part.filled(number)}
        shards += sorted(filled)
    write = catalog.change(make, due_us=due_us, shards=tuple(shards))
    return Plan(
        (write,),
        finish,
        copy.size,
        lambda _: reset_instance(engine, instance, copy, now_us),
    )


def _owned(
    engine: Engine, state: CatalogState, instance: str
) -> list[tuple[CatalogModel[Any], Any]]:
    """Every table and index of an instance whose model copies tables, with its model."""
    models = [each.tables.model for each in engine.open_models() if each.copies]
    return [(model, table) for model in models for table in model.owned(state, instance)]


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
