"""A private PostgreSQL server, for tests and trials. It syncs as any other does."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, NamedTuple

import psycopg
from tools.cluster.ports import free_ports

__all__ = ["PostgresServer", "made_server", "private_server", "program_folder"]

_USER: Final = "postgres"
_HOST: Final = "127.0.0.1"
_CONNECTIONS: Final = 250  # three servers at full load
_numbers = count()


def program_folder() -> Path | None:
    """The folder of the newest installed server's programs; None if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


def _run(command: Sequence[str]) -> None:
    """Run as the user that the server runs as: it refuses to be run as root."""
    prefix = ["runuser", "-u", _USER, "--"] if os.geteuid() == 0 else []
    subprocess.run([*prefix, *command], check=True, capture_output=True, text=True, cwd="/")  # noqa: S603  # programs of the system


class PostgresServer(NamedTuple):
    """A server that was initialized, and the port that it listens on while it runs."""

    programs: Path
    directory: Path
    port: int

    @property
    def url(self) -> str:
        """The URL of its first database."""
        return f"postgresql://{_USER}@{_HOST}:{self.port}/postgres"

    def start(self, **settings: str) -> None:
        """Start it and wait until it answers."""
        options = f"-h {_HOST} -p {self.port} -k {self.directory}"
        settings = {"max_connections": str(_CONNECTIONS)} | settings
        options += "".join(f" -c {name}={value}" for name, value in settings.items())
        log = str(self.directory / "log")
        self._control("-l", log, "-o", options, "start")

    def stop(self, how: str = "immediate") -> None:
        """Stop it: `immediate` as a crash would, `fast` in order, with connections ended."""
        self._control("-m", how, "stop")

    def _control(self, *arguments: str) -> None:
        data = str(self.directory / "data")
        _run([str(self.programs / "pg_ctl"), "-D", data, "-w", "-t", "60", *arguments])

    def terminate(self) -> None:
        """End every other connection, whatever it is doing."""
        with suppress(psycopg.OperationalError), psycopg.connect(self.url) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )

    @property
    def pid(self) -> int:
        """The process that all others are children of."""
        return int((self.directory / "data" / "postmaster.pid").read_text().split()[0])

    def fresh_url(self) -> str:
        """The URL of an empty store: a schema of its own."""
        schema = f"store{next(_numbers)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                psycopg.sql.SQL("CREATE SCHEMA {}").format(psycopg.sql.Identifier(schema))
            )
        return f"{self.url}?options=-csearch_path%3D{schema}"

    def remove(self) -> None:
        """Stop it, if it runs, and forget its data."""
        with suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self.directory)


def made_server(programs: Path) -> PostgresServer:
    """A new server that does not run yet."""
    directory = Path(mkdtemp(prefix="widerow-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(directory, _USER, _USER)
    data = str(directory / "data")
    _run([str(programs / "initdb"), "-D", data, "-A", "trust", "-U", _USER, "--no-sync"])
    return PostgresServer(programs, directory, *free_ports(1))


@contextmanager
def private_server(programs: Path) -> Iterator[PostgresServer]:
    """A new server that runs, and is forgotten at the end."""
    server = made_server(programs)
    try:
        server.start()
        yield server
    finally:
        server.remove()
