"""The socket beside the data: who may ask, and what is left behind (server/control.py)."""

import asyncio
import json
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.http import Sender, Wire

from widerow.errors import StoreFull
from widerow.server.control import ASK, Control, connect
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeEntropy

if TYPE_CHECKING:
    from tests.unit.server.conftest import Running

Serve = Callable[..., "Running"]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def running(serve: Serve, directory: Path) -> "Running":
    return serve(store=f"rocksdb:{directory}")


@pytest.fixture
def client(running: "Running", directory: Path) -> Iterator[socket.socket]:
    assert running.endpoint
    with ask(directory) as connected:
        yield connected


def ask(directory: Path, words: bytes = ASK) -> socket.socket:
    connected = connect(directory)
    assert connected is not None
    connected.settimeout(10)
    connected.sendall(words)
    return connected


def told(client: socket.socket) -> dict[str, str]:
    answer = b""
    while not answer.endswith(b"\n"):
        piece = client.recv(4096)
        assert piece, "the connection ended"
        answer += piece
    found: dict[str, str] = json.loads(answer)
    return found


def checkpoints(directory: Path) -> list[Path]:
    return list(directory.glob("backup-*"))


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        pass  # the test's own bound ends this


def test_a_checkpoint_lives_as_long_as_its_connection(
    client: socket.socket, directory: Path
) -> None:
    name = told(client)["checkpoint"]
    assert checkpoints(directory) == [directory / name]
    assert (directory / name / "CURRENT").is_file()
    client.close()
    wait_until(lambda: not checkpoints(directory))


def test_one_backup_at_a_time(client: socket.socket, directory: Path) -> None:
    told(client)
    with ask(directory) as second:
        assert "another backup" in told(second)["error"]
    assert len(checkpoints(directory)) == 1
    client.close()
    wait_until(lambda: not checkpoints(directory))
    with ask(directory) as third:
        assert "checkpoint" in told(third)


@pytest.mark.parametrize("words", [b"restore", b"BACKUP\n", b"GET / H", b"\0" * 7, b"x" * 100_000])
def test_whoever_asks_for_something_else_gets_nothing(
    running: "Running", directory: Path, words: bytes
) -> None:
    assert running.endpoint
    with ask(directory, words) as client:
        assert told(client) == {"error": "unknown request"}
    assert checkpoints(directory) == []


def test_half_a_request_and_silence_are_ended(
    serve: Serve, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widerow.server.control._ASK_SECONDS_MAX", 0.05)
    serve(store=f"rocksdb:{directory}")
    for words in (b"", b"back"):
        with ask(directory, words) as client:
            assert client.recv(1) == b""


def test_the_socket_is_for_its_owner_alone(running: "Running", directory: Path) -> None:
    assert running.endpoint
    mode = (directory / "control.sock").stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


def test_a_stopped_server_leaves_no_socket_and_no_checkpoint(
    running: "Running", client: socket.socket, directory: Path
) -> None:
    told(client)
    running.call(running.server.stop())
    assert client.recv(1) == b""
    assert not (directory / "control.sock").exists()
    assert checkpoints(directory) == []
    assert connect(directory) is None


def test_what_a_killed_server_left_is_removed(serve: Serve, directory: Path) -> None:
    open_store(str(directory)).close()
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(directory / "control.sock"))
    stale.close()
    left = directory / "backup-0123456789abcdef"
    left.mkdir()
    (left / "CURRENT").write_text("x")
    outside = directory.parent / "outside"
    outside.mkdir()
    (directory / "backup-fedcba9876543210").symlink_to(outside)
    (directory / "backup-mine").mkdir()
    assert connect(directory) is None
    serve(store=f"rocksdb:{directory}")
    assert not left.exists()
    assert outside.is_dir()
    assert (directory / "backup-mine").is_dir()
    with ask(directory) as client:
        assert "checkpoint" in told(client)


def test_a_directory_with_a_long_name_has_a_socket_too(serve: Serve, tmp_path: Path) -> None:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("needs /proc for addresses longer than the system takes")
    directory = tmp_path / ("d" * 120)
    serve(store=f"rocksdb:{directory}")
    with ask(directory) as client:
        assert "checkpoint" in told(client)


def test_without_a_socket_the_server_serves_on(
    serve: Serve, directory: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> socket.socket:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("widerow.server.control._listen", refuse)
    running = serve(store=f"rocksdb:{directory}")
    with Wire(running.endpoint) as wire:
        assert wire.ask(Sender().request("ListTable")).status == 200
    assert "backups only while stopped: no control socket" in caplog.messages


def test_a_checkpoint_that_fails_is_told(directory: Path) -> None:
    def fail(target: Path) -> None:
        target.mkdir()
        raise StoreFull("17 bytes are free")

    async def run() -> dict[str, str]:
        control = Control(directory, fail, FakeEntropy())
        await control.start()
        try:
            client = await asyncio.to_thread(ask, directory)
            with client:
                return await asyncio.to_thread(told, client)
        finally:
            await control.stop()

    directory.mkdir()
    assert asyncio.run(run()) == {"error": "17 bytes are free"}
    assert checkpoints(directory) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, which root can")
def test_another_user_is_kept_out(running: "Running", directory: Path) -> None:
    assert running.endpoint
    for each in (directory, *directory.parents[:3]):
        each.chmod(0o755)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            connect(directory)
        except PermissionError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
