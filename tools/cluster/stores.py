"""Databases for several servers, started for one run and forgotten behind it."""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import MappingProxyType
from typing import Final, NamedTuple

from tools.cluster.faults import Fault, hbase_faults, postgres_faults
from tools.cluster.hbase import ClusterError, missing_programs, private_cluster
from tools.cluster.postgres import private_server, program_folder
from tools.cluster.regions import RegionKeeper

__all__ = ["STORES", "NoStore", "SharedStore", "started"]

_TABLE: Final = "widerow"
_REGIONS: Final = 6  # two for each region server


class NoStore(Exception):
    """The database cannot be had here, and why."""


class SharedStore(NamedTuple):
    """A database that runs.

    `prepare`: to be called once there are tables; it spreads them over the servers of the database.
    `serves`: whether all of it answers.
    """

    url: str
    faults: tuple[Fault, ...]
    prepare: Callable[[], None]
    serves: Callable[[], bool] = lambda: True


@contextmanager
def _hbase(region_servers: int) -> Iterator[SharedStore]:
    if missing := missing_programs():
        raise NoStore(f"HBase cannot be run: not installed: {', '.join(missing)}")
    try:
        with private_cluster(region_servers) as cluster:
            keeper = RegionKeeper(cluster.master, _TABLE)
            faults = tuple(hbase_faults(cluster, keeper))
            url = cluster.url(_TABLE)
            yield SharedStore(
                url,
                faults,
                lambda: keeper.spread(_REGIONS),
                keeper.serves,
            )
            keeper.close()
    except ClusterError as error:
        raise NoStore(f"HBase cannot be run: {error}") from error


@contextmanager
def _postgres(_: int) -> Iterator[SharedStore]:
    programs = program_folder()
    if programs is None:
        raise NoStore("PostgreSQL is not installed")
    with private_server(programs) as server:
        yield SharedStore(server.fresh_url(), tuple(postgres_faults(server)), lambda: None)


STORES: Final[Mapping[str, Callable[[int], AbstractContextManager[SharedStore]]]] = (
    MappingProxyType({"hbase": _hbase, "postgresql": _postgres})
)
"""The databases, by their names."""


def _leave(*_: object) -> None:
    sys.exit("told to end")


@contextmanager
def started(name: str, *, region_servers: int = 3) -> Iterator[SharedStore]:
    """One of `STORES`, from the top of a `with` block to its end. Raises `NoStore`.

    A process that is told to end (SIGTERM) ends the block, so that no database is left running.
    """
    signal.signal(signal.SIGTERM, _leave)
    with STORES[name](region_servers) as store:
        yield store
