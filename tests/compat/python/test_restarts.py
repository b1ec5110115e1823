"""What was acknowledged is there after a stop and after a kill (semantics §5.8)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tablestore import (
    INF_MAX,
    INF_MIN,
    PK_AUTO_INCR,
    BatchWriteRowRequest,
    CapacityUnit,
    Condition,
    Direction,
    OTSClient,
    PutRowItem,
    ReservedThroughput,
    ReturnType,
    Row,
    RowExistenceExpectation,
    TableInBatchWriteRowItem,
    TableMeta,
    TableOptions,
)
from tablestore.retry import NoRetryPolicy
from tests.support.forked import ForkedServer

from widerow.system import SystemClock
from widerow.testing.process import ServeFailed

IGNORE = Condition(RowExistenceExpectation.IGNORE)
NONE = ReservedThroughput(CapacityUnit(0, 0))


@contextmanager
def connected(process: ForkedServer) -> Iterator[OTSClient]:
    options = {"retry_policy": NoRetryPolicy()}
    client = OTSClient(process.endpoint, "widerow", "widerow", "shop", **options)
    try:
        yield client
    finally:
        client.connection.pool.clear()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[ForkedServer]:
    """`widerow serve` on a directory, not started."""
    made = ForkedServer("--path", str(tmp_path / "store"))
    yield made
    made.stop()  # also where a test failed in the middle


def everything(ots: OTSClient, table: str, *columns: str) -> list[Any]:
    """Keys, cells and versions of every row."""
    low = [(column, INF_MIN) for column in columns]
    high = [(column, INF_MAX) for column in columns]
    rows = ots.xget_range(
        table, Direction.FORWARD, low, high, CapacityUnit(0, 0), max_version=2**31 - 1
    )
    return [(row.primary_key, row.attribute_columns) for row in rows]


def fill(ots: OTSClient) -> None:
    """Every kind of write once or more, in two tables."""
    schema = [("card", "STRING"), ("seq", "INTEGER", PK_AUTO_INCR)]
    ots.create_table(TableMeta("t", schema), TableOptions(max_version=3), NONE)
    ots.create_table(TableMeta("u", [("pk", "BINARY")]), TableOptions(86400, 2), NONE)
    ots.create_table(TableMeta("dropped", [("pk", "BINARY")]), TableOptions(), NONE)
    ots.delete_table("dropped")
    now = SystemClock().now_us() // 1000
    for card in ("a", "b"):
        for number in range(20):
            key = [("card", card), ("seq", PK_AUTO_INCR)]
            cells = [("n", number, now + version) for version in range(3)]
            _, row = ots.put_row("t", Row(key, cells), IGNORE, ReturnType.RT_PK)
            if number % 3 == 0:
                change = {"INCREMENT": [("total", 7)], "DELETE": [("n", None, now)]}
                ots.update_row("t", Row(row.primary_key, change), IGNORE)
            if number % 5 == 0:
                ots.delete_row("t", Row(row.primary_key), IGNORE)
    request = BatchWriteRowRequest()
    items = [
        PutRowItem(Row([("pk", bytearray([n]))], [("c", bytearray(n * 100))]), IGNORE)
        for n in range(200)
    ]
    request.add(TableInBatchWriteRowItem("u", items))
    assert ots.batch_write_row(request).is_all_succeed()


def test_the_same_rows_are_there_after_a_stop_and_after_a_kill(
    process: ForkedServer,
) -> None:
    process.start()
    with connected(process) as ots:
        fill(ots)
        before = [everything(ots, "t", "card", "seq"), everything(ots, "u", "pk")]
        options = ots.describe_table("u").table_options
    assert [len(rows) for rows in before] == [32, 200]
    for end in (process.stop, process.kill, process.kill, process.stop):
        assert end() in (0, None)
        process.start()
        with connected(process) as ots:
            assert list(ots.list_table()) == ["t", "u"]
            assert vars(ots.describe_table("u").table_options) == vars(options)
            after = [everything(ots, "t", "card", "seq"), everything(ots, "u", "pk")]
        assert after == before
    assert process.stop() == 0


def test_numbers_go_on_after_a_kill(
    process: ForkedServer,
) -> None:
    key = [("card", "a"), ("seq", PK_AUTO_INCR)]
    numbers: list[int] = []
    for _ in range(3):
        process.start()
        with connected(process) as ots:
            if not numbers:
                schema = [("card", "STRING"), ("seq", "INTEGER", PK_AUTO_INCR)]
                ots.create_table(TableMeta("t", schema), TableOptions(), NONE)
            for _ in range(3):
                _, row = ots.put_row("t", Row(key, []), IGNORE, ReturnType.RT_PK)
                numbers.append(row.primary_key[1][1])
        process.kill()
    assert numbers == sorted(set(numbers))


def test_a_kill_in_the_middle_of_writing_loses_nothing_acknowledged(
    process: ForkedServer,
) -> None:
    process.start()
    acknowledged: list[list[int]] = [[] for _ in range(4)]
    enough = threading.Event()

    def write(writer: int, ots: OTSClient) -> None:
        for number in range(1_000_000):
            key = [("writer", writer), ("n", number)]
            try:
                ots.put_row("t", Row(key, [("c", number)]), IGNORE)
            except Exception:  # noqa: BLE001  # the SDK's words for a lost connection are many
                return
            acknowledged[writer].append(number)
            if number == 50:
                enough.set()

    with connected(process) as ots:
        schema = [("writer", "INTEGER"), ("n", "INTEGER")]
        ots.create_table(TableMeta("t", schema), TableOptions(), NONE)
        threads = [threading.Thread(target=write, args=(n, ots)) for n in range(4)]
        for thread in threads:
            thread.start()
        assert enough.wait(30)
        process.kill()
        for thread in threads:
            thread.join()
    with process, connected(process) as ots:
        rows = everything(ots, "t", "writer", "n")
    found = [(key[0][1], key[1][1], cells[0][1]) for key, cells in rows]
    for writer, numbers in enumerate(acknowledged):
        present = [number for who, number, value in found if who == writer and number == value]
        # The one that was under way may be there or not.
        assert present[: len(numbers)] == numbers
        assert len(numbers) <= len(present) <= len(numbers) + 1


def test_the_ready_line_tells_everything(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with ForkedServer("--path", str(path)) as process:
        line = f"widerow ready endpoint={process.endpoint} store=rocksdb:{path} pid={process.pid}"
        assert process.ready_line == line
        assert process.endpoint.startswith("http://127.0.0.1:")
        assert process.stop() == 0


def test_a_second_process_is_kept_out_of_the_directory(tmp_path: Path) -> None:
    flags = ("--path", str(tmp_path / "store"))
    with ForkedServer(*flags) as process, connected(process) as ots:
        ots.create_table(TableMeta("t", [("pk", "STRING")]), TableOptions(), NONE)
        with pytest.raises(ServeFailed, match="widerow: "):
            ForkedServer(*flags).start()
        assert list(ots.list_table()) == ["t"]
