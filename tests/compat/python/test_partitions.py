"""Partitions of a real server: splits while it is written to, and a kill in the middle of it."""

from itertools import count
from pathlib import Path
from typing import Any

from tablestore import (
    INF_MAX,
    INF_MIN,
    BatchWriteRowRequest,
    CapacityUnit,
    Condition,
    Direction,
    OTSClient,
    PutRowItem,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    TableInBatchWriteRowItem,
    TableMeta,
    TableOptions,
)
from tests.support.forked import ForkedServer

from widerow.cli.partitions import fetch
from widerow.engine.check import check_store
from widerow.storage.opener import open_store

FLAGS = ("--partition-split-units", "20", "--partition-hot-seconds", "1")
BATCHES_MAX = 4000  # the first split is due after a second, and nothing waits for longer than this
ROWS = 50  # in a batch
PRIME = 100_003


def client_of(server: ForkedServer) -> OTSClient:
    return OTSClient(server.endpoint, "widerow", "widerow", "shop")


def bounds(server: ForkedServer) -> list[int]:
    given = {"access_key_id": "widerow", "access_key_secret": "widerow", "instance": "shop"}
    given |= {"endpoint": server.endpoint, "security_token": ""}
    found = fetch("t", {**given, "path": None, "history": False})
    return [each["start"] for each in found["partitions"][1:]]


def key(number: int) -> int:
    """Scattered over the table, and each once."""
    return number * 7919 % PRIME


def write(client: OTSClient, batch: int) -> None:
    """Fifty new rows, every one of which must be taken."""
    numbers = range(batch * ROWS, (batch + 1) * ROWS)
    rows = [Row([("k", key(number))], [("v", number)]) for number in numbers]
    ignore = Condition(RowExistenceExpectation.IGNORE)
    request = BatchWriteRowRequest()
    request.add(TableInBatchWriteRowItem("t", [PutRowItem(row, ignore) for row in rows]))
    assert client.batch_write_row(request).is_all_succeed()


def write_until_split(server: ForkedServer, splits: int) -> int:
    """Write until there are so many bounds; how many rows that took."""
    client = client_of(server)
    for batch in count(1):
        write(client, batch - 1)
        if batch % 20 == 0 and len(bounds(server)) >= splits:
            return batch * ROWS
        assert batch < BATCHES_MAX
    raise AssertionError


def rows_in(client: OTSClient) -> list[int]:
    """Every row by its value, in the order of the keys."""
    found: list[Any] = []
    start: Any = [("k", INF_MIN)]
    while start is not None:
        _, start, rows, _ = client.get_range(
            "t", Direction.FORWARD, start, [("k", INF_MAX)], max_version=1
        )
        found += rows
    return [row.attribute_columns[0][1] for row in found]


def test_splits_are_logged_survive_a_kill_and_no_request_notices_them(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with ForkedServer("--path", str(path), *FLAGS) as server:
        meta = TableMeta("t", [("k", "INTEGER")])
        units = ReservedThroughput(CapacityUnit(0, 0))
        client_of(server).create_table(meta, TableOptions(), units)
        written = write_until_split(server, 2)
        before = bounds(server)
        assert server.written().count("partition split") >= len(before)
        assert "reason=too-hot" in server.written()
        server.kill()
    with open_store(f"rocksdb:{path}") as store:
        assert check_store(store) == []
    with ForkedServer("--path", str(path), *FLAGS) as server:
        assert bounds(server) == sorted({*before, *bounds(server)})
        found = rows_in(client_of(server))
        assert sorted(found) == list(range(written))
        assert found == sorted(found, key=key)
