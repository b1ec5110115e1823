"""A region server that hangs holds up nobody's writes and reads of other ones.

docs/operating/cluster.md, "What happens when something dies". Of three region servers one is
stopped (SIGSTOP), for less than its session lasts, while clients count rows of all regions.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from statistics import quantiles
from time import monotonic, sleep
from typing import Final

import pytest
from tools.cluster.hbase import Cluster, ClusterError, private_cluster
from tools.cluster.regions import REFUSALS, RegionKeeper

from widerow.commit.committer import Committer, Uncounted
from widerow.engine.plan import Plan, single
from widerow.errors import OutcomeUnknown, StoreBusy
from widerow.keys.layout import row_prefix
from widerow.storage.hbase.messages import (
    GetMetaRegionLocationsRequest,
    GetMetaRegionLocationsResponse,
)
from widerow.storage.hbase.opening import open_hbase
from widerow.storage.interface import Store, Transaction, Write
from widerow.system import SystemClock

SECONDS_MAX: Final = 900
PHASE_SECONDS: Final = 4.0  # alone, and while a server is stopped: its session lasts six
PATIENCE_SECONDS: Final = 120.0
SHARDS: Final = [row_prefix(7) + bytes((65 + number,)) + b"\x00" for number in range(16)]
_log = logging.getLogger(__name__)
CLIENTS: Final = 4  # of either side, for writes and for reads

pytestmark = [pytest.mark.night, pytest.mark.timeout(SECONDS_MAX)]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with ExitStack() as opened:
        try:
            yield opened.enter_context(private_cluster(3))
        except ClusterError as error:
            pytest.skip(f"HBase cannot be run: {error}")


def add(shard: bytes) -> Plan[int]:
    def body(txn: Transaction) -> int:
        count = int(txn.get(shard) or b"0") + 1
        txn.put(shard, b"%d" % count)
        return count

    return Plan((Write((shard,), body),), single)


class Clients:
    """Threads that do something again and again, and how long each time took."""

    def __init__(self, works: Sequence[Callable[[], object]]) -> None:
        self.took: list[float] = []
        self.busy = 0
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._repeat, args=(work,)) for work in works]
        for thread in self._threads:
            thread.start()

    def _repeat(self, work: Callable[[], object]) -> None:
        while not self._over.is_set():
            began = monotonic()
            try:
                work()
            except StoreBusy:
                self.busy += 1
                sleep(0.01)
            self.took.append(monotonic() - began)

    @property
    def p99(self) -> float:
        return quantiles(self.took, n=100)[98]

    def __str__(self) -> str:
        return f"{len(self.took)} requests, p99 {self.p99:.4f} s, at most {max(self.took):.4f} s"

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()


class Counters:
    """Counts one up under keys, by way of group commit; what was acknowledged, and what is open."""

    def __init__(self, store: Store) -> None:
        self.committer = Committer(store, SystemClock(), Uncounted())
        self.committer.start()
        self.acknowledged = dict.fromkeys(SHARDS, 0)
        self.unknown = dict.fromkeys(SHARDS, 0)
        self._store = store

    def write(self, shard: bytes) -> None:
        try:
            self.acknowledged[shard] = self.committer.run(add(shard))
        except OutcomeUnknown:
            self.unknown[shard] += 1

    def works(self, shards: Sequence[bytes]) -> list[Callable[[], object]]:
        """A writer and a reader for each of some shards."""
        few = shards[:CLIENTS]
        writes = [partial(self.write, shard) for shard in few]
        return [*writes, *[partial(self._store.get_together, [shard]) for shard in few]]

    def wrong(self, shard: bytes) -> bool:
        """Whether a count is less than was acknowledged, or more than can have been made."""
        deadline = monotonic() + PATIENCE_SECONDS
        while True:
            try:
                (value,) = self._store.get_together([shard])
            except StoreBusy:
                assert monotonic() < deadline, "the shard stays away"
            else:
                least = self.acknowledged[shard]
                return not least <= int(value or b"0") <= least + self.unknown[shard]


def meta_port(keeper: RegionKeeper) -> int:
    """Where the server listens that has `hbase:meta`."""
    asked = GetMetaRegionLocationsRequest()
    found = keeper._servers.ask_any("GetMetaRegionLocations", asked, GetMetaRegionLocationsResponse)
    return int(found.meta_locations[0].server_name.port)


def victim(servers: Iterable[str], port: int) -> str | None:
    """One of several servers, without `hbase:meta`."""
    known = sorted(set(servers))
    few = [server for server in known if not server.endswith(f":{port}")]
    return few[0] if few and len(known) > 1 else None


def divided(store: Store, cluster: Cluster) -> tuple[str, list[bytes], list[bytes]]:
    """A server without `hbase:meta` that has shards, these shards, and those of the others."""
    deadline = monotonic() + PATIENCE_SECONDS
    with closing(RegionKeeper(cluster.master, "slow")) as keeper:
        while monotonic() < deadline:
            found: str | None = None
            with suppress(StoreBusy, *REFUSALS):
                keeper.spread(4)
                store.get_together(SHARDS)  # all regions are where they are going to be
                found = victim(map(store.server_of, SHARDS), meta_port(keeper))
            if found is not None:
                theirs = [shard for shard in SHARDS if store.server_of(shard) == found]
                return found, theirs, [shard for shard in SHARDS if shard not in theirs]
            sleep(0.5)
    raise AssertionError("the regions stay on one server")


def test_a_server_that_hangs_holds_up_no_other(cluster: Cluster) -> None:
    with open_hbase(cluster.url("slow")) as store:
        counters = Counters(store)
        for shard in SHARDS:
            counters.write(shard)
        address, theirs, others = divided(store, cluster)
        name = cluster.servers[cluster.region_servers.index(address)]
        slow, alone = Clients(counters.works(theirs)), Clients(counters.works(others))
        sleep(PHASE_SECONDS)
        alone.stop()
        cluster.pause_one(name)
        beside = Clients(counters.works(others))
        sleep(PHASE_SECONDS / 2)
        states = {each.server: each for each in store.server_states()}
        sleep(PHASE_SECONDS / 2)
        beside.stop()
        cluster.resume_one(name)
        slow.stop()
        counters.committer.stop()
        _log.warning("alone: %s; beside a server that hangs: %s", alone, beside)
        _log.warning("late writes: %s; %s", store.statistics()["late"], states[address])
        assert states[address].silent_seconds > 0
        assert store.statistics()["late"] > 0
        assert alone.busy == beside.busy == 0
        assert beside.p99 <= 4 * alone.p99 + 0.05
        assert max(beside.took) < 1.5, "that a server hangs is known after three seconds"
        assert [shard for shard in SHARDS if counters.wrong(shard)] == []
