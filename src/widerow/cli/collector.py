"""How often a process of the command line looks for garbage in cycles."""

import gc
from typing import Final

__all__ = ["calm_collector", "collect_rarely"]

_ALLOCATIONS: Final = 50_000  # a batch of 200 rows of 10 columns makes about 10 000


def collect_rarely() -> None:
    """Look for cycles after 50,000 new objects, which is more rarely than Python does by itself.

    What a process loads when it starts is kept: looking through all of it again and again took a
    twentieth of the start of a server. A batch makes tens of thousands of tuples that no cycle
    holds: looking through them took a tenth of its time.
    """
    gc.set_threshold(_ALLOCATIONS, 10, 100)


def calm_collector() -> None:
    """Look for cycles never again among what is loaded by now.

    One look before would free nothing that can be measured, and take a fifteenth of the start.
    """
    gc.freeze()
