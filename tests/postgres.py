"""A private PostgreSQL server for each process of a run, where PostgreSQL is installed.

Each store gets a schema of its own.
"""

import atexit
from functools import cache

import pytest
from tools.cluster.postgres import PostgresServer as Server
from tools.cluster.postgres import made_server, program_folder

__all__ = ["Server", "fresh_url", "made", "server"]


def made() -> Server:
    """A new server, not yet started. Skips the test where none is installed."""
    programs = program_folder()
    if programs is None:
        pytest.skip("PostgreSQL is not installed; as root: python3 -m tools.debian")
    return made_server(programs)


@cache
def server() -> Server:
    """The server of this process, which runs until the process ends."""
    found = made()
    found.start()
    atexit.register(found.remove)
    return found


def fresh_url(of: Server | None = None) -> str:
    """The URL of an empty store."""
    return (server() if of is None else of).fresh_url()
