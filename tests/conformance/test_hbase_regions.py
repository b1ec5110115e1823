"""Partitions are regions of HBase: divided, merged and moved while they are read and written."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep

import pytest
import tablestore
from tests import hbase
from tests.support.answers import decode_row
from tests.support.changes import create, get, put
from tests.support.engines import open_tablestore
from tests.support.forked import ForkedServer

from widerow.engine.partitions.rules import Thresholds
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import StorageFailure, StoreBusy
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import SPACE_ROWS, row_prefix
from widerow.limits import LEASE_SECONDS, TRANSACTION_SECONDS_MAX
from widerow.model.values import KeyMarker, KeyType
from widerow.storage.hbase.opening import open_hbase
from widerow.storage.interface import Store
from widerow.system import SystemClock, SystemEntropy
from widerow.testing.clock import FakeClock, FakeEntropy

pytestmark = [pytest.mark.night, pytest.mark.timeout(hbase.START_SECONDS)]

PATIENCE_SECONDS = 120  # HBase cleans up behind splits and merges every few seconds here
KEY = {"k": KeyType.INTEGER}


@pytest.fixture
def store() -> Iterator[Store]:
    with open_hbase(hbase.fresh_url()) as opened:
        yield opened


def region_bounds(store: Store) -> list[bytes]:
    assert store.placement is not None
    return [each.start for each in store.placement.ranges()[1:]]


def bounds_of(engine: TablestoreEngine) -> list[bytes]:
    """Where regions should begin that a table has alone."""
    found = engine.describe_table("i", "t")
    start = row_prefix(found.id)
    return [start, *(start + each for each in found.splits)] if found.splits else []


def wait_for(what: Callable[[], bool]) -> None:
    deadline = monotonic() + PATIENCE_SECONDS
    while True:
        try:
            if what():
                return
        except StoreBusy:
            pass  # a region is on its way
        assert monotonic() < deadline, "it takes too long"
        sleep(0.1)


def change(store: Store, begin: str, key: bytes) -> None:
    """Have a change made, as often as HBase asks to wait."""
    placement = store.placement
    assert placement is not None
    numbers: list[int | None] = []

    def is_made() -> bool:
        if not numbers:
            numbers.append(getattr(placement, begin)(key))
        return numbers[0] is None or placement.has_ended(numbers[0])

    wait_for(is_made)


# --- what HBase is asked --------------------------------------------------------------------------


def test_regions_are_split_and_merged_at_first_keys_of_shards(store: Store) -> None:
    placement = store.placement
    assert placement is not None
    keys = [row_prefix(7), row_prefix(7) + encode_key_value(5), row_prefix(7) + encode_key_value(9)]
    for key in (keys[1], keys[0], keys[2]):
        change(store, "begin_split", key)
        assert placement.begin_split(key) is None  # it may be asked for again
    found = placement.ranges()
    assert [each.start for each in found] == [SPACE_ROWS, *keys]
    assert [each.stop for each in found] == [*keys, bytes((SPACE_ROWS[0] + 1,))]
    assert {each.host for each in found} == {"127.0.0.1"}
    for key in (keys[0], keys[2], keys[1]):
        change(store, "begin_merge", key)
        assert placement.begin_merge(key) is None
    assert region_bounds(store) == []


def test_what_could_cut_a_shard_is_not_asked_for(store: Store) -> None:
    placement = store.placement
    assert placement is not None
    for key in (SPACE_ROWS, row_prefix(7) + b"\x03", b"\x12" + row_prefix(7)[1:]):
        with pytest.raises(ValueError, match="cut a shard"):
            placement.begin_split(key)
    with pytest.raises(ValueError, match="catalogue"):
        placement.begin_merge(SPACE_ROWS)
    assert len(placement.ranges()) == 1
    assert placement.has_ended(2**40)  # of which HBase knows nothing
    store.close()
    with pytest.raises(StorageFailure, match="closed"):
        placement.ranges()


# --- partitions decide ----------------------------------------------------------------------------


@contextmanager
def kept(engine: TablestoreEngine) -> Iterator[None]:
    """Let a thread look after an engine's partitions meanwhile, as a server does."""
    over = threading.Event()

    def keep() -> None:
        while not over.wait(0.05):
            try:
                plan = engine.core.partitions.step()
                if plan is not None:
                    engine.core.run(plan)
            except StoreBusy:
                pass  # a server logs it and goes on

    with ThreadPoolExecutor(1) as keeper:
        keeping = keeper.submit(keep)
        try:
            yield
        finally:
            over.set()
            keeping.result()


