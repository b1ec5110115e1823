"""A driver in memory that fails as a database across a network does.

For the layer over such databases (`storage/remote/optimistic.py`): several drivers, which stand for
processes, work on one `RemoteSpace`. By chance, as often as a `Weather` says:

* a commit is refused though its conditions hold;
* a commit finds the database busy, and nothing was written;
* a commit has no answer: it was made, or it was not, or it will be made later, if its conditions
  hold then;
* a page ends before it is full.

Shards are kept in `homes` places, and a commit must be of one place. A driver that is `placed`
keeps shards by ranges instead (`placement.py`), and refuses a shard that lies in two ranges.

A view shows each shard at a moment of its own (`space.py`). `before_commit` lets a test do
something between the bodies of a group and its commit; while `is_reachable` is false, no call
reaches the database, and begun commits have no answer. All chance comes from the entropy given.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from tests.support.placement import MemoryPlacement, Ranges
from tests.support.space import MovingView, Space
from tests.support.weather import CALM, Weather, happens

from widerow.clock import Entropy
from widerow.errors import OutcomeUnknown, StorageFailure, StoreBusy, StoreHangs
from widerow.storage.interface import Capabilities
from widerow.storage.page import Page, PageWanted
from widerow.storage.pending import WriteSet
from widerow.storage.remote.driver import ShardChange
from widerow.storage.remote.optimistic import OptimisticStore
from widerow.storage.server_state import ServerState
from widerow.storage.sockets import Sockets
from widerow.testing.clock import FakeEntropy

if TYPE_CHECKING:
    import threading

    from widerow.storage.placement import DataPlacement

__all__ = ["CALM", "MemoryDriver", "RemoteSpace", "Weather", "remote_store"]


SLOW_SECONDS_MAX = 30.0  # of a test


class RemoteSpace(Space):
    """The data that all drivers share, and the commits that may still be made later."""

    def __init__(self) -> None:
        """An empty space."""
        super().__init__()
        self.late: list[Sequence[ShardChange]] = []
        self.ranges = Ranges()

    def refused(self, changes: Sequence[ShardChange]) -> frozenset[bytes]:
        """The revisions that are not the expected ones."""
        return frozenset(
            change.revision_key
            for change in changes
            if self.value(change.revision_key, lambda _: True) != change.expected
        )

    def make(self, changes: Sequence[ShardChange]) -> None:
        """Make changes if all their conditions hold.

        For views, each shard is a commit of its own.
        """
        if self.refused(changes):
            return
        for change in changes:
            written = WriteSet()
            for start, stop in change.ranges:
                written.remove_range(start, stop)
            written.entries |= dict.fromkeys(change.deletes)
            written.entries |= change.puts
            written.entries[change.revision_key] = change.revision
            touched = [key for start, stop in change.ranges for key in self.keys(start, stop)]
            self.add((*written.entries, *touched), written)


class MemoryDriver:
    """One process's driver of a space, with the failures that the module describes."""

    capabilities = Capabilities(
        atomic_across_shards=False,
        reads_may_block=True,
        persistent=False,
        checkpoints=False,
        shared=True,
    )

    def __init__(
        self,
        space: RemoteSpace,
        entropy: Entropy,
        weather: Weather = CALM,
        homes: int = 1,
        *,
        placed: bool = False,
    ) -> None:
        """A driver of `space`, in this weather."""
        self.space = space
        self.homes = homes
        self.weather = weather
        self.is_reachable = True
        self.away: set[bytes] = set()  # homes that are not reachable
        self.full: set[bytes] = set()  # homes that can be read, and take no changes
        self.slow: dict[bytes, threading.Event] = {}  # homes whose calls wait for an event
        self.hangs = False  # whether calls of homes that are away wait instead of failing
        self.waits = 0  # reads that a patient caller would have waited for
        self.before_commit: Callable[[], None] | None = None
        self._entropy = entropy
        self._closed = False
        self._trips = 0
        self.placement: DataPlacement | None = (
            MemoryPlacement(self, space.ranges, space.lock) if placed else None
        )

    def view(self, *, patient: bool = True) -> "_DriverView":
        """A view that has not read yet."""
        return _DriverView(self, patient=patient)

    def read_many(self, keys: Sequence[bytes], *, patient: bool = True) -> list[bytes | None]:
        """The values of `keys` in their order, by a view of its own."""
        return self.view(patient=patient).read_many(keys)

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page, by a view of its own."""
        return self.view().read_page(start, stop, rows_max, reverse=reverse)

    def read_pages(self, wanted: Sequence[PageWanted]) -> list[Page]:
        """Pages, each by a view of its own."""
        return [
            self.read_page(start, stop, rows_max, reverse=reverse)
            for start, stop, rows_max, reverse in wanted
        ]

    def loop_reads(self, sockets: Sockets) -> None:  # memory is read on threads
        """None: memory has no sockets to read on a loop."""

    def home(self, revision_key: bytes) -> bytes:
        """One of the places, chosen by the key's bytes."""
        if self.placement is not None:
            return self.space.ranges.place(revision_key)
        return b"%d" % (sum(revision_key) % self.homes)

    def server(self, key: bytes) -> str:
        """One server for each place."""
        return self.home(key).hex()

    def try_home(self, revision_key: bytes) -> None:
        """Read the key, and check that its home takes changes."""
        self.read_many([revision_key], patient=False)
        self._check_room([revision_key])

    def commit(self, changes: Sequence[ShardChange]) -> frozenset[bytes]:
        """Make all changes or none, or leave their outcome open."""
        self.trip()
        if len({self.home(change.revision_key) for change in changes}) > 1:
            raise StoreBusy("shards of several homes are not committed together")
        self.check_here([change.revision_key for change in changes])
        self._check_room(change.revision_key for change in changes)
        if self.placement is not None:
            self._check_whole(changes)
        if self.before_commit is not None:
            self.before_commit()
        with self.space.lock:
            self._bring_late()
            if not self.is_reachable:
                return self._lose(changes)
            if self.chance(self.weather.busy):
                raise StoreBusy("the database is busy")
            if self.chance(self.weather.unknown):
                return self._lose(changes)
            refused = self.space.refused(changes)
            if not refused and self.chance(self.weather.refused):
                refused = frozenset((changes[0].revision_key,))
            if not refused:
                self.space.make(changes)
            return refused

    def _check_room(self, keys: Iterable[bytes]) -> None:
        if self.full and not self.full.isdisjoint(map(self.home, keys)):
            raise StoreBusy("a part of the database takes no changes")

    def _check_whole(self, changes: Sequence[ShardChange]) -> None:
        """Raise `StorageFailure` for a change of a shard that is in two ranges."""
        for change in changes:
            keys = (change.revision_key, *change.puts, *change.deletes)
            if len(set(map(self.space.ranges.place, keys))) > 1:
                raise StorageFailure(f"the shard of {change.revision_key.hex()} is cut")

    def _lose(self, changes: Sequence[ShardChange]) -> frozenset[bytes]:
        """Lose the answer to a commit, which is made or not."""
        if self.chance(0.5):
            self.space.late.append(changes)
        if self.chance(0.5):
            self._bring_late(1.0)
        raise OutcomeUnknown("the connection was lost")

    def _bring_late(self, rate: float = 0.3) -> None:
        """Make some of the commits that are late."""
        late, self.space.late = self.space.late, []
        for changes in late:
            if self.chance(rate):
                self.space.make(changes)
            else:
                self.space.late.append(changes)

    def trip(self) -> None:
        """Count a round trip. Raises `StorageFailure` once the driver is closed."""
        self.check_open()
        self._trips += 1

    def check_here(self, keys: Sequence[bytes], *, patient: bool = False) -> None:
        """Raise `StoreBusy` where one of the keys is in a home that is away.

        Homes do not come back during a call, so a `patient` call is counted and does not wait.
        """
        for event in [self.slow[home] for home in set(map(self.home, keys)) & self.slow.keys()]:
            assert event.wait(SLOW_SECONDS_MAX), "a test lets go what it holds"
        if self.away and not self.away.isdisjoint(map(self.home, keys)):
            self.waits += patient
            if self.hangs:
                raise StoreHangs("a part of the database does not answer")
            raise StoreBusy("a part of the database is away")

    def reachable(self, start: bytes, stop: bytes) -> bytes:
        """The start of the first range after `start` that is away; `stop` if none comes before it.

        For one space of tables. Raises as `check_here` where the range of `start` is away.
        """
        if self.placement is None or not self.away:
            return stop
        self.check_here((start,))
        bounds = [start[:1] + away[1:] for away in self.away]
        return min([stop, *[bound for bound in bounds if start < bound]])

    def chance(self, rate: float) -> bool:
        """True in `rate` of all cases."""
        return happens(self._entropy, rate)

    def check_open(self) -> None:
        """Raise `StorageFailure` once the driver is closed."""
        if self._closed:
            raise StorageFailure("the store is closed")

    def statistics(self) -> dict[str, int]:
        """`round_trips`: calls of this driver."""
        return {"round_trips": self._trips}

    def server_states(self) -> Sequence[ServerState]:
        """One for each home that is slow, with its silence unknown."""
        return [ServerState(home.hex(), waiting=1) for home in self.slow]

    def close(self) -> None:
        """End this driver; the space stays for the others."""
        self._closed = True


