"""Real clusters that are secured: TLS with certificates of both sides, Kerberos, both together.

docs/operating/cluster.md, "Encryption and Kerberos".
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from tools.cluster.hbase import Cluster, ClusterError, Settings, private_cluster
from tools.cluster.secured import REALM, kerberos_server, kerberos_settings, tls_settings

from widerow.errors import StoreBusy
from widerow.keys.layout import row_prefix
from widerow.storage.interface import Store
from widerow.storage.opener import open_store

SECONDS_MAX: Final = 600
SHARD: Final = row_prefix(7) + b"m\x00"
VALUE: Final = bytes(range(256)) * 4096  # 1 MB: many records, and frames of SASL

pytestmark = [pytest.mark.night, pytest.mark.timeout(SECONDS_MAX)]


@pytest.fixture
def started() -> Iterator[ExitStack]:
    """What a test has started, which is ended behind it."""
    with ExitStack() as opened:
        yield opened


def cluster_of(started: ExitStack, settings: Settings) -> Cluster:
    try:
        return started.enter_context(private_cluster(1, settings))
    except ClusterError as error:
        pytest.skip(f"HBase cannot be run: {error}")


def kerberos(started: ExitStack, folder: Path, protection: str) -> Settings:
    """A Kerberos server, which this process asks too."""
    pytest.importorskip("gssapi")
    try:
        conf = started.enter_context(kerberos_server(folder))
    except ClusterError as error:
        pytest.skip(f"no Kerberos server can be run: {error}")
    patch = started.enter_context(pytest.MonkeyPatch.context())
    patch.setenv("KRB5_CONFIG", str(conf))
    patch.setenv("KRB5CCNAME", str(folder / "tickets"))
    return kerberos_settings(folder, conf, protection)


def refused(url: str) -> str:
    """Why a store is not opened."""
    with pytest.raises(StoreBusy) as error:
        open_store(url)
    return str(error.value)


def written_and_read(url: str) -> None:
    """A large value is written, and read by a thread and by way of the loop."""
    with open_store(url) as store:
        store.transact((SHARD,), lambda txn: txn.put(SHARD, VALUE))
        assert store.snapshot().get(SHARD) == VALUE
        assert asyncio.run(read_on_loop(store)) == [VALUE]


async def read_on_loop(store: Store) -> Sequence[bytes | None] | None:
    loop = asyncio.get_running_loop()
    reads = store.loop_reads(loop)
    assert reads is not None
    told: asyncio.Future[Sequence[bytes | None] | None] = loop.create_future()
    async with asyncio.timeout(30):
        while not reads.begin([SHARD], told.set_result):  # noqa: ASYNC110  # until it is connected
            await asyncio.sleep(0.01)
        try:
            return await told
        finally:
            reads.close()


def test_tls_with_certificates_of_both_sides(started: ExitStack, tmp_path: Path) -> None:
    try:
        settings = tls_settings(tmp_path)
    except ClusterError as error:
        pytest.skip(str(error))
    url = cluster_of(started, settings).url("t")
    ca, ours = f"ca={tmp_path}/cert.pem", f"cert={tmp_path}/cert.pem&key={tmp_path}/key.pem"
    written_and_read(f"{url}?tls=on&{ca}&{ours}")
    assert "certificate verify failed" in refused(f"{url}?tls=on&{ours}")
    assert "alert" in refused(f"{url}?tls=on&{ca}")  # the server wants a certificate of ours
    assert refused(url)


@pytest.mark.parametrize("protection", ["authentication", "integrity", "privacy"])
def test_kerberos(started: ExitStack, tmp_path: Path, protection: str) -> None:
    url = cluster_of(started, kerberos(started, tmp_path, protection)).url("t")
    ours = f"principal=widerow@{REALM}&keytab={tmp_path}/keytab"
    written_and_read(f"{url}?kerberos=hbase&{ours}")
    assert "not found in Kerberos database" in refused(f"{url}?kerberos=nobody&{ours}")
    assert "No Kerberos credentials" in refused(f"{url}?kerberos=hbase")
    assert "Authentication is required" in refused(url)
    os.environ["KRB5_CLIENT_KTNAME"] = f"{tmp_path}/keytab"  # tickets that the process finds
    started.callback(os.environ.pop, "KRB5_CLIENT_KTNAME")
    written_and_read(f"{url}?kerberos=hbase&principal=widerow@{REALM}")


def test_kerberos_inside_tls(started: ExitStack, tmp_path: Path) -> None:
    try:
        tls = tls_settings(tmp_path)
    except ClusterError as error:
        pytest.skip(str(error))
    secured = kerberos(started, tmp_path, "privacy")
    both = secured._replace(hbase={**tls.hbase, **secured.hbase})
    url = cluster_of(started, both).url("t")
    ours = f"principal=widerow@{REALM}&keytab={tmp_path}/keytab"
    files = f"ca={tmp_path}/cert.pem&cert={tmp_path}/cert.pem&key={tmp_path}/key.pem"
    written_and_read(f"{url}?tls=on&{files}&kerberos=hbase&{ours}")
