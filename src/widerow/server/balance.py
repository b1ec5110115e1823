"""The partitions' own time: a task that takes in what was noted and carries out what is decided.

A few times a second, and in slices between which requests are served. What was decided is a plan
like any client's and waits with theirs for the next group; nobody waits for it. Changes and reports
are logged with their reasons.
"""

import asyncio
import logging
from functools import partial
from typing import Final, TypeVar

from widerow.commit.committer import Committer
from widerow.engine.engine import Engine
from widerow.engine.plan import Plan
from widerow.errors import StorageFailure, StoreDamaged
from widerow.limits import BALANCE_SECONDS, HOUSEKEEPING_PAUSE_SECONDS
from widerow.server.partition_events import log_events

__all__ = ["Balance", "commit"]

_log = logging.getLogger("widerow.partitions")

T = TypeVar("T")

_SLICE: Final = 500  # notes taken in at one time: about half a millisecond


class Balance:
    """Keeps the partitions of an open store in balance, on the loop's thread."""

    def __init__(self, engine: Engine, committer: Committer) -> None:
        """Nothing happens before `run`."""
        self._engine = engine
        self._partitions = engine.partitions
        self._committer = committer

    async def run(self) -> None:
        """Step until cancelled. What fails is logged and tried again: serving goes on."""
        while True:
            more = False
            if self._engine.store.writable:
                try:
                    more = await self._step()
                except StoreDamaged as error:
                    _log.error("damage in the store", extra={"facts": {"reason": str(error)}})
                    self._engine.store.distrust(str(error))
                except Exception as error:  # noqa: BLE001  # balance can wait, serving goes on
                    facts = {"kind": type(error).__name__}
                    _log.warning("balancing partitions is put off", extra={"facts": facts})
            log_events(self._partitions)
            await asyncio.sleep(HOUSEKEEPING_PAUSE_SECONDS if more else BALANCE_SECONDS)

    async def finish(self) -> None:
        """Write down what was counted, for the next start. What fails here is nobody's loss."""
        if not self._engine.store.writable:
            return
        try:
            plan = self._partitions.flush()
            if plan is not None:
                await commit(self._committer, plan)
        except StorageFailure as error:
            _log.info("statistics are not kept", extra={"facts": {"reason": str(error)}})
        log_events(self._partitions)

    async def _step(self) -> bool:
        """One step; whether there was something to do."""
        if self._engine.store.capabilities.reads_may_block:
            plan = await asyncio.to_thread(self._partitions.step)
        else:
            while self._partitions.absorb(_SLICE):  # noqa: ASYNC110  # others are served in between
                await asyncio.sleep(0)
            plan = self._partitions.step()
        if plan is None:
            return False
        await commit(self._committer, plan)
        return True


async def commit(committer: Committer, plan: Plan[T]) -> T:
    """Have a plan committed with whatever else waits, and return its answer.

    A plan without writes ends like any other: its `finish` runs, and what it is followed by.
    Raises what its `finish` raises.
    """
    done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    committer.submit(plan, partial(_resolve, done))
    return await done


def _resolve(done: "asyncio.Future[T]", answer: T, error: Exception | None) -> None:
    if done.cancelled():
        return
    if error is None:
        done.set_result(answer)
    else:
        done.set_exception(error)
