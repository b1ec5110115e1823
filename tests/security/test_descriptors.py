"""A process that may open few files: the store gets them, connections what is left."""

import contextlib
import os
import resource
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from widerow.testing.http import Sender, Wire
from widerow.testing.requests import create_table, put_row

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="looks at the server through /proc"
)

LIMIT: Final = 64
FLOOD: Final = 500
SENDER: Final = Sender()
PUT: Final = put_row("T").SerializeToString()


class Confined:
    """`widerow serve` with few descriptors."""

    def __init__(self, directory: Path) -> None:
        program = Path(sys.executable).with_name("widerow")
        self.log = (directory / "log").open("w+")
        self.process = subprocess.Popen(  # noqa: S603  # our own program
            [
                "/bin/sh",
                "-c",
                f'ulimit -n {LIMIT} && exec "$0" "$@"',
                str(program),
                *("serve", "--port", "0", "--path", str(directory / "data")),
            ],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        assert self.process.stdout is not None
        ready = self.process.stdout.readline()
        self.endpoint = ready.partition("endpoint=")[2].partition(" ")[0]

    def end(self) -> int:
        self.process.terminate()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.log.close()
        return self.process.wait(timeout=40)

    def said(self) -> str:
        return Path(self.log.name).read_text()


@pytest.fixture
def confined(tmp_path: Path) -> Iterator[Confined]:
    server = Confined(tmp_path)
    yield server
    server.process.kill()
    server.end()


def open_many(endpoint: str) -> list[socket.socket]:
    place = urlsplit(endpoint)
    many = []
    for _ in range(FLOOD):
        with contextlib.suppress(OSError):
            each = socket.socket()
            each.setblocking(False)  # noqa: FBT003  # the library's own signature
            many.append(each)
            with contextlib.suppress(BlockingIOError):
                each.connect((place.hostname, place.port))
    return many


def test_five_hundred_connections_cost_the_store_nothing(confined: Confined) -> None:
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > FLOOD + 50
    with Wire(confined.endpoint) as first:
        create = create_table("T").SerializeToString()
        assert first.ask(SENDER.request("CreateTable", create)).status == 200
        many = open_many(confined.endpoint)
        select.select([], many, [], 1)
        # Those who are in are served, and the store takes writes.
        for _ in range(20):
            assert first.ask(SENDER.request("PutRow", PUT)).status == 200
        used = len(os.listdir(f"/proc/{confined.process.pid}/fd"))  # noqa: PTH208  # names only
        assert used <= LIMIT
        for each in many:
            each.close()
        while True:  # the test's own bound ends this
            with contextlib.suppress(OSError), Wire(confined.endpoint) as late:
                answer = late.ask(SENDER.request("PutRow", PUT))
                if answer.status == 200:
                    break
                assert answer.status == 503
        assert first.ask(SENDER.request("PutRow", PUT)).status == 200
    said = confined.said()
    assert "few open files are allowed, so few connections open_files=64 connections=16" in said
    assert "no more writes" not in said
    assert "Traceback" not in said
    assert confined.end() == 0


def test_no_core_file_is_written(confined: Confined) -> None:
    # What the process holds in memory, secrets first, stays there.
    limits = Path(f"/proc/{confined.process.pid}/limits").read_text()
    (line,) = [each for each in limits.splitlines() if each.startswith("Max core file size")]
    assert line.split()[4] == "0"
