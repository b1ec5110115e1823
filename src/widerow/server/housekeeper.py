"""The routines of an open store as tasks of the server's loop, between which requests are served.

A step is a plan like any client's and waits with theirs for the next group; nobody waits for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import nullcontext
from functools import partial
from typing import Any, Final, TypeVar

from widerow.commit.committer import Committer
from widerow.engine.chores import ChoreLine
from widerow.engine.engine import Engine
from widerow.engine.plan import Plan
from widerow.errors import StorageFailure
from widerow.housekeeping.routines import Routine, balancing, chores
from widerow.limits import FLUSH_SECONDS_MAX
from widerow.storage.bulk import LONG_WORK

__all__ = ["Housekeeper", "commit"]

T = TypeVar("T")

_SLICE: Final = 500  # notes taken in at one time: about half a millisecond


class Housekeeper:
    """Does the routines of an open store, on the loop's thread."""

    def __init__(self, engine: Engine, committer: Committer) -> None:
        """Nothing happens before `tasks` are run."""
        self.chores = {line: chores(engine, line) for line in ChoreLine}
        self.cleaning = self.chores[ChoreLine.CLEANING]
        self.balancing = balancing(engine)
        self.engine = engine
        self._committer = committer

    def tasks(self) -> list[Coroutine[Any, Any, None]]:
        """The loops of the routines, each of which runs until it is cancelled."""
        return [
            *[
                self._keep(each, partial(asyncio.to_thread, self._plan_chore, each))
                for each in self.chores.values()
            ],
            self._keep(self.balancing, self._plan_balancing),
        ]

    async def finish(self, routine: Routine) -> None:
        """Write down what was counted and noted, for the next start.

        Takes `FLUSH_SECONDS_MAX` at most. What is lost costs work that is done again, never a row.
        """
        if not routine.store.writable:
            return
        try:
            async with asyncio.timeout(FLUSH_SECONDS_MAX):
                plan = await asyncio.to_thread(routine.flush, FLUSH_SECONDS_MAX)
                if plan is not None:
                    await commit(self._committer, plan)
        except (StorageFailure, TimeoutError) as error:
            routine.lost(error)
        routine.tell()

    async def _keep(
        self, routine: Routine, plan: Callable[[], Awaitable[Plan[None] | None]]
    ) -> None:
        """Step until cancelled. What fails is logged and tried again: serving goes on."""
        failures = 0
        while True:
            more = False
            if routine.store.writable:
                try:
                    step = await plan()
                    if step is not None:
                        await commit(self._committer, step)
                    more, failures = step is not None, 0
                except Exception as error:  # noqa: BLE001  # routines can wait, serving goes on
                    failures += 1
                    routine.failed(error, failures)
            routine.tell()
            await asyncio.sleep(routine.pause(more=more, failures=failures))

    def _plan_chore(self, routine: Routine) -> Plan[None] | None:
        """On a thread: a step reads hundreds of records, so it takes turns with other long work."""
        blocks = self.engine.store.capabilities.reads_may_block
        with nullcontext() if blocks else LONG_WORK:
            return routine.step()

    async def _plan_balancing(self) -> Plan[None] | None:
        """On the loop in slices, between which others are served, if reads do not block it."""
        if self.engine.store.capabilities.reads_may_block:
            return await asyncio.to_thread(self.balancing.step)
        while self.engine.partitions.absorb(_SLICE):  # noqa: ASYNC110  # others are served meanwhile
            await asyncio.sleep(0)
        return self.balancing.step()


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
