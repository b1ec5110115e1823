"""The process that has the port of several workers: it starts and replaces them, and hands over.

It opens no store and serves nobody: connections that it accepts go to the worker that has the
fewest (`channel.py`). What is to be done is decided by `roster.py`, and done here.
"""

import asyncio
import logging
import signal
import socket
import subprocess
import time
from asyncio import Future
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import count
from typing import Any, Final, NamedTuple, final

from widerow.errors import WiderowError
from widerow.limits import WORKER_ACCEPTS_MAX, WORKER_SCRAPE_SECONDS, WORKER_TICK_SECONDS
from widerow.server.addresses import endpoint_at, refused_address, taken_addresses
from widerow.server.console_sessions import ConsoleSessions
from widerow.server.metrics import family, resident_bytes
from widerow.server.settings import Settings
from widerow.server.workers.channel import WorkerChannel, WorkerMessage, hand_over
from widerow.server.workers.member import SystemParts
from widerow.server.workers.roster import Phase, Roster, Step, StepKind
from widerow.server.workers.sums import kept_counts, without_tables

__all__ = ["Announce", "Program", "Supervisor", "WorkersFailed", "own_lines"]

_log = logging.getLogger("widerow.server")

_BACKLOG: Final = 1024  # kept by the kernel while no worker takes any

Announce = Callable[[str, int], None]
"""Hears that all workers are ready: the endpoint, and the number of the store's format."""


class Program(NamedTuple):
    """How a worker is started: its command, which two descriptors follow, and its environment."""

    command: Sequence[str]
    environment: Mapping[str, str]


class WorkersFailed(WiderowError):
    """The workers cannot serve; the message says why."""


@dataclass
class _Hired:
    """One process, the ends of its channels, and what it has told."""

    process: subprocess.Popen[bytes]
    hand: socket.socket
    channel: WorkerChannel | None = None
    handed: int = 0
    connections: int = 0
    taken: int = 0
    page: str = ""
    failure: str = ""
    asked: dict[int, "Future[str]"] = field(default_factory=dict)

    @property
    def load(self) -> int:
        """The connections that it has, with those that are on their way to it."""
        return self.connections + self.handed - self.taken

    def say(self, kind: str, **facts: Any) -> None:  # noqa: ANN401  # whatever JSON holds
        """Tell it something, if it is there."""
        if self.channel is not None:
            self.channel.say(kind, **facts)


