"""Whether an index is searched beside its writers, who then leave less for a search to do."""

from typing import final

from widerow.limits import SEARCH_ASKED_CHANGES

__all__ = ["Asking"]


@final
class Asking:
    """The last two searches of an index, by how many changes were written before each.

    One search alone does not make a difference: after it, whoever loads a table goes on as before.
    """

    __slots__ = ("_before", "_last")

    def __init__(self) -> None:
        """Nobody has searched."""
        self._before: int | None = None
        self._last: int | None = None

    def ask(self, changes: int) -> None:
        """Somebody searches, behind so many changes."""
        self._before, self._last = self._last, changes

    def goes_on(self, changes: int) -> bool:
        """Whether few changes were written between the last two searches, and since."""
        if self._before is None or self._last is None:
            return False
        most = SEARCH_ASKED_CHANGES
        return changes - self._last <= most and self._last - self._before <= most
