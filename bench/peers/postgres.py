"""PostgreSQL: a private cluster with its defaults, asked by pgbench with prepared statements.

A row is a text, an integer and ten texts of a hundred bytes. The cluster lives in a temporary
directory and listens on a port of 127.0.0.1, as widerow does. The server refuses to run as root, so
a root runs it as the user `postgres`.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from bench import rows
from bench.load import Outcome
from bench.measure import Case, Result, Settings, combine, percentile
from bench.servers import Place, processor_seconds
from tools.cluster.ports import free_ports

TABLE_ROWS: Final = 100_000
CONNECTIONS: Final = (32, 128)
_DATABASE: Final = "postgres"
_USER: Final = "postgres"
_SETTLE_SECONDS: Final = 0.3  # sessions end, and their time becomes their parent's


def program_folder() -> Path | None:
    """The folder of the newest installed server's programs; None if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


def run(command: Sequence[str], **variables: str) -> str:
    """What a command printed, run as the user that the server runs as."""
    prefix = ["runuser", "-u", _USER, "--"] if os.geteuid() == 0 else []
    done = subprocess.run(  # noqa: S603  # programs of the system, arguments of ours
        [*prefix, *command],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        cwd="/",
    )
    return done.stdout


@contextmanager
def cluster(programs: Path, directory: Path) -> Iterator[Place]:
    """A running cluster in `directory`."""
    data = directory / "data"
    if os.geteuid() == 0:
        shutil.chown(directory, _USER, _USER)
    run([str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", _USER])
    (port,) = free_ports(1)
    options = f"-h 127.0.0.1 -p {port} -k {directory} -c max_connections=200"
    control = [str(programs / "pg_ctl"), "-D", str(data), "-w"]
    log = str(directory / "log")
    run([*control, "-l", log, "-o", options, "start"])
    try:
        process = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
        yield Place(str(port), process)
    finally:
        run([*control, "-m", "immediate", "stop"])


def schema() -> tuple[str, ...]:
    """The commands that make the table and its rows."""
    names = ", ".join(f"field{at} text" for at in range(rows.COLUMNS))
    values = ", ".join(
        f"substr(repeat(md5((i * {rows.COLUMNS} + {at})::text), 4), 1, {rows.VALUE_BYTES})"
        for at in range(rows.COLUMNS)
    )
    key = "'user' || lpad((i / 100)::text, 10, '0'), i % 100"
    numbers = f"generate_series(0, {TABLE_ROWS - 1}) AS i"
    table = f"CREATE TABLE measured (k text, n bigint, {names}, PRIMARY KEY (k, n))"
    filled = f"INSERT INTO measured SELECT {key}, {values} FROM {numbers}"  # noqa: S608  # our own
    return (table, filled, "VACUUM ANALYZE measured", "CHECKPOINT")


_DRAW: Final = (
    f"\\set i random(0, {TABLE_ROWS - 1})\n\\set n :i % 100\n\\set p 10000000000 + :i / 100\n"
)
_KEY: Final = "'user' || substr((:p)::text, 2)"


def statements() -> dict[str, str]:
    """Pgbench's scripts, by name."""
    columns = [f"field{at}" for at in range(rows.COLUMNS)]
    values = ", ".join(f"'{text}'" for text in rows.texts()[0])
    replaced = ", ".join(f"{name} = excluded.{name}" for name in columns)
    return {
        "select": f"{_DRAW}SELECT * FROM measured WHERE k = {_KEY} AND n = :n;\n",  # noqa: S608  # our own text
        "upsert": (
            f"{_DRAW}INSERT INTO measured VALUES ({_KEY}, :n, {values}) "  # noqa: S608  # our own text
            f"ON CONFLICT (k, n) DO UPDATE SET {replaced};\n"
        ),
    }


def results(programs: Path, directory: Path, settings: Settings) -> list[Result]:
    """One row read, and one row written and synced, by its key."""
    home = directory / "postgres"
    home.mkdir()
    measured = []
    with cluster(programs, home) as place:
        for command in schema():
            run(["psql", *at(place), "-q", "-c", command])
        for name, script in statements().items():
            path = home / f"{name}.sql"
            path.write_text(script)
            path.chmod(0o644)
            for connections in CONNECTIONS:
                case = Case("peer", f"PostgreSQL {name}", (), connections)
                bench = Bench(place, home, path, connections)
                bench.run("-T", "1")
                runs = [bench.timed(settings.seconds) for _ in range(settings.repeats)]
                measured.append(combine(case, runs))
    return measured


class Bench(NamedTuple):
    """pgbench with one script, logging into `home`."""

    place: Place
    home: Path
    script: Path
    connections: int

    def timed(self, seconds: float) -> tuple[Outcome, float]:
        """One run, and microseconds of the cluster's processor time for each transaction of it.

        Time that starts and ends sessions is taken off: it is that of a run of one transaction on
        each connection.
        """
        whole = max(1, round(seconds))
        sessions, _ = self.accounted("-t", "1")
        used, took = self.accounted("-T", str(whole))
        middle, slow = percentile(took, 0.5), percentile(took, 0.99)
        outcome = Outcome(len(took), whole, middle, slow, max(took), "pgbench")
        return outcome, (used - sessions) / (len(took) - self.connections) * 1e6

    def accounted(self, *length: str) -> tuple[float, list[float]]:
        """Seconds of the cluster's processor time for a run, and what the run gave."""
        before = processor_seconds(self.place.process)
        took = self.run(*length)
        time.sleep(_SETTLE_SECONDS)
        return processor_seconds(self.place.process) - before, took

    def run(self, *length: str) -> list[float]:
        """Run so long (`-T` seconds) or so often (`-t`); microseconds of each transaction."""
        logs = self.home / "logs"
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir()
        logs.chmod(0o777)  # pgbench runs as another user
        command = ["pgbench", *at(self.place), "-n", "-M", "prepared", "-f", str(self.script)]
        command += ["-c", str(self.connections), "-j", "1", *length]
        run([*command, "-l", "--log-prefix", str(logs / "took"), _DATABASE])
        return [took for log in logs.iterdir() for took in log_times(log.read_text())]


def at(place: Place) -> list[str]:
    """The arguments that lead a client to the cluster; its port is the place's endpoint."""
    return ["-h", "127.0.0.1", "-p", place.endpoint, "-U", _USER]


def log_times(text: str) -> Iterator[float]:
    """The third column of pgbench's log: microseconds of each transaction."""
    for line in text.splitlines():
        yield float(line.split(" ", 3)[2])
