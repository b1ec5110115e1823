"""A server with a delivery task is killed under writes: every acknowledged row is in the files.

(change §D3: at least once)
"""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.buffers import cell, row_buffer
from tests.support.forked import ForkedServer
from tests.support.http import Sender, Wire
from tests.support.requests import ANY, create_table_request

from widerow.wire.tablestore import delivery_messages as d
from widerow.wire.tablestore import messages as m

parquet = pytest.importorskip("pyarrow.parquet", reason="pip install pyarrow")
pytestmark = pytest.mark.timeout(300)  # seconds, on a machine that others load as well
SENDER = Sender(instance="test")
KILLS = 2


def create_all(endpoint: str) -> None:
    columns = [
        d.ParquetSchema(columnName="k", ossColumnName="k", type=2),
        d.ParquetSchema(columnName="n", ossColumnName="n", type=1),
    ]
    config = d.OSSTaskConfig(ossPrefix="$HH/$mm", ossBucket="bucket", schema=columns)
    task = d.CreateDeliveryTaskRequest(
        tableName="T", taskName="task", taskConfig=config, taskType=2
    )
    with Wire(endpoint) as wire:
        for action, message in (
            ("CreateTable", create_table_request("T")),
            ("CreateDeliveryTask", task),
        ):
            answer = wire.ask(SENDER.request(action, message.SerializeToString()))
            assert answer.status == 200, answer.body


def put(number: int) -> bytes:
    row = row_buffer([("k", f"k{number % 50}"), ("n", number)], [cell("c", "v")])
    request = m.PutRowRequest(table_name="T", row=row, condition=ANY)
    return SENDER.request("PutRow", request.SerializeToString())


class Writer(threading.Thread):
    """Writes rows until the server is gone."""

    def __init__(self, endpoint: str, first: int) -> None:
        super().__init__(daemon=True)
        self.endpoint, self.number = endpoint, first
        self.acknowledged: list[int] = []

    def run(self) -> None:
        try:
            with Wire(self.endpoint) as wire:
                while wire.ask(put(self.number)).status == 200:
                    self.acknowledged.append(self.number)
                    self.number += 1
        except (OSError, EOFError, AssertionError):
            self.number += 1  # the last one may be there, too


def finished(files: Path) -> set[Path]:
    return set(files.rglob("*.parquet"))


def delivered(files: Path) -> set[tuple[str, int]]:
    return {
        (row["k"], row["n"])
        for path in finished(files)
        for row in parquet.read_table(path).to_pylist()
    }


@pytest.fixture
def files(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    return made


@pytest.fixture
def server(tmp_path: Path, files: Path) -> Iterator[ForkedServer]:
    made = ForkedServer(
        *("--path", str(tmp_path / "data"), "--delivery-root", str(files)),
        *("--delivery-seconds", "1"),
    )
    yield made
    if made.running:
        made.stop()


def test_every_acknowledged_row_is_in_the_files(server: ForkedServer, files: Path) -> None:
    acknowledged: list[int] = []
    number = 0
    for round_number in range(KILLS):
        server.start()
        if round_number == 0:
            create_all(server.endpoint)
        known = finished(files)
        writer = Writer(server.endpoint, number)
        writer.start()
        while writer.is_alive() and not finished(files) - known:
            writer.join(0.02)  # until the server has begun to deliver
        server.kill()
        writer.join()
        assert writer.acknowledged
        acknowledged += writer.acknowledged
        number = writer.number
    server.start()
    with Wire(server.endpoint) as wire:
        assert wire.ask(put(number)).status == 200
    acknowledged.append(number)
    wanted = {(f"k{each % 50}", each) for each in acknowledged}
    watched = threading.Event()  # never set: it only paces the looks
    for _ in range(600):
        if wanted <= delivered(files) or watched.wait(0.1):
            break
    server.stop()
    assert wanted <= delivered(files)
