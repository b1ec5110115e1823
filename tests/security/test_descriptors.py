"""A process that may open few files: the store gets them, connections what is left."""

import contextlib
import os
import resource
import select
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from tests.support.http import Sender, Wire
from tests.support.requests import create_table_request, put_row_request

from widerow.testing.process import WiderowProcess

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="looks at the server through /proc"
)

LIMIT: Final = 64
FLOOD: Final = 500
SENDER: Final = Sender()
PUT: Final = put_row_request("T").SerializeToString()


@pytest.fixture
def confined(tmp_path: Path) -> Iterator[WiderowProcess]:
    """A server that may open few files."""
    launcher = ("/bin/sh", "-c", f'ulimit -n {LIMIT} && exec "$0" "$@"')
    with WiderowProcess("--path", str(tmp_path / "data"), launcher=launcher) as server:
        yield server


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


def test_five_hundred_connections_cost_the_store_nothing(confined: WiderowProcess) -> None:
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > FLOOD + 50
    with Wire(confined.endpoint) as first:
        create = create_table_request("T").SerializeToString()
        assert first.ask(SENDER.request("CreateTable", create)).status == 200
        many = open_many(confined.endpoint)
        select.select([], many, [], 1)
        # Those who are in are served, and the store takes writes.
        for _ in range(20):
            assert first.ask(SENDER.request("PutRow", PUT)).status == 200
        used = len(os.listdir(f"/proc/{confined.pid}/fd"))  # noqa: PTH208  # names only
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
    said = confined.written()
    assert "few open files are allowed, so few connections open_files=64 connections=16" in said
    assert "no more writes" not in said
    assert "Traceback" not in said
    assert confined.stop() == 0


def test_no_core_file_is_written(confined: WiderowProcess) -> None:
    # What the process holds in memory, secrets first, stays there.
    limits = Path(f"/proc/{confined.pid}/limits").read_text()
    (line,) = [each for each in limits.splitlines() if each.startswith("Max core file size")]
    assert line.split()[4] == "0"
