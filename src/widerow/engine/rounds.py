"""How far work on many queues has come that goes round, and up to which moment it is done.

Whoever works off queues of records passes over all of them again and again. Of each queue he takes
a portion in a pass; a queue that has more is gone on with in the next pass behind that portion, to
its end and then from its start: that is a round over the queue. So no record waits for others of
its queue for longer than a round, and no queue for another one for longer than a pass.

What was there when a round, or a pass, began has been met when it ends. From this follows a moment
for each queue before which everything is done, whatever came later (`done_until`).
"""

from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar, final

__all__ = ["Rounds"]

Q = TypeVar("Q", bound=Hashable)
N = TypeVar("N", bound=Hashable)


class _Taken(NamedTuple, Generic[Q, N]):
    """A record that was taken: of which queue, whom it concerns, and when it was left."""

    queue: Q
    names: tuple[N, ...]
    time_us: int


@final
class _Queue(Generic[N]):
    """A queue in which a round has begun and not ended, or in which something stayed.

    `position`: where the round goes on; b"" between two rounds. `began_us`: when it began.
    `floor_us`: what was left before is done, but for what stayed; None: not known. `stayed`: of the
    last round, and `staying`: of this one, the time of the oldest record that stays, by name.
    `oldest_us`: of all records that were met as long as `floor_us` is not known. `is_unread`: it
    was visited, and could not be read to the end of a portion.
    """

    __slots__ = (
        "began_us",
        "floor_us",
        "is_unread",
        "oldest_us",
        "position",
        "stayed",
        "staying",
    )

    def __init__(self, began_us: int, floor_us: int | None) -> None:
        self.position = b""
        self.began_us = began_us
        self.floor_us = floor_us
        self.stayed: dict[N, int] = {}
        self.staying: dict[N, int] = {}
        self.oldest_us: int | None = None
        self.is_unread = False

    def is_done_since(self, moment_us: int | None) -> bool:
        """Whether everything that was left in it before the moment is done.

        A round that began before the moment has not met what was left behind its position since.
        """
        if self.position or self.is_unread or self.stayed or self.staying:
            return False
        return moment_us is None or (self.floor_us is not None and self.floor_us >= moment_us)

    def stays(self, names: Iterable[N], time_us: int) -> None:
        for name in names:
            self.staying[name] = min(time_us, self.staying.get(name, time_us))

    def ends(self) -> None:
        self.floor_us, self.oldest_us = self.began_us, None
        self.stayed, self.staying, self.position = self.staying, {}, b""


@final
class Rounds(Generic[Q, N]):
    """Rounds over queues of type `Q`, whose records concern names of type `N`.

    For one caller at a time, but for `done_until` and `has_more`, which any thread may call. Times
    are in microseconds since 1970.
    """

    def __init__(self) -> None:
        self._queues: dict[Q, _Queue[N]] = {}
        self._taken: dict[bytes, _Taken[Q, N]] = {}  # and not done yet, by key
        self._ending: list[Q] = []  # queues whose rounds end with this step
        self._visited: set[Q] = set()  # in this pass
        self._now_us = 0
        self._pass_us: int | None = None  # when this pass began
        self._pass_ends = False
        self._passed_us: int | None = None  # when the last pass began that has ended

    def begin(self, now_us: int) -> None:
        """A step begins. What the last one took and was not `done` stays where it was."""
        self._now_us = now_us
        for queue, names, time_us in self._taken.values():
            self._queues[queue].stays(names, time_us)
        self._taken.clear()
        for queue in self._ending:
            self._queues[queue].ends()
        self._ending.clear()
        if self._pass_ends:
            self._passed_us, self._pass_us, self._pass_ends = self._pass_us, None, False
            self._queues = {
                queue: state
                for queue, state in self._queues.items()
                if queue in self._visited and not state.is_done_since(self._passed_us)
            }
        if self._pass_us is None:
            self._pass_us = now_us
            self._visited.clear()

    def visit(self, queue: Q) -> bytes:
        """Where the round of a queue goes on; b"": a round begins at its start."""
        self._visited.add(queue)
        state = self._queues.get(queue)
        if state is None:
            state = self._queues[queue] = _Queue(self._now_us, self._passed_us)
        elif not state.position:
            state.began_us = self._now_us
        state.is_unread = True
        return state.position

    def take(self, queue: Q, key: bytes, names: tuple[N, ...], time_us: int) -> None:
        """A record of a queue is worked off, which was left at that time."""
        self._taken[key] = _Taken(queue, names, time_us)
        self._meet(queue, time_us)

    def leave(self, queue: Q, names: tuple[N, ...], time_us: int) -> None:
        """A record of a queue is met that is not to be worked off yet."""
        self._queues[queue].stays(names, time_us)
        self._meet(queue, time_us)

    def _meet(self, queue: Q, time_us: int) -> None:
        state = self._queues[queue]
        if state.floor_us is None:
            state.oldest_us = min(time_us, state.oldest_us or time_us)

    def done(self, keys: Iterable[bytes]) -> None:
        """Records that were taken are worked off."""
        for key in keys:
            self._taken.pop(key, None)

    def goes_on(self, queue: Q, position: bytes) -> None:
        """The portion of a queue that was visited ends here: the next one begins at `position`."""
        state = self._queues[queue]
        state.position, state.is_unread = position, False

    def ends(self, queue: Q) -> None:
        """The portion of a queue that was visited reaches its end."""
        self._queues[queue].is_unread = False
        self._ending.append(queue)

    def pass_ends(self) -> None:
        """Every queue was visited in which anything was met since the pass began."""
        self._pass_ends = True

    @property
    def met(self) -> bool:
        """Whether any queue was visited since the pass began."""
        return bool(self._visited)

    @property
    def open(self) -> int:
        """How many queues there are to go on with: they had more than a portion."""
        states = self._queues.values()
        return sum([bool(state.position) and not state.is_unread for state in states])

    def has_more(self, queue: Q) -> bool:
        """Whether the last portion of a queue did not reach its end."""
        state = self._queues.get(queue)
        return state is not None and bool(state.position)

    def done_until(self, queue: Q, name: N) -> int | None:
        """Everything of a queue that concerns a name and was left before this moment is done.

        None where nothing is known: before the first pass has ended.
        """
        state = self._queues.get(queue)
        if state is None:
            return self._passed_us
        floor_us = state.oldest_us if state.floor_us is None else state.floor_us
        if floor_us is None:
            return self._passed_us
        stays = [each[name] for each in (state.stayed, state.staying) if name in each]
        return min(floor_us, *stays) if stays else floor_us
