"""The supervisor of several workers, with workers that are small programs (cluster.md, Workers)."""

import asyncio
import json
import socket
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from widerow.server.scrapes import NO_NAME
from widerow.server.settings import Settings, SettingsInvalid
from widerow.server.workers.channel import WorkerChannel, hand_over, take_over
from widerow.server.workers.member import Member, SystemParts
from widerow.server.workers.supervisor import Program, Supervisor, WorkersFailed
from widerow.system import SystemClock, SystemEntropy

SECONDS = 20
HEAD = "# HELP widerow_commits_total What.\n# TYPE widerow_commits_total counter\n"

WORKER = textwrap.dedent("""
    import json, os, socket, sys, threading, time
    control, hand = (socket.socket(fileno=int(each)) for each in sys.argv[-2:])
    lines = control.makefile("rw", encoding="utf-8", newline="\\n")
    def say(kind, **facts):
        lines.write(json.dumps({"kind": kind, **facts}) + "\\n")
        lines.flush()
    start = json.loads(lines.readline())
    number = start["number"]
    def page(count):
        name = "widerow_commits_total"
        return f"# HELP {name} What.\\n# TYPE {name} counter\\n{name} {count}\\n"
    def drained():
        while hand.recv(1): pass
        os._exit(0)
    threading.Thread(target=drained, daemon=True).start()
""")
"""Speaks as a worker does, and ends when no connection will come any more."""

SERVES = """
    say("ready", data_format=7)
    for line in lines: pass
"""


class World:
    """A supervisor that serves, and what it said."""

    def __init__(self, tmp_path: Path, behaviour: str, count: int = 2) -> None:
        self.told = tmp_path / "told"
        script = WORKER + f"told = {str(self.told)!r}\n" + textwrap.dedent(behaviour)
        program = Program((sys.executable, "-S", "-c", script), {"PYTHONPATH": ""})
        parts = SystemParts(SystemClock(), SystemEntropy())
        settings = Settings(store="postgresql://x/y", port=0, workers=count)
        self.supervisor = Supervisor(settings, count, program, parts)
        self.opened: list[str] = []

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["asyncio.Task[None]"]:
        """Until the block ends, or the supervisor does by itself."""
        serving = asyncio.create_task(self.supervisor.serve(lambda url, _: self.opened.append(url)))
        try:
            yield serving
        finally:
            self.supervisor.stop()
            async with asyncio.timeout(SECONDS):
                with suppress(WorkersFailed, SettingsInvalid):
                    await serving

    async def until(self, what: Callable[[], object]) -> None:
        async with asyncio.timeout(SECONDS):
            while not what():  # noqa: ASYNC110  # files and processes tell nobody
                await asyncio.sleep(0.01)

    def heard(self) -> list[dict[str, Any]]:
        """The messages that a worker has written down."""
        if not self.told.exists():
            return []
        return [json.loads(line) for line in self.told.read_text().splitlines()]


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def awaited() -> None:
        await work()

    asyncio.run(awaited())


def test_a_port_that_another_process_opened_meanwhile_is_told_and_ends_the_server(
    tmp_path: Path,
) -> None:
    """Two may bind it while neither listens: the second to listen is refused by the system."""
    world = World(tmp_path, SERVES)

    async def work() -> None:
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            async with world.serving() as serving:
                await world.until(lambda: world.supervisor.endpoint)
                other.bind(("127.0.0.1", int(world.supervisor.endpoint.rpartition(":")[2])))
                other.listen()
                async with asyncio.timeout(SECONDS):
                    with pytest.raises(SettingsInvalid, match="it is in use"):
                        await serving
        assert world.opened == []

    run(work)


def test_who_hears_of_the_start_and_fails_ends_the_server_and_no_worker_alone(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, SERVES)

    def opened(*_: object) -> None:
        raise BrokenPipeError("nobody reads the ready line")

    async def work() -> None:
        async with asyncio.timeout(SECONDS):
            with pytest.raises(BrokenPipeError):
                await world.supervisor.serve(opened)

    run(work)


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> list[OSError]:
    """Errors that the next starts of processes meet, the last first."""
    errors: list[OSError] = []
    start = subprocess.Popen

    def starting(*words: Any, **named: Any) -> Any:  # noqa: ANN401  # what Popen takes and gives
        if errors:
            raise errors.pop()
        return start(*words, **named)

    monkeypatch.setattr(subprocess, "Popen", starting)
    return errors


def test_a_first_worker_that_the_system_does_not_start_is_the_end_with_its_reason(
    tmp_path: Path, no_process: list[OSError]
) -> None:
    world = World(tmp_path, SERVES)
    no_process.append(OSError(12, "Cannot allocate memory"))

    async def work() -> None:
        async with asyncio.timeout(SECONDS):
            with pytest.raises(WorkersFailed, match="no process: Cannot allocate memory"):
                await world.supervisor.serve(lambda *_: None)

    run(work)


