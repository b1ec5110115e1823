"""A recording asked again, of another server, and what that answers compared with what it holds."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from widerow.clock import Clock
from widerow.proxy.claims import TrafficFacts
from widerow.proxy.comparison import AnswerComparer, ProxySide, ReadRequest, learn_traffic
from widerow.proxy.recording import RecordedExchange, read_exchanges
from widerow.proxy.report import DifferenceReport
from widerow.proxy.turns import RequestTurns, Ticket

__all__ = ["replay_recording"]


async def replay_recording(
    place: Path,
    other: ProxySide,
    report: DifferenceReport,
    clock: Clock,
    *,
    speed: float | None = None,
    concurrency: int = 1,
    told: Callable[[int], None] = lambda _: None,
) -> None:
    """Ask `other` every request of a recording, and add to `report` what differs.

    Requests that touch the same rows are asked in the recorded order; of others, `concurrency` at a
    time. `speed`: so many times as fast as they came, as fast as they are answered if None. `told`:
    how many bytes of the recording are behind. Raises: `RecordingInvalid`.
    """
    facts = TrafficFacts()
    replay = _Replay(AnswerComparer(other, facts, report, clock), facts)
    room = asyncio.Semaphore(concurrency)
    began_ns, first_us = clock.monotonic_ns(), -1
    async with asyncio.TaskGroup() as group:
        for recorded in read_exchanges(place):
            await room.acquire()
            if first_us < 0:
                first_us = recorded.exchange.at_us
            if speed is not None:
                due = (recorded.exchange.at_us - first_us) / 1e6 / speed
                await asyncio.sleep(due - (clock.monotonic_ns() - began_ns) / 1e9)
            task = group.create_task(replay.begin(recorded))
            task.add_done_callback(lambda _: room.release())
            told(recorded.behind)


class _Replay:
    """What the requests of one replay have in common."""

    def __init__(self, comparison: AnswerComparer, facts: TrafficFacts) -> None:
        self._comparison = comparison
        self._facts = facts
        self._turns = RequestTurns()

    async def begin(self, recorded: RecordedExchange) -> None:
        """Stand in line, ask, and compare."""
        read = ReadRequest.of(recorded.exchange.request, self._facts)
        ticket = self._turns.enter(read.claims)
        try:
            await self._run(read, recorded, ticket)
        finally:
            self._turns.leave(ticket)

    async def _run(self, read: ReadRequest, recorded: RecordedExchange, ticket: Ticket) -> None:
        await ticket.ready
        learn_traffic(read, recorded.exchange.answer, self._facts)
        await self._comparison.run(read, recorded.exchange)
