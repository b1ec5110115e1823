"""Whatever dies when: what was written is in the files, and their last word is right (change §D3).

A law: for any history of puts, updates and deletes, with splits, and crashes of the worker between
any two things that it asks of the disk or the store, all files together, read in their order, have
every put and update since the task began at least once, and the last value of each key.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import delete, put, put_cells, update
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples
from tests.unit.server.delivery.world import CONFIG, WAIT, World, order, parquet

from widerow.engine.plan import Plan
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.keys.encode import encode_key_value
from widerow.model.tablestore.delivery import DeliveryType
from widerow.server.delivery import task as task_module
from widerow.server.delivery.files import Disk
from widerow.storage.interface import Store
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeEntropy

pytestmark = pytest.mark.timeout(180)
KEYS: Final = "abcdef"
keys = st.sampled_from(KEYS)
History = list[tuple[str, Any]]
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), keys),
        st.tuples(st.just("update"), keys),
        st.tuples(st.just("delete"), keys),
        st.tuples(st.just("split"), keys),
        st.tuples(st.just("work"), st.integers(1, 4)),
        st.tuples(st.just("wait"), st.sampled_from([30, WAIT, WAIT + 40])),
        st.tuples(st.just("crash"), st.integers(0, 25)),
        st.tuples(st.just("restart"), st.just(0)),
    ),
    max_size=40,
)


class Crash(BaseException):
    """The process ends here."""


class Fuse:
    """Ends the process when so much more was asked for."""

    def __init__(self) -> None:
        self.left: int | None = None

    def burn(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Crash


class CrashingDisk(Disk):
    """A disk before and behind each of whose answers the process may end."""

    def __init__(self, fuse: Fuse) -> None:
        self.fuse = fuse

    def open_directory(self, name: str, parent: int) -> int:
        self.fuse.burn()
        return super().open_directory(name, parent)

    def sync(self, file: int) -> None:
        self.fuse.burn()
        super().sync(file)

    def rename(self, before: str, after: str, directory: int) -> None:
        self.fuse.burn()
        super().rename(before, after, directory)
        self.fuse.burn()


class CrashingWorld(World):
    """A world whose worker ends at random, and comes back."""

    def __init__(self, root: Path, store: Store) -> None:
        self.fuse = Fuse()
        self.splits: set[str] = set()
        self.values = 0
        self.written: list[tuple[str, int]] = []  # since the task began
        self.table: dict[str, int] = {}
        super().__init__(root, CrashingDisk(self.fuse), store)

    def start(self) -> None:
        super().start()
        commit: Callable[[Plan[Any]], Any] = self.engine.core.run

        def run(plan: Plan[Any]) -> Any:  # noqa: ANN401  # what the plan answers
            self.fuse.burn()
            answer = commit(plan)
            self.fuse.burn()
            return answer

        self.worker._parts = self.worker._parts._replace(run=run)

    def guarded(self, does: Callable[[], object]) -> None:
        try:
            does()
        except Crash:
            self.fuse.left = None
            self.start()

    def apply(self, step: str, given: Any) -> None:  # noqa: ANN401  # a key or a number
        if step in ("put", "update"):
            self.values += 1
            value = self.values
            cells = {"n": value}
            key = {"k": given}
            change = put("t", key, cells) if step == "put" else update("t", key, put_cells(cells))
            self.write(change)
            self.written.append((given, value))
            self.table[given] = value
        elif step == "delete":
            self.write(delete("t", {"k": given}))
            self.table.pop(given, None)
        elif step == "split":
            self.split(given)
        elif step == "work":
            for _ in range(given):
                self.guarded(self.worker.step)
        elif step == "wait":
            self.clock.advance(given)
        elif step == "crash":
            self.fuse.left = given
        else:
            self.guarded(self.worker.finish)
            self.start()

    def split(self, key: str) -> None:
        self.splits ^= {key}
        bounds = tuple(encode_key_value(each) for each in sorted(self.splits))
        table = self.engine.describe_table("i", "t")
        change = self.engine.tables.change(
            table, lambda found: TABLESTORE_MODEL.with_bounds(found, bounds)
        )
        self.engine.core.run(Plan((change,), lambda _: None))
        self.clock.advance(0.001)

    def delivered(self) -> list[tuple[str, int]]:
        """What all files say, in the order of concurrent ids, sequences and directories."""
        paths = sorted(self.root.rglob("*.parquet"), key=lambda path: (order(path), path.parts))
        return [
            (row["k"], row["number"])
            for path in paths
            for row in parquet.read_table(path).to_pylist()
        ]


def _strict() -> Store:
    """A store of which no transaction reaches two shards, and some meet others."""
    return StrictStore(StrictSpace(), FakeEntropy(3), conflicts=0.2)


STORES: Final = (MemoryStore, _strict)


def check(
    kind: DeliveryType, store: Store, before: list[str], history: History, bound: int
) -> None:
    with tempfile.TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        patch.setattr(task_module, "DELIVERY_BUFFER_ROWS_MAX", bound)
        world = CrashingWorld(Path(root), store)
        for key in before:
            world.apply("put", key)
        if kind is DeliveryType.INC:
            world.table.clear()  # what nobody writes again is not delivered
        world.written.clear()
        world.clock.advance(1)
        world.create(kind, CONFIG._replace(prefix="$yyyy$MM$dd$HH$mm"))
        for step, operand in history:
            world.apply(step, operand)
        world.fuse.left = None
        for _ in range(8):  # rows, then shard after shard behind its parents
            world.deliver()
        delivered = world.delivered()
        assert set(world.written) <= set(delivered)
        last = dict(delivered)
        assert {key: last[key] for key in world.table} == world.table


@pytest.mark.parametrize("make_store", STORES)
@pytest.mark.parametrize("kind", [DeliveryType.BASE_INC, DeliveryType.INC])
@settings(max_examples=examples(25), deadline=None)
@given(before=st.lists(keys, max_size=4), history=steps, bound=st.sampled_from([1, 3, 1000]))
def test_the_files_say_what_was_written(
    kind: DeliveryType,
    make_store: Callable[[], Store],
    before: list[str],
    history: History,
    bound: int,
) -> None:
    check(kind, make_store(), before, history, bound)


@pytest.mark.parametrize("kind", [DeliveryType.BASE_INC, DeliveryType.INC])
@pytest.mark.parametrize("moment", range(24))
def test_a_crash_at_each_moment_of_a_delivery(kind: DeliveryType, moment: int) -> None:
    history: History = [("put", "b"), ("crash", moment), ("work", 4), ("put", "b"), ("work", 4)]
    check(kind, MemoryStore(), ["a"], history, 1)