def test_a_successor_that_the_system_does_not_start_is_tried_again(
    tmp_path: Path, no_process: list[OSError]
) -> None:
    """And those that serve go on; nothing is left open by the attempt."""
    world = World(tmp_path, SERVES)

    async def work() -> None:
        async with world.serving():
            await world.until(lambda: world.opened)
            no_process.append(OSError(11, "Resource temporarily unavailable"))
            first = next(iter(world.supervisor._hired.values()))
            first.process.kill()
            await world.until(lambda: not no_process)
            assert len(world.supervisor._hired) == 1
            await world.until(lambda: len(world.supervisor._serving()) == 2)

    run(work)


def test_counts_of_a_worker_that_ends_while_they_are_collected_are_taken_once(
    tmp_path: Path,
) -> None:
    """A counter that went up by them twice would go back at the next scrape."""
    world = World(
        tmp_path,
        """
        say("page", id=0, page=page(100))
        say("ready", data_format=7)
        if number == 1:
            time.sleep(0.5)  # until the other is there
            say("scrape", id=1, shown=[], page=page(1))
        for line in lines:
            if json.loads(line)["kind"] == "page?":
                os._exit(3)  # the figures that it told before are its last ones
            open(told, "a").write(line)
        """,
    )

    async def work() -> None:
        async with world.serving():
            await world.until(world.heard)
        (pages,) = [each["pages"] for each in world.heard() if each["kind"] == "pages"]
        counts = [page.count("widerow_commits_total 100") for page in pages]
        assert sum(counts) == 1, pages

    run(work)


def test_a_message_of_a_later_version_is_passed_over(tmp_path: Path) -> None:
    """A restart of the workers brings their new version under the same supervisor."""
    world = World(tmp_path, 'say("weather", sun=True)' + textwrap.dedent(SERVES))

    async def work() -> None:
        async with world.serving():
            await world.until(lambda: world.opened)
            assert world.supervisor._ends == {}

    run(work)


def test_a_worker_that_cannot_be_understood_is_replaced_and_the_others_stay(
    tmp_path: Path,
) -> None:
    world = World(
        tmp_path,
        """
        say("ready", data_format=7)
        if number == 2 and not os.path.exists(told):
            open(told, "w").close()
            time.sleep(0.3)  # until both are ready
            lines.write("no message\\n"); lines.flush()
        for line in lines: pass
        """,
    )

    async def work() -> None:
        async with world.serving():
            await world.until(lambda: world.opened)
            (kept,) = [
                id_ for id_, each in world.supervisor._roster.workers.items() if each.number == 1
            ]
            await world.until(lambda: world.supervisor._ends["died"] == 1)
            await world.until(lambda: len(world.supervisor._serving()) == 2)
            assert kept in world.supervisor._hired

    run(work)


# --- a worker's side ------------------------------------------------------------------------------


def test_a_connection_that_finds_no_descriptor_left_is_counted_and_closed() -> None:
    """Else the supervisor would think for ever that it is on its way."""
    taken: list[socket.socket | None] = []
    end, hand = socket.socketpair()
    with end, hand, socket.socket() as accepted:
        hand.settimeout(0)
        end.send(b"c")  # as a mark comes whose descriptor the system could not give
        assert hand_over(end, accepted)
        assert take_over(hand, taken.append)
        assert [each is None for each in taken] == [True, False]
    for each in taken:
        if each is not None:
            each.close()


@pytest.mark.parametrize(
    ("pages", "whole"),
    [
        ([HEAD + "widerow_commits_total 2\n"], HEAD + "widerow_commits_total 3\n"),
        ([HEAD + "widerow_commits_total many\n"], None),
        (["# TYPE \n"], None),
    ],
)
def test_who_scrapes_gets_an_answer_whatever_the_others_told(
    pages: list[str], whole: str | None
) -> None:
    own = HEAD + "widerow_commits_total 1\n"

    async def work() -> None:
        ours, its = socket.socketpair()
        hand, its_hand = socket.socketpair()
        with hand:
            channel = await WorkerChannel.over(its)
            start = {"number": 1, "count": 2, "endpoint": "", "secret": "00", "ended": {}}
            member = Member(start, channel, its_hand, SystemParts(SystemClock(), SystemEntropy()))
            supervisor = await WorkerChannel.over(ours)
            hearing = asyncio.create_task(member.listen(None))  # type: ignore[arg-type]  # it is asked nothing
            answered: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
            member.scrape(NO_NAME, own.encode(), answered.set_result)
            asked = await supervisor.heard()
            assert asked is not None
            supervisor.say("weather", sun=True)  # of another version
            supervisor.say("pages", id=asked["id"], pages=[asked["page"], *pages])
            found = await asyncio.wait_for(answered, SECONDS)
            assert found == (None if whole is None else whole.encode())
            await supervisor.close()
            await hearing
            await member.end(b"")
            its_hand.close()

    run(work)
