"""Lanes: the parts of a group, one for each server of a divided database, run apart.

A server can be slow for seconds, because it hangs, collects garbage or waits for a disk, while the
others are quick. So each has a *lane*: a thread on which its parts of groups run one after another,
and further ones for its homes. A group waits for its parts `LATE_SECONDS`. What has not ended then
is *late*: the group ends without it, and the next one begins. Parts of later groups for a lane with
late ones are late at once, behind those. Writes of one shard stay in the lane that has late ones of
the shard, wherever the shard is by then, so that they run in their order and alone.

Whoever holds the store's lock concludes late parts that have ended: it tells their writes. The lane
goes on behind that, so a later write of the same shard begins when the earlier ones are published.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from widerow.errors import StoreBusy
from widerow.limits import COMMITS_TOGETHER_MAX, LATE_WRITES_MAX

if TYPE_CHECKING:
    from widerow.storage.interface import Outcome
    from widerow.storage.remote.units import Unit

__all__ = ["Lane", "Lanes", "LatePart", "Part"]

T = TypeVar("T")

_CROWDED: Final = "a server of the database is slow, and many writes wait for it"
_PARTED: Final = "shards that are to be committed together are waited for at two servers"


@final
class Lane:
    """The threads that work for one server. `late_writes`: how many of its writes are late."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.late_writes = 0
        self._line = ThreadPoolExecutor(1, f"widerow-lane-{server}")
        self._beside = ThreadPoolExecutor(COMMITS_TOGETHER_MAX - 1, f"widerow-commit-{server}")

    def begin(self, work: Callable[[], None]) -> None:
        """Run `work` behind what was begun before."""
        self._line.submit(work)

    def each(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Run all of `works`, the first on this thread, the others on threads of their own."""
        if not works:
            return []
        sent = [self._beside.submit(work) for work in works[1:]]
        try:
            first = works[0]()
        finally:
            wait(sent)
        return [first, *[each.result() for each in sent]]

    def close(self) -> None:
        """Return when everything that was begun has ended."""
        self._line.shutdown()
        self._beside.shutdown()


@final
class LatePart:
    """The writes of a part whose group has ended without it (`storage/late.py`). Any thread."""

    __slots__ = ("_has_ended", "_lock", "_told", "outcomes", "places")

    def __init__(self, places: Sequence[int]) -> None:
        self.places = places
        self.outcomes: Sequence[Outcome[Any]] = ()
        self._has_ended = False
        self._told: Callable[[], None] | None = None
        self._lock = threading.Lock()

    def when_ended(self, told: Callable[[], None]) -> None:
        """Call `told` once they have ended; at once if they have."""
        with self._lock:
            self._told = told
            if not self._has_ended:
                return
        told()

    def end(self, outcomes: "Sequence[Outcome[Any]]") -> None:
        """Note how they ended. Once."""
        with self._lock:
            self.outcomes = outcomes
            self._has_ended = True
            told = self._told
        if told is not None:
            told()


@final
class Part:
    """The units of a group that one lane runs.

    `late`: what its group knows of it, where that has ended without it; `error`: what no unit can
    be told of. `waited_ns`: for commits.
    """

    __slots__ = ("concluded", "ended", "error", "is_behind", "lane", "late", "units", "waited_ns")

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.units: list[Unit] = []
        self.is_behind = lane.late_writes > 0
        self.ended = False
        self.late: LatePart | None = None
        self.error: BaseException | None = None
        self.waited_ns = 0
        self.concluded = threading.Event()

    @property
    def size(self) -> int:
        """How many writes it has."""
        return sum(len(unit.writes) for unit in self.units)


@final
class Lanes:
    """The lanes of a store, and its late parts. For one group at a time, but for the lanes."""

    def __init__(self, run: Callable[[Part], int], told: Callable[[], None]) -> None:
        """`run`: runs the units of a part, and answers how long commits took; for a lane's thread.

        `told` is called on it when a late part has ended, which somebody is to conclude.
        """
        self._run = run
        self._told = told
        self._lanes: dict[str, Lane] = {}
        self._news = threading.Condition()
        self._late: dict[bytes, Lane] = {}  # by the revisions of shards with late writes
        self._late_parts: set[Part] = set()  # that are not concluded
        self._ended: list[Part] = []  # those of them that have ended

    def __len__(self) -> int:
        """How many servers were met so far."""
        return len(self._lanes)

    def lane(self, server: str) -> Lane:
        """The lane of a server."""
        found = self._lanes.get(server)
        if found is None:
            found = self._lanes[server] = Lane(server)
        return found

    def lanes(self) -> Iterable[Lane]:
        """Those of all servers met so far."""
        return list(self._lanes.values())

    @property
    def any_late(self) -> bool:
        """Whether a late part is not concluded."""
        return bool(self._late_parts)

    def parts(self, units: Iterable["Unit"], server_of: Callable[[bytes], str]) -> list[Part]:
        """The parts of a group; units that cannot wait end with an error, and are in none."""
        found: dict[Lane, Part] = {}
        for unit in units:
            late = {self._late[key] for key in unit.revisions if key in self._late}
            if len(late) > 1:
                unit.fail(StoreBusy(_PARTED))
                continue
            revision = next(iter(unit.revisions), None)
            server = "" if revision is None else server_of(revision)
            lane = late.pop() if late else self.lane(server)
            if lane.late_writes + len(unit.writes) > LATE_WRITES_MAX and lane.late_writes:
                unit.fail(StoreBusy(_CROWDED))
                continue
            part = found.get(lane)
            if part is None:
                part = found[lane] = Part(lane)
            part.units.append(unit)
        return list(found.values())

    def begin(self, parts: Iterable[Part]) -> None:
        """Run the parts, each in its lane."""
        for part in parts:
            part.lane.begin(lambda part=part: self._work(part))  # type: ignore[misc]  # mypy does not know the default of a lambda

    def wait(self, parts: Sequence[Part], seconds: float) -> list[Part]:
        """Wait for so long until the parts have ended; those that have not are late from now on.

        Nothing is waited for that is behind a late part.
        """
        deadline = monotonic() + seconds
        with self._news:
            while True:
                left = [part for part in parts if not part.ended]
                seconds = deadline - monotonic()
                if seconds <= 0 or all(part.is_behind for part in left):
                    for part in left:
                        self._leave(part)
                    return left
                self._news.wait(seconds)

    def _leave(self, part: Part) -> None:
        places = [write.place for unit in part.units for write in unit.writes]
        part.late = LatePart(places)
        part.lane.late_writes += len(places)
        self._late_parts.add(part)
        for unit in part.units:
            self._late.update(dict.fromkeys(unit.revisions, part.lane))

    def _work(self, part: Part) -> None:
        """Run a part, on its lane's thread."""
        try:
            part.waited_ns = self._run(part)
        except BaseException as error:  # noqa: BLE001  # raised by whoever waits for the part
            part.error = error
        with self._news:
            part.ended = True
            if part.late is not None:
                self._ended.append(part)
            self._news.notify_all()
        if part.late is not None:
            self._told()
            part.concluded.wait()

    @property
    def any_ended(self) -> bool:
        """Whether a late part has ended that nobody concludes yet."""
        return bool(self._ended)

    # --- late parts that have ended ----------------------------------------------------------

    def next_ended(self) -> Part | None:
        """A late part that has ended and that nobody concludes yet."""
        with self._news:
            return self._ended.pop(0) if self._ended else None

    def await_ended(self) -> None:
        """Wait until a late part has ended."""
        with self._news:
            self._news.wait_for(lambda: self._ended)

    def concluded(self, part: Part) -> None:
        """Forget a late part, whose writes were told how they ended; its lane goes on."""
        with self._news:
            self._late_parts.discard(part)
            part.lane.late_writes -= part.size
            held = {
                key for each in self._late_parts for unit in each.units for key in unit.revisions
            }
            for unit in part.units:
                for key in unit.revisions.keys() - held:
                    self._late.pop(key, None)
        part.concluded.set()

    def close(self) -> None:
        """Return when every part has ended."""
        for lane in self._lanes.values():
            lane.close()
