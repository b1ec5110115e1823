"""PostgreSQL under servers that are killed, and killed itself: lost 0, doubled 0, torn 0.

Each test has a database server of its own, because it is restarted while others would use it.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random  # noqa: TID251  # seeded: which faults come must repeat

import pytest
import tablestore
from tests.counting import differences, run_writers
from tests.postgres import Server, fresh_url, made
from tests.support.forked import ForkedServer
from tests.support.linearizability import judge
from tests.support.recording import Recorder, ServerFaults

from widerow.storage.opener import open_store

pytestmark = pytest.mark.timeout(180)  # twenty seconds of work, on machines that are busy too


@pytest.fixture(scope="module")
def database() -> Iterator[Server]:
    found = made()
    found.start()
    yield found
    found.remove()


def crash(database: Server) -> None:
    database.stop("immediate")
    database.start()


def often(random: Random, database: Server) -> Callable[[], None]:
    """Connections end often, the whole database crashes now and then."""
    return lambda: (crash if random.random() < 0.2 else Server.terminate)(database)


@pytest.mark.night
def test_writers_that_count_lose_nothing(database: Server) -> None:
    url = fresh_url(database)
    over = threading.Event()
    random = Random(7)  # noqa: S311  # no secret

    def trouble() -> None:
        try:
            for number in range(25):
                over.wait(random.uniform(0.01, 0.2))
                (crash if number % 8 == 4 else Server.terminate)(database)
        finally:
            over.set()

    with open_store(url) as one, open_store(url) as two, open_store(url) as three:
        stores = [one, two, three]
        with ThreadPoolExecutor(1) as disturber:
            disturbed = disturber.submit(trouble)
            tallies = run_writers(stores, turns=10**6, over=over)
            disturbed.result()
        assert differences(one, tallies) == []
        assert sum(tally.made.total() for tally in tallies) > 100
        assert sum(store.statistics()["unknown"] for store in stores) > 0  # some were looked up


@pytest.mark.night
def test_clients_of_two_servers_see_one_order(database: Server) -> None:
    with Recorder(4, 8, shared=(fresh_url(database), 2)) as recorder:
        recording = recorder.record(seed=1, operations=1600)
    assert judge(recording) == []
    assert recording.facts()["indeterminate"] < 80  # clients whose patience is half a second


@pytest.mark.night
def test_the_order_is_kept_while_servers_and_database_are_killed(database: Server) -> None:
    shared = (fresh_url(database), 2)
    faults = ServerFaults(disturb=often(Random(3), database))  # noqa: S311  # no secret
    with Recorder(4, 8, faults=faults, shared=shared) as recorder:
        recording = recorder.record(seed=2, operations=1600)
    assert judge(recording) == []
    facts = recording.facts()
    assert facts["kills"] + facts["pauses"] + facts["disturbances"] > 2


# --- two servers, by the vendor's client ----------------------------------------------------------


@pytest.fixture
def clients(database: Server) -> Iterator[list[tablestore.OTSClient]]:
    """A client of each of two servers over one database, which has a table `t`."""
    url = fresh_url(database)
    with ForkedServer("--store", url) as one, ForkedServer("--store", url) as other:
        found = [
            tablestore.OTSClient(process.endpoint, "widerow", "widerow", "inst")
            for process in (one, other)
        ]
        keys = [("k", "STRING"), ("n", "INTEGER", tablestore.PK_AUTO_INCR)]
        options = tablestore.TableOptions(time_to_live=-1, max_version=1)
        reserved = tablestore.ReservedThroughput(tablestore.CapacityUnit(0, 0))
        found[0].create_table(tablestore.TableMeta("auto", keys), options, reserved)
        found[1].create_table(tablestore.TableMeta("count", [("k", "INTEGER")]), options, reserved)
        yield found


def at_once(clients: list[tablestore.OTSClient], work: Callable[..., list[int]]) -> list[int]:
    """Two threads for each client."""
    with ThreadPoolExecutor(4) as threads:
        running = [threads.submit(work, clients[number % 2], number) for number in range(4)]
        return [each for done in running for each in done.result()]


def test_two_servers_give_each_number_once(clients: list[tablestore.OTSClient]) -> None:
    """Auto-increment values under one partition key value, drawn on both (semantics §4.7)."""

    def draw(client: tablestore.OTSClient, number: int) -> list[int]:
        drawn = []
        for turn in range(25):
            row = tablestore.Row([("k", "one"), ("n", tablestore.PK_AUTO_INCR)], [("x", turn)])
            _, given = client.put_row(
                "auto", row, tablestore.Condition("IGNORE"), tablestore.ReturnType.RT_PK
            )
            drawn.append(given.primary_key[1][1])
        assert drawn == sorted(drawn), number
        return drawn

    drawn = at_once(clients, draw)
    assert len(set(drawn)) == len(drawn) == 100
    _, following, rows, _ = clients[0].get_range(
        "auto",
        tablestore.Direction.FORWARD,
        [("k", "one"), ("n", tablestore.INF_MIN)],
        [("k", "one"), ("n", tablestore.INF_MAX)],
    )
    assert following is None
    assert sorted(row.primary_key[1][1] for row in rows) == sorted(drawn)


def test_batches_on_two_servers_count_every_row(clients: list[tablestore.OTSClient]) -> None:
    def count(client: tablestore.OTSClient, number: int) -> list[int]:
        for turn in range(15):
            items = [
                tablestore.UpdateRowItem(
                    tablestore.Row([("k", key)], {"INCREMENT": [("x", 1)]}),
                    tablestore.Condition("IGNORE"),
                )
                for key in range(number % 2, 20 - turn % 3, 1 + number % 2)
            ]
            request = tablestore.BatchWriteRowRequest()
            request.add(tablestore.TableInBatchWriteRowItem("count", items))
            answer = client.batch_write_row(request)
            succeeded, failed = answer.get_update()
            assert failed == []
            counted[number] += len(succeeded)
        return []

    counted = [0] * 4
    at_once(clients, count)
    total = 0
    for key in range(20):
        _, row, _ = clients[key % 2].get_row("count", [("k", key)])
        total += row.attribute_columns[0][1]
    assert total == sum(counted)
