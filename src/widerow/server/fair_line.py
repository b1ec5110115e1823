"""The line of statements: some run at a time, few of one owner, and owners take turns.

Whoever asks for many things at once waits for itself: a place that becomes free goes to the owner
that has waited longest for one, and no owner has more than its share of the places.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, final

from widerow.server.metrics import LineCounts
from widerow.server.schedule import Schedule

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["FairLine", "Owner"]

Owner = tuple[str, str]
"""Who asks: an instance, and the key that signed the request."""


class _Work(NamedTuple):
    """What is run on a thread, and then on the loop."""

    run: Callable[[], Any]
    back: "Callable[[Future[Any]], None]"


@final
class FairLine:
    """Work that waits for a place, and the places. On the loop's thread."""

    def __init__(
        self, schedule: Schedule, counts: LineCounts, places: int, places_of_one: int
    ) -> None:
        self._schedule = schedule
        self._counts = counts
        self._places = places
        self._places_of_one = places_of_one
        self._waiting: OrderedDict[Owner, deque[_Work]] = OrderedDict()  # the next owner first
        self._running: dict[Owner, int] = {}

    def add(
        self, owner: Owner, run: Callable[[], Any], back: "Callable[[Future[Any]], None]"
    ) -> None:
        """Run `run` on a thread when its turn has come, and then `back` on the loop."""
        self._waiting.setdefault(owner, deque()).append(_Work(run, back))
        self._counts.waiting += 1
        self._fill()

    def _fill(self) -> None:
        """Give free places to those whose turn it is."""
        while self._counts.running < self._places:
            owner = next(filter(self._may_run, self._waiting), None)
            if owner is None:
                return
            work = self._waiting[owner].popleft()
            if self._waiting[owner]:
                self._waiting.move_to_end(owner)  # behind the others that wait
            else:
                del self._waiting[owner]
            self._begin(owner, work)

    def _may_run(self, owner: Owner) -> bool:
        return self._running.get(owner, 0) < self._places_of_one

    def _begin(self, owner: Owner, work: _Work) -> None:
        self._counts.waiting -= 1
        self._counts.running += 1
        self._running[owner] = self._running.get(owner, 0) + 1

        def ended(done: "Future[Any]") -> None:
            self._counts.running -= 1
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]
            self._fill()
            work.back(done)

        self._schedule.start_statement(work.run, ended)
