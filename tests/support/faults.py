"""Failures by plan: the n-th call of a kind fails, and how.

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
"""Makes what is raised instead of the call, or behind it."""

_WORDS: Final = {errno.ENOSPC: "No space left on device", errno.EIO: "Input/output error"}


class PowerCut(BaseException):
    """The machine is gone. No `except Exception` of the program that ran on it sees this."""


def power_cut() -> BaseException:
    """A failure: the power goes."""
    return PowerCut("the power went")


def os_failure(number: int) -> Failure:
    """A failure as the operating system reports it, by its `errno`."""
    return lambda: OSError(number, os.strerror(number))


def engine_failure(number: int) -> Failure:
    """A failure as RocksDB words it, by the `errno` beneath it."""
    words = _WORDS.get(number) or os.strerror(number)
    return lambda: Exception(f"IO error: {words}: While appending to file: 000004.log")


class FaultPlan:
    """Which calls fail. Kinds are whatever those who visit call them; the first call is 1."""

    def __init__(self, faults: Mapping[tuple[str, int], Failure] | None = None) -> None:
        """Fail the calls named by `faults`, each (kind, number of the call)."""
        self.calls: Counter[str] = Counter()
        self.struck: list[tuple[str, int]] = []
        self._faults = dict(faults or {})

    def add(self, kind: str, failure: Failure, *, after: int = 0) -> None:
        """Fail the next call of `kind`, or the one that comes `after` that many more."""
        self._faults[kind, self.calls[kind] + 1 + after] = failure

    def forget(self) -> None:
        """Let every later call pass."""
        self._faults.clear()

    def visit(self, kind: str) -> None:
        """Count a call. Raises what is planned for it."""
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
