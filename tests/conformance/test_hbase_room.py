"""A real region server is given several times its heap, as quickly as it takes commits.

Without the questions of storage/hbase/room.py it ends with an `OutOfMemoryError`.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from time import monotonic, sleep
from typing import Final

import pytest
from tools.cluster.hbase import Cluster, ClusterError, private_cluster

from widerow.errors import StoreBusy
from widerow.keys.layout import revision_key, row_prefix
from widerow.storage.hbase.opening import open_driver
from widerow.storage.remote.driver import Driver, ShardChange

SECONDS_MAX: Final = 900
BUSY_SECONDS_MAX: Final = 60.0  # a server without room writes files meanwhile
WRITERS: Final = 16
COMMITS: Final = 80  # of each writer
VALUE: Final = bytes(range(256)) * 1024 * 4  # 1 MB, so 1.3 GB in all: the heap has 384 MB

pytestmark = [pytest.mark.night, pytest.mark.timeout(SECONDS_MAX)]


@pytest.fixture
def small() -> Iterator[Cluster]:
    """A cluster with one region server, which no other test uses."""
    with ExitStack() as opened:
        try:
            cluster = opened.enter_context(private_cluster(servers=1))
        except ClusterError as error:
            pytest.skip(f"HBase cannot be run: {error}")
        yield cluster


def write(driver: Driver, writer: int) -> int:
    """Commit one value after another to keys of a shard, and return how often it was too busy."""
    shard = row_prefix(7) + b"%02d\x00\x01" % writer
    busy, revision = 0, None
    for number in range(COMMITS):
        fresh = b"%d" % number
        change = ShardChange(
            revision_key(shard), revision, fresh, {shard + b"%02d" % number: VALUE}
        )
        until = monotonic() + BUSY_SECONDS_MAX
        while True:
            try:
                refused = driver.commit([change])
            except StoreBusy:
                assert monotonic() < until, "the server has no room for a minute"
                busy += 1
                sleep(0.005)
            else:
                assert not refused
                revision = fresh
                break
    return busy


def test_a_region_server_outlives_writes_of_several_times_its_heap(small: Cluster) -> None:
    """No `OutOfMemoryError` ends it, and each commit that it has acknowledged is there."""
    began = small.running()
    driver = open_driver(small.url("store"))
    with ThreadPoolExecutor(WRITERS) as pool:
        busy = sum(pool.map(lambda writer: write(driver, writer), range(WRITERS)))
    assert busy, "the server always had room: this test shows nothing"
    assert small.running() == began
    view = driver.view()
    for writer in range(WRITERS):
        shard = row_prefix(7) + b"%02d\x00\x01" % writer
        for number in range(COMMITS):
            assert view.read_many([shard + b"%02d" % number]) == [VALUE]
    view.close()
    driver.close()
