"""HBase while its regions are split and merged, and servers are killed: lost 0, doubled 0, torn 0.

The cluster of a run has one region server (`tests/hbase.py`): to kill one, and to move regions from
one to another, is what `python -m tools.linearize --store hbase --disturb` does.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random  # noqa: TID251  # seeded: which regions are changed must repeat

import pytest
from tests import hbase
from tests.counting import differences, run_writers
from tests.support.forked import ForkedServer
from tests.support.linearizability import judge
from tests.support.recording import Recorder, ServerFaults
from tools.cluster.faults import disturbed, region_changes
from tools.cluster.ledger import Ledger
from tools.cluster.regions import REFUSALS, RegionKeeper

from widerow.storage.opener import open_store

pytestmark = [pytest.mark.night, pytest.mark.timeout(hbase.START_SECONDS)]

PATIENCE_SECONDS = 25.0  # on machines that are busy; a region that is split is away for a second


@pytest.fixture
def url() -> str:
    return hbase.fresh_url()


@pytest.fixture
def keeper(url: str) -> Iterator[RegionKeeper]:
    found = RegionKeeper(hbase.server().master, url.rpartition("/")[2])
    yield found
    found.close()


def test_writers_that_count_lose_nothing(url: str, keeper: RegionKeeper) -> None:
    over = threading.Event()
    random = Random(7)  # noqa: S311  # no secret
    made: Counter[str] = Counter()

    def trouble() -> None:
        changes: list[Callable[[Random], str]] = [keeper.split, keeper.merge] * 4
        try:
            for change in changes:
                over.wait(random.uniform(0.1, 0.5))
                try:
                    change(random)
                    made[change.__name__] += 1
                except REFUSALS:
                    made["refused"] += 1
        finally:
            over.set()

    with open_store(url) as one, open_store(url) as two:
        with ThreadPoolExecutor(1) as disturber:
            disturbed_by = disturber.submit(trouble)
            tallies = run_writers([one, two], turns=10**6, over=over)
            disturbed_by.result()
        assert differences(one, tallies) == []
        assert sum(tally.made.total() for tally in tallies) > 100
    assert made["split"] > 0, made


def test_clients_of_two_servers_see_one_order_while_regions_change(
    url: str, keeper: RegionKeeper
) -> None:
    recorder = Recorder(4, 8, shared=(url, 2), patience_seconds=PATIENCE_SECONDS)
    with recorder, disturbed(region_changes(keeper), seed=1) as times:
        recording = recorder.record(seed=1, operations=1200)
    assert judge(recording) == []
    assert times.total() > 0
    facts = recording.facts()
    assert facts["indeterminate"] < 20
    assert facts["by batch"] > 100


def test_the_order_is_kept_while_servers_are_killed_and_paused(url: str) -> None:
    with Recorder(4, 8, faults=ServerFaults(), shared=(url, 2), patience_seconds=2) as recorder:
        recording = recorder.record(seed=2, operations=800)
    assert judge(recording) == []
    assert recording.kills + recording.pauses > 0


def test_numbers_that_two_servers_acknowledge_are_read_back(url: str, keeper: RegionKeeper) -> None:
    """Atomic batches and auto-increment, with a client that goes on at the other server."""
    with ForkedServer("--store", url) as one, ForkedServer("--store", url) as two:
        ledger = Ledger(
            lambda: [one.endpoint, two.endpoint], writers=1, patience_seconds=PATIENCE_SECONDS
        )
        ledger.create()
        with ledger.running(), ledger.observed() as outage:
            keeper.split(Random(1))  # noqa: S311  # no secret
            one.kill()
            while outage().acknowledged < 200:
                assert two.running
                time.sleep(0.05)
            one.start()
        ledger.verify()
    assert ledger.wrongs.told == []
    assert ledger.reads > 10
