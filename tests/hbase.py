"""A private HBase cluster for the tests, one for all processes of a run, where one is installed.

The processes of a run share a directory. Each process holds a lock on the directory while it lives;
the first one starts the cluster, and the last one stops it. Each store gets a table of its own.
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

# the limit of the test that is the first to start the cluster, or to fetch it
START_SECONDS: Final = 600
_numbers = count()


def _directory() -> Path:
    """The directory of this run: pytest-xdist tells each process its run."""
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
                return  # another process still uses it
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
    """The cluster of this run. Skips the test where there is none."""
    found = _started()
    if isinstance(found, str):
        pytest.skip(found)
    return found


def fresh_url() -> str:
    """The URL of an empty store."""
    host, port = server().master
    return f"hbase://{host}:{port}/store-{os.getpid()}-{next(_numbers)}"