def test_a_table_is_written_while_the_rules_divide_it(store: Store) -> None:
    """Every write is made, if it is asked for again, while regions are split and merged again.

    A region that is on its way for more than `HOME_SECONDS_MAX` holds up no other: writes to it are
    refused meanwhile, and clients repeat them.
    """
    limits = Thresholds(split_units=5.0, hot_seconds=1.0, partitions_max=2)
    engine = open_tablestore(store, SystemClock(), SystemEntropy(), thresholds=limits)
    engine.core.run(engine.create_table("i", create("t", KEY)))
    over = threading.Event()

    def write(number: int) -> int:
        turn = 0
        while not over.is_set():
            change = put("t", {"k": key_of(number, turn)}, {"v": turn})
            try:
                engine.core.run(engine.rows.write_row("i", change))
            except StoreBusy:
                continue
            turn += 1
        return turn

    with kept(engine), ThreadPoolExecutor(4) as writers:
        writing = [writers.submit(write, number) for number in range(4)]
        try:
            wait_for(lambda: any(done.done() for done in writing) or len(bounds_of(engine)) == 2)
            wait_for(lambda: region_bounds(store) == bounds_of(engine))
            engine.core.partitions.thresholds = Thresholds()  # nothing is hot any more
            tables = engine.core.partitions._tables
            store.transact_group([tables.divide(engine.describe_table("i", "t"), lambda _: ())])
            wait_for(lambda: region_bounds(store) == [])
            counts = engine.core.partitions.following.counts  # of what the next look has found made
            wait_for(lambda: (counts["split", "done"], counts["merge", "done"]) == (2, 2))
        finally:
            over.set()
        turns = [done.result() for done in writing]
    for number, made in enumerate(turns):
        for turn in range(made):
            row = decode_row(engine.rows.get_row("i", get("t", {"k": key_of(number, turn)})).row)
            assert row is not None
            assert row[1]["v"][0][1] == turn


def key_of(number: int, turn: int) -> int:
    """The key that a writer writes in its turn: each once, and near none of the others."""
    return (turn * 4 + number) * 7919 % 100_003


def test_a_pre_split_table_gets_regions_and_leaves_none(store: Store) -> None:
    clock = FakeClock()
    engine = open_tablestore(store, clock, FakeEntropy(), thresholds=Thresholds(cold_seconds=1e9))
    edges = (KeyMarker.INF_MIN, 100, 200, KeyMarker.INF_MAX)
    request = replace(create("t", KEY), partitions=tuple(pairwise(edges)))

    def follow() -> None:
        clock.advance(1)
        plan = engine.core.partitions.step() or engine.core.housekeeping()
        if plan is not None:
            engine.core.run(plan)

    def as_wanted(wanted: list[bytes]) -> bool:
        follow()
        return region_bounds(store) == wanted

    engine.core.run(engine.create_table("i", request))
    wanted = bounds_of(engine)
    assert len(wanted) == 3
    wait_for(lambda: as_wanted(wanted))
    engine.core.run(engine.rows.write_row("i", put("t", {"k": 150}, {"v": 1})))
    engine.core.run(engine.delete_table("i", "t"))
    clock.advance(TRANSACTION_SECONDS_MAX + LEASE_SECONDS)
    wait_for(lambda: as_wanted([]))


# --- servers --------------------------------------------------------------------------------------


def test_two_servers_show_where_partitions_are() -> None:
    url = hbase.fresh_url()
    with ForkedServer("--store", url) as one, ForkedServer("--store", url) as other:
        clients = [
            tablestore.OTSClient(each.endpoint, "widerow", "widerow", "inst")
            for each in (one, other)
        ]
        options = tablestore.TableOptions(time_to_live=-1, max_version=1)
        reserved = tablestore.ReservedThroughput(tablestore.CapacityUnit(0, 0))
        meta = tablestore.TableMeta("t", [("k", "INTEGER")])
        clients[0].create_table(meta, options, reserved)
        condition = tablestore.Condition("IGNORE")
        for key in range(40):
            row = tablestore.Row([("k", key)], [("v", "x" * 50_000)])
            clients[key % 2].put_row("t", row, condition)
        document = shown(other.endpoint)
        assert [len(each["servers"]) for each in document["partitions"]] == [1]
        server = document["partitions"][0]["servers"][0]
        assert server["address"].startswith("127.0.0.1:")
        assert server["address"] in table_of(other.endpoint)


def partitions_command(endpoint: str, *flags: str) -> str:
    program = str(Path(sys.executable).with_name("widerow"))
    command = [program, "partitions", "t", "--endpoint", endpoint, "--instance", "inst", *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603  # our own
    return done.stdout


def shown(endpoint: str) -> dict[str, list[dict[str, list[dict[str, str]]]]]:
    found: dict[str, list[dict[str, list[dict[str, str]]]]] = json.loads(
        partitions_command(endpoint, "--json")
    )
    return found


def table_of(endpoint: str) -> str:
    return partitions_command(endpoint)