@final
class Supervisor:
    """The workers of one server. On the loop's thread."""

    def __init__(
        self, settings: Settings, count_of_workers: int, program: Program, parts: SystemParts
    ) -> None:
        """Nothing has started."""
        self._settings = settings
        self._count = count_of_workers
        self._program = program
        self._parts = parts
        self._roster = Roster(count_of_workers)
        self._sessions = ConsoleSessions(parts.new_secret)
        self._hired: dict[int, _Hired] = {}
        self._ends = Counter[str]()
        self._gone = ""  # counts of workers that have ended
        self._listening: list[socket.socket] = []
        self._accepting = False
        self._stopping = False
        self._announced = False
        self._restarting = False
        self._data_format = 0
        self._turn = 0
        self._news = asyncio.Event()  # something may be due
        self._opened: Announce | None = None
        self._numbers = count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self.endpoint = ""

    # --- from start to stop ------------------------------------------------------------------

    async def serve(self, opened: Announce) -> None:
        """Serve until `stop`, and return when all workers have ended.

        Raises: `SettingsInvalid` (address), `WorkersFailed`: they cannot start, or die again and
        again; and what `opened` raises. None runs then.
        """
        self._opened = opened
        self._listening = taken_addresses(self._settings.host, self._settings.port)
        scheme = "http" if self._settings.tls_cert is None else "https"
        self.endpoint = endpoint_at(scheme, self._listening[0].getsockname())
        self._do(self._tick())
        try:
            self._act()
            while self._hired or not self._stopping:
                await self._news.wait()
                self._news.clear()
                self._act()
        finally:
            await self._end()
        if self._roster.failure is not None:
            raise WorkersFailed(self._roster.failure)

    async def _end(self) -> None:
        """Kill what is left of the workers, and wait until none runs."""
        self.stop()
        for each in self._hired.values():
            each.process.kill()
        while self._hired:
            await self._news.wait()
            self._news.clear()
        for task in self._tasks:
            task.cancel()

    def stop(self) -> None:
        """Take no more connections, and let all workers drain."""
        self._stopping = True
        self._close_port()
        self._roster.stop()
        self._news.set()

    def hurry(self) -> None:
        """Let the workers wait no longer for requests in hand."""
        for each in self._hired.values():
            each.say("hurry")

    def reload(self) -> None:
        """Have all read their files again, then replace one after the other."""
        for each in self._hired.values():
            each.say("reload")
        if self._roster.opened and not self._stopping:
            _log.info("the workers are restarted", extra={"facts": {"workers": self._count}})
            self._restarting = True
            self._roster.restart(_now())
            self._news.set()

    async def _tick(self) -> None:
        """Let the roster count the time, also of workers that say nothing, until cancelled."""
        while True:
            await asyncio.sleep(WORKER_TICK_SECONDS)
            self._roster.tick(_now())
            self._news.set()

    def _act(self) -> None:
        """Do what is due. For `serve` alone, which ends with what this raises."""
        for step in self._roster.due(_now()):
            match step.kind:
                case StepKind.START:
                    self._start(step)
                case StepKind.DRAIN:
                    self._hired[step.id].hand.close()
                case StepKind.KILL:
                    self._kill(step)
        if self._roster.failure is not None and not self._stopping:
            if self._roster.opened:
                facts = {"reason": self._roster.failure}
                _log.critical("the workers cannot serve", extra={"facts": facts})
            self.stop()
        if self._roster.opened and not self._announced and not self._stopping:
            self._announce()
        if self._restarting and not self._roster.restarting:
            self._restarting = False
            _log.info("the restart of the workers has ended")
        self._accept_if(self._announced and bool(self._roster.offered()))

    def _announce(self) -> None:
        """Open the port, and say so. Raises: `SettingsInvalid`, and what is raised by who hears."""
        for each in self._listening:
            try:
                each.listen(_BACKLOG)
            except OSError as error:  # another process has bound the port as well, and was first
                settings = self._settings
                raise refused_address(settings.host, settings.port, error) from error
        self._announced = True
        assert self._opened is not None, "it serves"
        self._opened(self.endpoint, self._data_format)

    # --- processes ---------------------------------------------------------------------------

    def _start(self, step: Step) -> None:
        """Start a worker; one that the system does not give counts as one that has died."""
        try:
            process, control, hand = _spawned(self._program)
        except OSError as error:  # no memory, process or descriptor is left
            reason = f"the system starts no process: {error.strerror or error}"
            again = self._roster.ended(step.id, _now(), reason)
            self._tell_death({"worker": step.number, "reason": reason}, again)
            self._news.set()
            return
        self._hired[step.id] = _Hired(process, hand)
        self._do(self._look_after(step, control))

    def _kill(self, step: Step) -> None:
        process = self._hired[step.id].process
        facts = {"worker": step.number, "pid": process.pid, "reason": step.why}
        _log.error("a worker is killed", extra={"facts": facts})
        process.kill()

    async def _look_after(self, step: Step, control: socket.socket) -> None:
        """Hear a worker until it is gone."""
        hired = self._hired[step.id]
        try:
            await self._hear_all(step, hired, control)
        except Exception:  # noqa: BLE001  # what it says is not understood: another one takes its place
            _log.exception("a worker is not understood")
            hired.process.kill()
        code = await asyncio.to_thread(hired.process.wait)
        del self._hired[step.id]
        hired.hand.close()
        self._say_end(step, hired, code)
        self._news.set()
        self._gone = kept_counts((self._gone, hired.page))

    async def _hear_all(self, step: Step, hired: _Hired, control: socket.socket) -> None:
        channel = hired.channel = await WorkerChannel.over(control)
        channel.say(
            "start",
            settings=asdict(self._settings),
            number=step.number,
            count=self._count,
            endpoint=self.endpoint,
            secret=self._sessions.secret.hex(),
            ended=self._sessions.ended,
        )
        try:
            async for message in channel.messages():
                self._hear(step, hired, message)
        finally:
            await channel.close()

    def _say_end(self, step: Step, hired: _Hired, code: int) -> None:
        worker = self._roster.workers[step.id]
        was = worker.phase
        reason = hired.failure or _ending(code)
        again = self._roster.ended(step.id, _now(), reason)
        facts = {"worker": step.number, "pid": hired.process.pid, "reason": reason}
        if worker.killed:
            self._ends["killed"] += 1
        elif was is Phase.LEAVING:
            self._ends["drained"] += 1
            _log.info("a worker has ended", extra={"facts": facts})
            return
        else:
            self._ends["died"] += 1
        self._tell_death(facts, again)

    def _tell_death(self, facts: dict[str, object], again: float | None) -> None:
        if again is not None:
            _log.error("a worker has died", extra={"facts": facts | {"again_in_seconds": again}})
        elif self._roster.failure is None:
            _log.error("a worker has not started: the former one stays", extra={"facts": facts})

    def _hear(self, step: Step, hired: _Hired, message: WorkerMessage) -> None:
        match message["kind"]:
            case "ready":
                self._data_format = message["data_format"]
                if self._roster.ready(step.id, _now()):
                    facts = {"worker": step.number, "pid": hired.process.pid}
                    _log.info("a worker has started", extra={"facts": facts})
                    self._news.set()
            case "failed":
                hired.failure = message["reason"]
            case "beat":
                hired.connections, hired.taken = message["connections"], message["taken"]
                self._roster.beat(step.id)
            case "leaving":
                self._roster.leaves(step.id)
                self._news.set()
            case "page":
                hired.page = message["page"]
                waiting = hired.asked.pop(message["id"], None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(message["page"])
            case "scrape":
                hired.page = message["page"]
                self._do(self._scrape(hired, message))
            case "ended":
                self._end_session(hired, message)
            case _:  # a restart may have brought a worker of a later version
                pass

    def _do(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- connections -------------------------------------------------------------------------

    def _accept_if(self, wanted: bool) -> None:  # noqa: FBT001  # a state, not an option
        """Accept connections, or leave them with the kernel while no worker takes any."""
        if wanted is self._accepting:
            return
        self._accepting = wanted
        loop = asyncio.get_running_loop()
        for each in self._listening:
            if wanted:
                loop.add_reader(each, partial(self._accept, each))
            else:
                loop.remove_reader(each)

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(WORKER_ACCEPTS_MAX):
            try:
                accepted, _ = listening.accept()
            except BlockingIOError:
                return
            except OSError:  # no descriptor is left, or the client is gone: again after a tick
                self._accept_if(wanted=False)
                return
            with accepted:
                self._hand(accepted)

    def _hand(self, accepted: socket.socket) -> None:
        """Hand a connection to the worker that has the fewest, or to another one that takes it."""
        self._turn += 1
        offered = self._roster.offered()
        turn = self._turn % len(offered) if offered else 0
        offered = offered[turn:] + offered[:turn]  # of several that have as few, each in turn
        for each in sorted(offered, key=lambda id_: self._hired[id_].load):
            if hand_over(self._hired[each].hand, accepted):
                self._hired[each].handed += 1
                return

    def _close_port(self) -> None:
        self._accept_if(wanted=False)
        for each in self._listening:
            each.close()
        self._listening = []

    # --- the console, metrics ----------------------------------------------------------------

    def _end_session(self, teller: _Hired, message: WorkerMessage) -> None:
        """A visitor has signed out: tell the others."""
        now_s = self._parts.clock.now_us() // 1_000_000
        has_room = self._sessions.note(message["session"], message["ends"], now_s)
        for each in self._hired.values():
            if not has_room:
                each.say("secret", secret=self._sessions.secret.hex())
            elif each is not teller:
                each.say("ended", session=message["session"], ends=message["ends"])

    async def _scrape(self, asker: _Hired, message: WorkerMessage) -> None:
        """Collect the pages of all; of those that do not answer in time, their last figures."""
        others = [each for each in self._hired.values() if each is not asker and each.channel]
        gone = self._gone  # as it is now: of those that end meanwhile the page counts
        loop = asyncio.get_running_loop()
        waiting: dict[int, Future[str]] = {}
        for each in others:
            number = next(self._numbers)
            waiting[number] = each.asked[number] = loop.create_future()
            each.say("page?", id=number, shown=message["shown"])
        if waiting:
            await asyncio.wait(waiting.values(), timeout=WORKER_SCRAPE_SECONDS)
        pages = [message["page"]]
        for each, (number, told) in zip(others, waiting.items(), strict=True):
            each.asked.pop(number, None)
            pages.append(told.result() if told.done() else without_tables(each.page))
        pages += [gone, "\n".join(own_lines(self._serving(), self._ends))]
        asker.say("pages", id=message["id"], pages=pages)

    def _serving(self) -> dict[int, int]:
        """The connections of each worker that serves, by its number."""
        return {
            each.number: self._hired[each.id].connections
            for each in self._roster.workers.values()
            if each.phase is Phase.SERVING
        }


def _spawned(program: Program) -> tuple[subprocess.Popen[bytes], socket.socket, socket.socket]:
    """A new worker, and the ends of its channel and of what hands connections over.

    Raises: `OSError`; nothing is left open then.
    """
    with ExitStack() as own, ExitStack() as passed:
        pairs = []
        for _ in range(2):
            end, its = socket.socketpair()
            pairs.append((own.enter_context(end), passed.enter_context(its)))
        (control, its_control), (hand, its_hand) = pairs
        hand.setblocking(False)  # noqa: FBT003  # as `socket` has it
        descriptors = its_control.fileno(), its_hand.fileno()
        process = subprocess.Popen(  # noqa: S603  # our own program
            [*program.command, *map(str, descriptors)],
            pass_fds=descriptors,
            env={**program.environment},
            stdin=subprocess.DEVNULL,
            stdout=2,  # the one log; whoever reads the ready line reads to its end
            process_group=0,  # a terminal's signals are for this process alone
        )
        own.pop_all()
    return process, control, hand


def own_lines(serving: Mapping[int, int], ends: Mapping[str, int]) -> Iterator[str]:
    """The metrics of the supervisor: connections by worker, and how many workers ended how."""
    yield from family("workers", "gauge", "Processes that take connections.")
    yield f"widerow_workers {len(serving)}"
    yield from family("worker_connections", "gauge", "Open connections, by worker.")
    for number, connections in sorted(serving.items()):
        yield f'widerow_worker_connections{{worker="{number}"}} {connections}'
    yield from family("worker_ends_total", "counter", "Workers that are gone, by end.")
    for end in ("died", "drained", "killed"):
        yield f'widerow_worker_ends_total{{end="{end}"}} {ends.get(end, 0)}'
    yield from family("process_cpu_seconds_total", "counter", "CPU time used.")
    yield f"widerow_process_cpu_seconds_total {time.process_time()}"
    yield from family("process_resident_memory_bytes", "gauge", "Resident memory.")
    yield f"widerow_process_resident_memory_bytes {resident_bytes()}"


def _now() -> float:
    """Seconds of the monotonic clock."""
    return time.monotonic()


def _ending(code: int) -> str:
    """How a process has ended, by its code."""
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"
