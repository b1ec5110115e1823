"""Planned failures: the n-th call of a kind fails with a given error.

A plan stands before the calls of a simulated disk (`lossy.py`), or around any function, such as the
steps of the RocksDB driver:

    plan = FaultPlan({("sync", 3): engine_failure(errno.EIO)})
    steps = Steps(sync=plan.around("sync", Steps().sync))

Without faults a plan only counts, which tells how many calls there are to fail one by one.
"""

import errno
import os
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, ParamSpec, TypeVar

__all__ = ["Failure", "FaultPlan", "PowerCut", "engine_failure", "os_failure", "power_cut"]

P = ParamSpec("P")
T = TypeVar("T")

Failure = Callable[[], BaseException]
"""Makes the exception that is raised instead of the call, or after it."""

_WORDS: Final = {errno.ENOSPC: "No space left on device", errno.EIO: "Input/output error"}


class PowerCut(BaseException):
    """The machine has lost its power. No `except Exception` of the program on it catches this."""


def power_cut() -> BaseException:
    """Make the exception of a loss of power."""
    return PowerCut("the power went")


def os_failure(number: int) -> Failure:
    """A failure as the operating system reports it, by its `errno`."""
    return lambda: OSError(number, os.strerror(number))


def engine_failure(number: int) -> Failure:
    """A failure in RocksDB's words for the system error `errno`."""
    words = _WORDS.get(number) or os.strerror(number)
    return lambda: Exception(f"IO error: {words}: While appending to file: 000004.log")


class FaultPlan:
    """Which calls fail. A kind is any name that the caller of `visit` uses; the first call is 1."""

    def __init__(self, faults: Mapping[tuple[str, int], Failure] | None = None) -> None:
        """Fail the calls named by `faults`, each (kind, number of the call)."""
        self.calls: Counter[str] = Counter()
        self.struck: list[tuple[str, int]] = []
        self._faults = dict(faults or {})

    def add(self, kind: str, failure: Failure, *, after: int = 0) -> None:
        """Fail the next call of `kind`, or the one `after` calls later."""
        self._faults[kind, self.calls[kind] + 1 + after] = failure

    def forget(self) -> None:
        """Let every later call succeed."""
        self._faults.clear()

    def visit(self, kind: str) -> None:
        """Count a call. Raises the failure that is planned for it."""
        self.calls[kind] += 1
        place = (kind, self.calls[kind])
        failure = self._faults.pop(place, None)
        if failure is not None:
            self.struck.append(place)
            raise failure()

    def around(self, kind: str, function: Callable[P, T]) -> Callable[P, T]:
        """`function` with a visit before each call."""

        def visited(*args: P.args, **kwargs: P.kwargs) -> T:
            self.visit(kind)
            return function(*args, **kwargs)

        return visited
