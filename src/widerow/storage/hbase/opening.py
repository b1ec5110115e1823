"""Opening a store: what its URL says, and what is asked of HBase before it is used."""

import re
from typing import Final

from widerow.errors import StorageFailure, StoreBusy
from widerow.storage.hbase.driver import HBaseDriver
from widerow.storage.hbase.messages import CoprocessorServiceResponse
from widerow.storage.hbase.regions import (
    TABLE_NAMESPACE,
    MovePauses,
    Regions,
    Servers,
    storage_failure,
)
from widerow.storage.hbase.requests import mutate_rows
from widerow.storage.hbase.rows import DATA
from widerow.storage.hbase.rpc import Address, RemoteFailure, ServerLost
from widerow.storage.hbase.table import ENDPOINT, HBaseTable
from widerow.storage.remote.optimistic import OptimisticStore

__all__ = ["open_driver", "open_hbase"]

_URL: Final = re.compile(
    r"hbase://(?P<seeds>[^/@?#]+)/((?P<namespace>[A-Za-z0-9_]+):)?"
    r"(?P<table>[A-Za-z0-9_][A-Za-z0-9_.-]*)"
)
_SEED: Final = re.compile(r"(?P<host>[^\s:]+):(?P<port>[0-9]{1,5})")
_OPENING_SECONDS_MAX: Final = 15  # a new table's regions are opened in about two


def open_hbase(url: str) -> OptimisticStore:
    """The store in the table that `url` names, which is made if it is not there.

    `hbase://host:port[,host:port]/[namespace:]table`: any masters or region servers of the cluster.
    The namespace must be there.

    Raises: `ValueError` for another URL, `StoreBusy` where the cluster cannot be reached, or has no
    master and not the table either; `StorageFailure` where the table is not safe or cannot be used
    for another reason. Without a master that is looked up later (`table.py`, `Store.put_off`).
    """
    driver = open_driver(url)
    store = OptimisticStore(driver)
    store.put_off = driver.put_off
    return store


def open_driver(url: str) -> HBaseDriver:
    """The driver of the table that `url` names. Raises as `open_hbase` does."""
    seeds, namespace, table = _read(url)
    servers = Servers(seeds)
    regions = Regions(servers, table, namespace)
    made = HBaseTable(regions)
    try:
        put_off = made.check()
        _try_commit(regions)
    except (ServerLost, RemoteFailure) as error:
        servers.close()
        raise storage_failure(error) from error
    except BaseException:
        servers.close()
        raise
    return HBaseDriver(regions, made, put_off)


def _read(url: str) -> tuple[list[Address], str, str]:
    """The masters or region servers, the namespace and the table in `url`. Raises `ValueError`."""
    found = _URL.fullmatch(url)
    seeds = [_SEED.fullmatch(seed) for seed in found["seeds"].split(",")] if found else []
    if found is None or not all(seeds):
        raise ValueError(f"{url!r} is not hbase://HOST:PORT[,HOST:PORT]/[NAMESPACE:]TABLE")
    named = [Address(seed["host"], int(seed["port"])) for seed in seeds if seed]
    return named, found["namespace"] or TABLE_NAMESPACE, found["table"]


def _try_commit(regions: Regions) -> None:
    """Raise unless the table's regions are online and take a commit that changes nothing.

    Raises `StorageFailure` where they make none, `StoreBusy` where they are not there.
    """
    pauses = MovePauses(_OPENING_SECONDS_MAX)
    while True:
        try:
            region = regions.of(DATA)
            request = mutate_rows(region, {b"\x06": b"never"}, (), (), 0)
            connection = regions.servers.connection(region.address)
            connection.call("ExecService", request, CoprocessorServiceResponse)
        except RemoteFailure as error:
            failure = storage_failure(error)
            if error.kind == "UnknownProtocolException":
                raise StorageFailure(
                    "the table has no MultiRowMutationEndpoint: set its coprocessor$1 to "
                    + ENDPOINT.decode()
                ) from error
        except ServerLost as error:
            failure = storage_failure(error)
        except StoreBusy as error:
            failure = error
        else:
            return
        regions.forget()
        if not isinstance(failure, StoreBusy) or not pauses.rest():
            raise failure
