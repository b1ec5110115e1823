"""A row that is always written holds up nobody's entries, over a real database (change §A5).

Two servers over one database: by one of them a client updates a row without end, by the other one
clients write rows of other keys, tables and instances and look for them in the indexes.
"""

import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from tablestore import (
    INF_MAX,
    INF_MIN,
    CapacityUnit,
    Condition,
    Direction,
    OTSClient,
    ReservedThroughput,
    Row,
    SecondaryIndexMeta,
    TableMeta,
    TableOptions,
)
from tests import hbase
from tests.postgres import fresh_url
from tests.support.forked import ForkedServer

pytestmark = pytest.mark.timeout(180)

HOT_PAUSE_SECONDS = 0.01  # between two updates, each of which takes about as long
WARM_SECONDS = 8  # hundreds of intents of the hot row come before those of the others
ROWS = 217  # of each of three tables
TABLES = (("one", "a"), ("one", "b"), ("two", "a"))
ANY = Condition("IGNORE")
START, STOP = ([("s", end), ("k", end)] for end in (INF_MIN, INF_MAX))


class Servers(NamedTuple):
    """Two servers over one database."""

    one: ForkedServer
    other: ForkedServer


HBASE = pytest.param(
    "hbase", marks=(pytest.mark.night, pytest.mark.timeout(hbase.START_SECONDS + 120))
)


@pytest.fixture(params=["postgres", HBASE])
def servers(request: pytest.FixtureRequest) -> Iterator[Servers]:
    url = fresh_url() if request.param == "postgres" else hbase.fresh_url()
    with ForkedServer("--store", url) as one, ForkedServer("--store", url) as other:
        for instance, table in TABLES:
            meta = TableMeta(table, [("k", "INTEGER")], [("s", "STRING")])
            nothing = ReservedThroughput(CapacityUnit(0, 0))
            index = SecondaryIndexMeta(f"{table}_by_s", ["s"], [])
            client(one, instance).create_table(meta, TableOptions(), nothing, [index])
        yield Servers(one, other)


def client(server: ForkedServer, instance: str) -> OTSClient:
    return OTSClient(server.endpoint, "widerow", "widerow", instance)


def entries(asked: OTSClient, table: str) -> set[int]:
    """The keys of the rows that an index shows."""
    found: set[int] = set()
    start = START
    while start:
        _, start, rows, _ = asked.get_range(
            f"{table}_by_s", Direction.FORWARD, start, STOP, limit=1000
        )
        found.update(row.primary_key[1][1] for row in rows)
    return found


class Hot(threading.Thread):
    """Updates one row until it is `over`. `updates`: how often it has."""

    def __init__(self, asked: OTSClient) -> None:
        super().__init__()
        self.over = threading.Event()
        self.updates = 0
        self._client = asked

    def run(self) -> None:
        while not self.over.is_set():
            cells = {"PUT": [("s", f"hot{self.updates}")]}
            self._client.update_row("a", Row([("k", -1)], cells), ANY)
            self.updates += 1
            time.sleep(HOT_PAUSE_SECONDS)


class Watch:
    """When rows were written, and how long after that their entries were seen."""

    def __init__(self, server: ForkedServer) -> None:
        self.clients = {instance: client(server, instance) for instance, _ in TABLES}
        self.written: dict[tuple[str, str, int], float] = {}
        self.seconds: dict[tuple[str, str, int], float] = {}

    def write(self, instance: str, table: str, key: int) -> None:
        row = Row([("k", key)], [("s", f"v{key}")])
        self.clients[instance].put_row(table, row, ANY)
        self.written[instance, table, key] = time.monotonic()

    def look(self) -> bool:
        """See which entries are there; whether all are."""
        for instance, table in TABLES:
            for key in entries(self.clients[instance], table):
                at = self.written.get((instance, table, key))
                if at is not None:
                    self.seconds.setdefault((instance, table, key), time.monotonic() - at)
        return len(self.seconds) == len(TABLES) * ROWS


@pytest.mark.night
def test_entries_follow_within_a_second_whatever_one_row_does(servers: Servers) -> None:
    hot, watch = Hot(client(servers.other, "one")), Watch(servers.one)
    hot.start()
    try:
        time.sleep(WARM_SECONDS)
        updates, began = hot.updates, time.monotonic()
        for key in range(ROWS):
            for instance, table in TABLES:
                watch.write(instance, table, key)
            if key % 10 == 0:
                watch.look()
        while not watch.look() and time.monotonic() < began + 60:
            pass
        rate = (hot.updates - updates) / (time.monotonic() - began)
    finally:
        hot.over.set()
        hot.join()
    assert rate > 10, "the row was not hot"
    assert len(watch.seconds) == len(TABLES) * ROWS
    assert sorted(watch.seconds.values())[len(watch.seconds) * 9 // 10] < 1
