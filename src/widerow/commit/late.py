"""Plans with late writes: their group has ended without them (storage/interface.py, rule 18).

A plan waits here until all of its late writes have ended, and ends then in a turn like any other.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

from widerow.commit.waiting import Waiting
from widerow.storage.interface import Outcome
from widerow.storage.late import LateWrites

__all__ = ["LatePlans"]


@final
class _LatePlan:
    """A plan, the outcomes of its writes as far as they have ended, and how many have not."""

    __slots__ = ("left", "outcomes", "waiting")

    def __init__(self, waiting: Waiting, outcomes: list[Outcome[Any]], left: int) -> None:
        self.waiting = waiting
        self.outcomes = outcomes
        self.left = left


@final
class LatePlans:
    """The plans that wait. Any thread; `set_aside` and `taken` for whoever has the turn."""

    def __init__(self, look: Callable[[], None]) -> None:
        """`look` is called, on any thread, when a plan can be taken."""
        self._look = look
        self._plans: set[_LatePlan] = set()
        self._ended: list[_LatePlan] = []
        self._news = threading.Condition()

    def __bool__(self) -> bool:
        """Whether a plan waits, or was not taken yet."""
        return bool(self._plans)

    @property
    def any_ended(self) -> bool:
        """Whether a plan can be taken."""
        return bool(self._ended)

    def set_aside(
        self,
        group: Sequence[Waiting],
        outcomes: Sequence[Outcome[Any]],
        late: Sequence[LateWrites],
    ) -> tuple[list[Waiting], list[Outcome[Any]]]:
        """Keep the plans with late writes; the others, and the outcomes of their writes."""
        places = {place for each in late for place in each.places}
        rest: list[Waiting] = []
        rest_outcomes: list[Outcome[Any]] = []
        kept: dict[int, tuple[_LatePlan, int]] = {}  # by places: the plan, and the place in it
        start = 0
        for waiting in group:
            stop = start + len(waiting.plan.writes)
            theirs = [place for place in range(start, stop) if place in places]
            if theirs:
                plan = _LatePlan(waiting, list(outcomes[start:stop]), len(theirs))
                self._plans.add(plan)
                kept |= {place: (plan, place - start) for place in theirs}
            else:
                rest.append(waiting)
                rest_outcomes += outcomes[start:stop]
            start = stop
        for each in late:
            each.when_ended(partial(self._note, each, kept))
        return rest, rest_outcomes

    def _note(self, late: LateWrites, kept: dict[int, tuple[_LatePlan, int]]) -> None:
        """Take the outcomes of late writes that have ended."""
        with self._news:
            for place, outcome in zip(late.places, late.outcomes, strict=True):
                plan, number = kept[place]
                plan.outcomes[number] = outcome
                plan.left -= 1
                if not plan.left:
                    self._ended.append(plan)
            self._news.notify_all()
        self._look()

    def taken(self) -> list[tuple[Waiting, list[Outcome[Any]]]]:
        """The plans whose writes have all ended, with the outcomes; they wait no more."""
        if not self._ended:
            return []
        with self._news:
            ended, self._ended = self._ended, []
            self._plans.difference_update(ended)
        return [(each.waiting, each.outcomes) for each in ended]

    def wait(self, seconds: float) -> None:
        """Wait until a plan can be taken, for so long at most."""
        with self._news:
            self._news.wait_for(lambda: self._ended or not self._plans, seconds)
