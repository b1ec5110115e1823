"""A private PostgreSQL server for the tests: one for each process of a run, if any is installed.

Each store gets a schema of its own. The server syncs as any other does.
"""

import atexit
import os
import shutil
import socket
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import mkdtemp
from typing import Final, NamedTuple

import psycopg
import pytest
from bench.peers.postgres import program_folder, run

__all__ = ["Server", "fresh_url", "server"]

_USER: Final = "postgres"
_numbers = count()


class Server(NamedTuple):
    """A server that was initialized, and the port that it listens on while it runs."""

    programs: Path
    directory: Path
    port: int

    @property
    def url(self) -> str:
        return f"postgresql://{_USER}@127.0.0.1:{self.port}/postgres"

    def start(self, **settings: str) -> None:
        """Start it and wait until it answers."""
        options = f"-h 127.0.0.1 -p {self.port} -k {self.directory} -c max_connections=200"
        options += "".join(f" -c {name}={value}" for name, value in settings.items())
        log = str(self.directory / "log")
        self._control("-l", log, "-o", options, "start")

    def stop(self, how: str = "immediate") -> None:
        """Stop it: `immediate` as a crash would."""
        self._control("-m", how, "stop")

    def _control(self, *arguments: str) -> None:
        data = str(self.directory / "data")
        run([str(self.programs / "pg_ctl"), "-D", data, "-w", "-t", "60", *arguments])

    def remove(self) -> None:
        """Stop it, if it runs, and forget its data."""
        with suppress(CalledProcessError):
            self.stop()
        shutil.rmtree(self.directory)


def made() -> Server:
    """A new server that does not run yet. Skips where none is installed."""
    programs = program_folder()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: no initdb in /usr/lib/postgresql or on the path")
    directory = Path(mkdtemp(prefix="widerow-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(directory, _USER, _USER)
    data = str(directory / "data")
    initdb = [str(programs / "initdb"), "-D", data, "-A", "trust", "-U", _USER, "--no-sync"]
    run(initdb)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return Server(programs, directory, port)


@cache
def server() -> Server:
    """The server of this process, which runs until the process ends."""
    found = made()
    found.start()
    atexit.register(found.remove)
    return found


def fresh_url(of: Server | None = None) -> str:
    """The URL of an empty store."""
    of = server() if of is None else of
    schema = f"store{next(_numbers)}"
    with psycopg.connect(of.url, autocommit=True) as connection:
        connection.execute(
            psycopg.sql.SQL("CREATE SCHEMA {}").format(psycopg.sql.Identifier(schema))
        )
    return f"{of.url}?options=-csearch_path%3D{schema}"
