"""A real cluster without its master: servers start over a table that is there, and wait for others.

docs/operating/cluster.md, "What is different".
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest
from tests.support.forked import ForkedServer
from tests.support.http import Sender, Wire
from tests.support.requests import create_table_request, get_row_request, put_row_request
from tools.cluster.hbase import Cluster, ClusterError, Settings, private_cluster

SECONDS_MAX: Final = 600
TABLE: Final = "rows"

pytestmark = [pytest.mark.night, pytest.mark.timeout(SECONDS_MAX)]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with ExitStack() as opened:
        try:
            yield opened.enter_context(private_cluster(1, Settings(on_hdfs=False)))
        except ClusterError as error:
            pytest.skip(f"HBase cannot be run: {error}")


def works(endpoint: str, *, creates: bool) -> bool:
    """Whether a server makes a table, where it is to, and writes and reads a row of it."""
    requests = [
        ("PutRow", put_row_request(TABLE).SerializeToString()),
        ("GetRow", get_row_request(TABLE).SerializeToString()),
    ]
    if creates:
        requests.insert(0, ("CreateTable", create_table_request(TABLE).SerializeToString()))
    with Wire(endpoint) as wire:
        answers = [wire.ask(Sender().request(*each)) for each in requests]
    return [each.status for each in answers] == [200] * len(requests) and bool(answers[-1].body)


def test_servers_start_without_a_master(cluster: Cluster) -> None:
    (address,) = cluster.region_servers
    there, absent = (f"hbase://{address}/{table}" for table in ("there", "absent"))
    with ForkedServer("--store", there) as server:
        assert works(server.endpoint, creates=True)
    cluster.stop_one("master")
    with ForkedServer("--store", there) as server:
        assert works(server.endpoint, creates=False)
        assert "a check of the store is put off" in server.written()
    late = ForkedServer("--store", absent)
    starting = threading.Thread(target=late.start)
    starting.start()
    cluster.start_one("master")
    starting.join()
    try:
        assert works(late.endpoint, creates=True)
        assert "the store is waited for" in late.written()
        assert "start a master" in late.written()
    finally:
        late.stop()
