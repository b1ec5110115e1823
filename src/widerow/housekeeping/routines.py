"""The routines of an open store: each plans its next step, and the pause before the one after.

A routine commits nothing and waits for no time: its caller has the thread or the loop, commits its
plans (`widerow.commit`) and pauses. `keep_house` is the loop for a thread.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from widerow.engine.chores import ChoreLine
from widerow.engine.engine import Chore, Engine
from widerow.engine.plan import Plan
from widerow.errors import StorageFailure, StoreDamaged
from widerow.housekeeping.partition_events import log_events
from widerow.limits import BALANCE_SECONDS, HOUSEKEEPING_PAUSE_SECONDS, HOUSEKEEPING_SECONDS
from widerow.storage.interface import Store

__all__ = ["Routine", "balancing", "chores", "keep_house", "write_down"]

_log: Final = logging.getLogger("widerow.housekeeping")

FAILURES_TOLD_EACH: Final = 60  # failures in a row, about a minute, between two lines of the log
_FAILURE_SECONDS_MAX: Final = 1.0  # between two attempts after failures
_DOUBLED_MAX: Final = 10  # doublings of a pause, before it is bounded

_PUT_OFF: Final = {
    None: "cleaning up is put off",
    ChoreLine.CLEANING: "cleaning up is put off",
    ChoreLine.ENTRIES: "entries of indexes are put off",
    ChoreLine.CHANGES: "changes of streams are put off",
}

CommitStep = Callable[[Plan[None]], object]
"""Commits the plan of a step, and returns or raises when it has ended."""


@dataclass(frozen=True)
class Routine:
    """Work on an open store that is done in small steps. For any thread.

    `plan_step`: the next step; None when there is nothing to do now. `plan_flush`: writes what is
    kept in memory. `wait`: seconds until the next step after there was none. `tell` logs the events
    since its last call. `turn` is held by the one thread that plans.
    """

    store: Store
    plan_step: Chore
    plan_flush: Chore
    wait: Callable[[], float]
    tell: Callable[[], None]
    put_off: str
    not_kept: str
    turn: threading.Lock = field(default_factory=threading.Lock)

    def step(self) -> Plan[None] | None:
        """The next step, which the caller commits; None when there is nothing to do now."""
        with self.turn:
            return self.plan_step()

    def flush(self, seconds: float = -1) -> Plan[None] | None:
        """The plan that writes what is counted and noted in memory, before the store is closed.

        None where memory holds nothing new, or where a step is still being planned after so many
        seconds (negative: wait as long as it takes).
        """
        if not self.turn.acquire(timeout=seconds):
            return None
        try:
            return self.plan_flush()
        finally:
            self.turn.release()

    def do(self, commit: CommitStep) -> bool:
        """Plan a step and commit it; whether there was one. Raises the errors of both."""
        with self.turn:
            plan = self.plan_step()
            if plan is not None:
                commit(plan)
        self.tell()
        return plan is not None

    def pause(self, *, more: bool, failures: int = 0) -> float:
        """Seconds until the next step; `more`: whether there was a step the last time.

        After `failures` failed steps in a row the pause is longer, up to `_FAILURE_SECONDS_MAX`.
        """
        if failures:
            longer = HOUSEKEEPING_PAUSE_SECONDS * 2.0 ** min(failures, _DOUBLED_MAX)
            return min(longer, _FAILURE_SECONDS_MAX)
        return HOUSEKEEPING_PAUSE_SECONDS if more else self.wait()

    def failed(self, error: Exception, failures: int = 1) -> None:
        """Log that a step failed; the next step tries again. Damage of the store ends all writes.

        `failures`: how many steps in a row failed; about one a minute is logged.
        """
        if isinstance(error, StoreDamaged):
            _log.error("damage in the store", extra={"facts": {"reason": str(error)}})
            self.store.distrust(str(error))
            return
        if failures % FAILURES_TOLD_EACH == 1:
            facts = {"kind": type(error).__name__, "failures": failures}
            _log.warning(self.put_off, extra={"facts": facts})

    def lost(self, error: Exception) -> None:
        """Log that `flush` failed: later steps repeat some work."""
        facts = {"kind": type(error).__name__, "reason": str(error)}
        _log.info(self.not_kept, extra={"facts": facts})


def chores(engine: Engine, line: ChoreLine | None = None) -> Routine:
    """The chores of a line or of all (`engine/chores.py`), at most `HOUSEKEEPING_SECONDS` apart.

    The pause is shorter while a request waits for a chore. The notes of the sweep are flushed with
    those of cleaning.
    """
    return Routine(
        engine.store,
        partial(engine.housekeeping, line),
        engine.sweep.flush if line in (None, ChoreLine.CLEANING) else _nothing,
        partial(engine.pause, HOUSEKEEPING_SECONDS, line),
        lambda: None,  # the sweep counts what was reclaimed (`Sweep.reclaimed`)
        put_off=_PUT_OFF[line],
        not_kept="notes of the sweep are not kept",
    )


def _nothing() -> None:
    """None: the line keeps nothing in memory that must be written."""


def balancing(engine: Engine) -> Routine:
    """Takes in the load of partitions a few times a second; splits and merges them."""
    return Routine(
        engine.store,
        engine.partitions.step,
        engine.partitions.flush,
        lambda: BALANCE_SECONDS,
        partial(log_events, engine.partitions),
        put_off="balancing partitions is put off",
        not_kept="statistics are not kept",
    )


def keep_house(
    routines: Sequence[Routine], commit: CommitStep, is_over: Callable[[float], bool]
) -> None:
    """Run the routines on this thread, each after its pause, until `is_over` returns true.

    `is_over` waits for the given number of seconds at most. Failed steps are logged and tried
    again.
    """
    left = [routine.pause(more=False) for routine in routines]
    while not is_over(pause := min(left)):
        at = left.index(pause)
        left = [max(seconds - pause, 0.0) for seconds in left]
        left[at] = routines[at].pause(more=_attempt(routines[at], commit))


def _attempt(routine: Routine, commit: CommitStep) -> bool:
    """Do a step if the store takes writes; whether there was one. Never raises."""
    try:
        return routine.store.writable and routine.do(commit)
    except Exception as error:  # noqa: BLE001  # it is tried again: its table may just be gone
        routine.failed(error)
        return False


def write_down(routines: Sequence[Routine], commit: CommitStep) -> None:
    """Commit what the routines keep in memory, for the next opening of the store."""
    for routine in routines:
        try:
            plan = routine.flush()
            if plan is not None:
                commit(plan)
        except StorageFailure as error:
            routine.lost(error)
