"""What long work calls between its steps, so that it can be ended and others have their turn."""

from collections.abc import Callable

__all__ = ["Between", "never_ends"]

Between = Callable[[], None]
"""Lets others compute. Raises an error of `widerow.errors` where nobody waits for the work."""


def never_ends() -> None:
    """Between the steps of work that nobody may end and nothing waits for."""