def remote_store(driver: MemoryDriver, seed: int = 0) -> OptimisticStore:
    """The layer over such a driver, with waits that take no time."""
    entropy = FakeEntropy(seed)
    return OptimisticStore(driver, token=entropy.token_bytes, rest=lambda _: None)


class _DriverView:
    """A view that begins with its first read."""

    def __init__(self, driver: MemoryDriver, *, patient: bool) -> None:
        self._driver = driver
        self._patient = patient
        self._view: MovingView | None = None

    def read_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order."""
        self._driver.check_here(keys, patient=self._patient)
        return self._reading().get_many(keys)

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page, which may end anywhere."""
        return self._page(self._reading(), PageWanted(start, stop, rows_max, reverse))

    def read_pages(self, wanted: Sequence[PageWanted], bytes_max: int) -> list[Page]:
        """Pages by one round trip, each of which ends at `bytes_max` bytes."""
        view = self._reading()
        return [self._page(view, each, bytes_max) for each in wanted]

    def _page(self, view: MovingView, wanted: PageWanted, bytes_max: int | None = None) -> Page:
        driver, reverse = self._driver, wanted.reverse
        end = wanted.start if reverse else wanted.stop
        if not reverse:
            wanted = wanted._replace(stop=driver.reachable(wanted.start, wanted.stop))
        rows_max = 1 if driver.chance(driver.weather.cut) else wanted.rows_max
        pairs, reached = view.page(wanted.start, wanted.stop, rows_max, reverse=reverse)
        kept = len(pairs)
        if pairs and driver.chance(driver.weather.cut):
            kept = len(pairs) // 2
        if bytes_max is not None:
            sizes = accumulate(len(value) for _, value in pairs)
            kept = min(kept, 1 + sum(size < bytes_max for size in sizes))
        if kept < len(pairs):
            left_out = pairs[kept][0]
            return Page(pairs[:kept], left_out + b"\x00" if reverse else left_out)
        return Page(pairs, None if reached == end else reached)

    def _reading(self) -> MovingView:
        driver = self._driver
        driver.trip()
        if not driver.is_reachable:
            raise StoreBusy("the database cannot be reached")
        if self._view is None:
            self._view = MovingView(driver, driver.space.newest)
        return self._view

    def close(self) -> None:
        """A view holds nothing."""
