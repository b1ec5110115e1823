"""A private HBase cluster for the tests: one for all processes of a run, if it can be had.

The processes of a run share a directory. Each holds a lock on it as long as it lives, the first
that asks starts the cluster, and the last that ends stops it. Each store gets a table of its own.
"""

import atexit
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import gettempdir
from typing import Final

import pytest
from tools.cluster.hbase import Cluster, ClusterError, missing_programs

__all__ = ["START_SECONDS", "fresh_url", "server"]

START_SECONDS: Final = 600  # the limit of a test that may be the first to start it, or to fetch it
_numbers = count()


def _directory() -> Path:
    """That of this run: pytest-xdist tells its processes which one it is."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    return Path(gettempdir()) / f"widerow-hbase-{run}"


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    with (directory / "starting").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@cache
def _started() -> Cluster | str:
    """The cluster of this run, or why there is none."""
    if missing := missing_programs():
        return f"HBase cannot be run: not installed: {', '.join(missing)}"
    directory = _directory()
    directory.mkdir(exist_ok=True)
    cluster = Cluster(directory / "cluster")
    users = (directory / "users").open("w")
    fcntl.flock(users, fcntl.LOCK_SH)

    def leave() -> None:
        users.close()
        with (directory / "users").open("w") as others:
            try:
                fcntl.flock(others, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # somebody uses it still
            cluster.stop()
            shutil.rmtree(directory)

    atexit.register(leave)
    refused = directory / "refused"
    with _alone(directory):
        if refused.exists():
            return refused.read_text(encoding="utf-8")
        if not cluster.running():
            try:
                cluster.start()
            except ClusterError as error:
                refused.write_text(f"HBase cannot be run: {error}", encoding="utf-8")
                return refused.read_text(encoding="utf-8")
    return cluster


def server() -> Cluster:
    """The cluster of this run. Skips where there is none."""
    found = _started()
    if isinstance(found, str):
        pytest.skip(found)
    return found


def fresh_url() -> str:
    """The URL of an empty store."""
    host, port = server().master
    return f"hbase://{host}:{port}/store-{os.getpid()}-{next(_numbers)}"
