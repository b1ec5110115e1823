"""What a server does of its own accord: a task for each line of chores (`engine/chores.py`).

A step is planned on a thread and committed with whatever else waits. What fails is logged and tried
again, after a pause that grows to a second: serving goes on.
"""

import asyncio
import logging
import threading
from contextlib import nullcontext
from typing import Final

from widerow.commit.committer import Committer
from widerow.engine.chores import ChoreLine
from widerow.engine.engine import Engine
from widerow.engine.plan import Plan
from widerow.errors import StorageFailure, StoreDamaged
from widerow.limits import FLUSH_SECONDS_MAX, HOUSEKEEPING_PAUSE_SECONDS, HOUSEKEEPING_SECONDS
from widerow.server.balance import commit
from widerow.storage.bulk import LONG_WORK

__all__ = ["Housekeeping"]

_log = logging.getLogger("widerow.server")

_FAILURE_SECONDS_MAX: Final = 1.0  # between two attempts where the ones before have failed
_DOUBLED_MAX: Final = 10  # so often a pause is doubled at most, before its bound is looked at
_TOLD_EACH: Final = 60  # failures in a row, about a minute, between two lines of the log
_PUT_OFF: Final = {
    ChoreLine.ENTRIES: "entries of indexes are put off",
    ChoreLine.CHANGES: "changes of streams are put off",
    ChoreLine.CLEANING: "cleaning up is put off",
}


class Housekeeping:
    """Looks after the open store of an engine, on the loop's thread."""

    def __init__(self, engine: Engine, committer: Committer) -> None:
        """Nothing happens before `run`."""
        self.engine = engine
        self._committer = committer
        self._planning = threading.Lock()  # cleaning up is planned by one thread at a time

    async def run(self, line: ChoreLine) -> None:
        """Step until cancelled."""
        failures = 0
        while True:
            more = False
            if self.engine.store.writable:
                try:
                    more = await self._step(line)
                except StoreDamaged as error:
                    _log.error("damage in the store", extra={"facts": {"reason": str(error)}})
                    self.engine.store.distrust(str(error))
                except Exception as error:  # noqa: BLE001  # it can wait, serving goes on
                    if failures % _TOLD_EACH == 0:
                        facts = {"kind": type(error).__name__, "failures": failures + 1}
                        _log.warning(_PUT_OFF[line], extra={"facts": facts})
                    failures += 1
                else:
                    failures = 0
            await asyncio.sleep(self._pause(line, failures, more=more))

    def _pause(self, line: ChoreLine, failures: int, *, more: bool) -> float:
        if failures:
            longer = HOUSEKEEPING_PAUSE_SECONDS * 2.0 ** min(failures, _DOUBLED_MAX)
            return min(longer, _FAILURE_SECONDS_MAX)
        if more:
            return HOUSEKEEPING_PAUSE_SECONDS
        return self.engine.pause(HOUSEKEEPING_SECONDS, line)

    async def _step(self, line: ChoreLine) -> bool:
        """One step; whether there was something to do."""
        plan = await asyncio.to_thread(self._plan, line)
        if plan is None:
            return False
        await commit(self._committer, plan)
        return True

    def _plan(self, line: ChoreLine) -> Plan[None] | None:
        """On a thread: the next step. It reads hundreds of records: it takes turns with others."""
        blocks = self.engine.store.capabilities.reads_may_block
        with (
            self._planning if line is ChoreLine.CLEANING else nullcontext(),
            nullcontext() if blocks else LONG_WORK,
        ):
            return self.engine.housekeeping(line)

    async def keep_notes(self) -> None:
        """Write down what the sweep has found and what writers have noted, for the next start.

        Takes `FLUSH_SECONDS_MAX` at most. Notes that are lost cost later passes, and never a row.
        """
        if not self.engine.store.writable:
            return
        try:
            async with asyncio.timeout(FLUSH_SECONDS_MAX):
                plan = await asyncio.to_thread(self._plan_notes)
                if plan is not None:
                    await commit(self._committer, plan)
        except (StorageFailure, TimeoutError) as error:
            facts = {"kind": type(error).__name__, "reason": str(error)}
            _log.info("notes of the sweep are not kept", extra={"facts": facts})

    def _plan_notes(self) -> Plan[None] | None:
        """On a thread: a step of cleaning up that is still being planned ends first."""
        if not self._planning.acquire(timeout=FLUSH_SECONDS_MAX):
            return None
        try:
            return self.engine.sweep.flush()
        finally:
            self._planning.release()
