"""Writes that a group does not wait for: their part of a divided database is slow, or hangs."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from widerow.storage.group import Outcome

__all__ = ["LateWrites"]


class LateWrites(Protocol):
    """Some writes of a group that has ended without them. Any thread."""

    @property
    def places(self) -> Sequence[int]:
        """Theirs in the group."""
        ...

    @property
    def outcomes(self) -> Sequence[Outcome[Any]]:
        """What became of them, in the order of their places, once they have ended.

        Each was told of it then, as in any group.
        """
        ...

    def when_ended(self, told: Callable[[], None]) -> None:
        """Call `told` once they have ended; at once if they have. It must not wait. Called once."""
        ...
