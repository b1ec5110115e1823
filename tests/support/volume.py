"""How much of what a test draws at random is drawn in this run.

pytest                              # a quarter of it
pytest --hypothesis-profile=night   # all of it, as `make night` does
"""

from typing import Final

from hypothesis import settings

__all__ = ["PROFILES", "examples"]

PROFILES: Final = {"quick": 25, "night": 100}
"""From the names of profiles to how many examples a test has that does not say how many."""

_FEWEST: Final = 10


def examples(full: int) -> int:
    """How many of `full` examples the profile of this run takes: no fewer than ten."""
    taken = full * settings().max_examples // PROFILES["night"]
    return max(min(full, _FEWEST), taken)
