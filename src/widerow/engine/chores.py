"""What an engine does of its own accord, in small steps, and which of it waits for which.

Chores of one line take turns, and lines do not wait for each other where each has a caller of its
own. So what clients wait for, entries and changes that follow their rows, does not wait for a pass
of the sweep, nor for a part of the store that does not answer it.
"""

from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, final

from widerow.engine.plan import Plan

__all__ = ["ChoreLine", "ChoreTurns"]

Step = Callable[[], Plan[Any] | None]


class ChoreLine(Enum):
    """Chores that wait for each other, and for no others."""

    ENTRIES = "entries of indexes"
    """Entries of indexes that are written behind their rows."""

    CHANGES = "changes of streams"
    """Changes that come into logs behind their rows."""

    CLEANING = "cleaning up"
    """The lease, builds of indexes, and giving space back."""


@final
class ChoreTurns:
    """Steps of several kinds, one at a time. For one caller at a time."""

    def __init__(self, *steps: Step) -> None:
        """Each of these gives its next step, or None where it has nothing to do."""
        self._steps = deque(steps)

    def add(self, steps: Iterable[Step]) -> None:
        """Let these steps have their turns too."""
        self._steps.extend(steps)

    def step(self) -> Plan[Any] | None:
        """The next step of whoever has not had one for longest; None where nobody has any.

        Raises what planning it raises; it is the turn of the next one then.
        """
        for _ in range(len(self._steps)):
            self._steps.rotate(-1)
            plan = self._steps[-1]()
            if plan is not None:
                return plan
        return None
