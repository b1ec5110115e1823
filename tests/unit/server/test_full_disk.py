"""A full disk seen by clients: it can be made less full (DURABILITY.md, storage fails)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES, batch_write_request, delete_row_request

from widerow.cli.main import app
from widerow.model.tablestore.row import Modification
from widerow.storage.rocksdb import RocksDBStore, Steps
from widerow.wire.tablestore import messages as m

MIB = 1024 * 1024
SENDER = Sender()


class Disk:
    """A disk whose room is what a test says."""

    free = 1 << 40


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def store(disk: Disk, tmp_path: Path) -> Iterator[RocksDBStore]:
    steps = Steps(free_bytes=lambda _: disk.free)
    with RocksDBStore(tmp_path / "s", cache_bytes=8 * MIB, steps=steps) as opened:
        yield opened


@pytest.fixture
def endpoint(disk: Disk, store: RocksDBStore, serve: Callable[..., Any]) -> str:
    """A server with two tables of a row each, on a disk that has become full."""
    endpoint = str(serve(store).endpoint)
    for table in ("T", "U"):
        assert ask(endpoint, "CreateTable", BODIES["CreateTable"](table)) == 200
        assert ask(endpoint, "PutRow", BODIES["PutRow"](table)) == 200
    disk.free = 64 * MIB - 1
    return endpoint


def ask(endpoint: str, action: str, body: bytes) -> int:
    with Wire(endpoint) as wire:
        return wire.ask(SENDER.request(action, body)).status


def page(endpoint: str, path: str) -> tuple[int, str]:
    with Wire(endpoint) as wire:
        answer = wire.ask(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    return answer.status, answer.body.decode()


def test_rows_and_tables_are_deleted_on_a_full_disk(endpoint: str, disk: Disk) -> None:
    put = BODIES["PutRow"]("T")
    assert ask(endpoint, "PutRow", put) == 503
    assert ask(endpoint, "DeleteRow", delete_row_request("T").SerializeToString()) == 200
    assert ask(endpoint, "DeleteTable", BODIES["DeleteTable"]("U")) == 200
    assert ask(endpoint, "PutRow", put) == 503
    disk.free = 32 * MIB - 1  # of the reserve as well
    assert ask(endpoint, "DeleteTable", BODIES["DeleteTable"]("T")) == 503
    disk.free = 64 * MIB
    assert ask(endpoint, "PutRow", put) == 200


def test_of_a_batch_only_what_gives_room_back_is_made(endpoint: str) -> None:
    request = batch_write_request("T")
    row = request.tables[0].rows[0]
    gone = request.tables[0].rows.add()
    gone.CopyFrom(row)
    gone.type = Modification.DELETE
    gone.row_change = delete_row_request("T").primary_key
    with Wire(endpoint) as wire:
        answer = wire.ask(SENDER.request("BatchWriteRow", request.SerializeToString()))
    told = m.BatchWriteRowResponse.FromString(answer.body).tables[0].rows
    assert [each.is_ok for each in told] == [False, True]
    assert "busy" in told[0].error.message.lower()


def test_who_asks_whether_it_is_ready_hears_of_the_full_disk(
    endpoint: str, disk: Disk, tmp_path: Path
) -> None:
    status, words = page(endpoint, "/readyz")
    assert status == 503
    assert "writes are refused" in words
    assert "bytes are free" in words
    assert str(tmp_path) not in words, "whoever reaches the port may ask"
    asked = CliRunner().invoke(app, ["ping", "--endpoint", endpoint])
    assert asked.exit_code == 1
    assert "writes are refused" in asked.stderr
    assert page(endpoint, "/livez")[0] == 200
    disk.free = 64 * MIB
    assert page(endpoint, "/readyz") == (200, "ready\n")
