"""The share of random examples that a run of the tests draws.

pytest                              # a sixth of it
pytest --hypothesis-profile=night   # all of it, as `make night` does
"""

from typing import Final

from hypothesis import settings

__all__ = ["PROFILES", "examples"]

PROFILES: Final = {"quick": 16, "night": 100}
"""For each profile, the number of examples of a test that names no number."""

_FEWEST: Final = 10


def examples(full: int) -> int:
    """How many of `full` examples the profile of this run takes: no fewer than ten."""
    taken = full * settings().max_examples // PROFILES["night"]
    return max(min(full, _FEWEST), taken)
