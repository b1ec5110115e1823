"""A real cluster on this machine, for trials: three HBase servers and two widerow servers on them.

    make cluster
    make cluster-stop
    python -m tools.cluster.run start --directory D --ports 8087 8088  # status, stop

HBase comes from Maven Central (Java 17 and Maven are needed, and 3 GB of memory). What is written
stays in the directory, and is there again after a stop and a start.
"""

import argparse
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from rich.console import Console
from rich.table import Table
from tools.cluster.hbase import Cluster, ClusterError

__all__ = ["main"]

DIRECTORY: Final = Path(__file__).resolve().parents[2] / "build" / "cluster-data"
PORTS: Final = (8087, 8088)
READY_SECONDS_MAX: Final = 180  # a new table, on a machine that is still busy with the start
STOP_SECONDS_MAX: Final = 45
HBASE_SERVERS: Final = 3


class Servers:
    """The widerow servers of a directory, whether they run or not."""

    def __init__(self, directory: Path) -> None:
        self._pids = directory / "widerow"

    def start(self, store: str, ports: Sequence[int]) -> None:
        """Start those that do not run, and wait until they are ready. Raises `ClusterError`."""
        self._pids.mkdir(parents=True, exist_ok=True)
        running = self.running()
        for port in ports:
            if port not in running:
                self._launch(store, port)
        deadline = monotonic() + READY_SECONDS_MAX
        for port in ports:
            while not _ready(port):
                if port not in self.running() or monotonic() > deadline:
                    raise ClusterError(
                        f"widerow on port {port} is not ready: see {self._log(port)}"
                    )
                sleep(0.2)

    def _launch(self, store: str, port: int) -> None:
        command = [sys.executable, "-m", "widerow", "serve", "--store", store, "--port", str(port)]
        with self._log(port).open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  # our own program
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        process.returncode = 0  # it is to outlive this object, and nobody waits for it
        (self._pids / str(port)).write_text(str(process.pid), encoding="utf-8")

    def _log(self, port: int) -> Path:
        return self._pids / f"{port}.log"

    def running(self) -> dict[int, int]:
        """The processes that run, by port."""
        found = {}
        for file in sorted(self._pids.glob("*[0-9]")) if self._pids.is_dir() else ():
            pid = int(file.read_text(encoding="utf-8"))
            with suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if b"widerow" in words and file.name.encode() in words:
                    found[int(file.name)] = pid
        return found

    def stop(self) -> None:
        """Let them answer what is in hand, and end."""
        deadline = monotonic() + STOP_SECONDS_MAX
        for pid in self.running().values():
            os.kill(pid, signal.SIGTERM)
        while left := self.running():
            if monotonic() > deadline:
                for pid in left.values():
                    os.kill(pid, signal.SIGKILL)
            sleep(0.1)


def _ready(port: int) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=1):
        return True
    return False


def _show(cluster: Cluster, servers: Servers) -> int:
    running = cluster.running()
    places = dict(zip(cluster.servers, cluster.region_servers, strict=True)) if running else {}
    rows = [(name, str(pid), places.get(name, "")) for name, pid in running.items()]
    rows += [
        (f"widerow {port}", str(pid), f"http://127.0.0.1:{port}")
        for port, pid in servers.running().items()
    ]
    if not rows:
        print("nothing runs; make cluster starts it")
        return 1
    table = Table("process", "pid", "endpoint")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; 1 where nothing runs that should."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("start", "status", "stop"))
    parser.add_argument("--directory", type=Path, default=DIRECTORY)
    parser.add_argument(
        "--ports", type=int, nargs="+", default=PORTS, help="of the widerow servers"
    )
    asked = parser.parse_args(arguments)
    cluster, servers = Cluster(asked.directory / "hbase"), Servers(asked.directory)
    try:
        if asked.action == "stop":
            servers.stop()
            cluster.stop()
            return 0
        if asked.action == "start":
            asked.directory.mkdir(parents=True, exist_ok=True)
            if not cluster.running():
                with Console().status("HBase is fetched and started, about a minute ..."):
                    cluster.start(HBASE_SERVERS)
            with Console().status("two widerow servers are started ..."):
                servers.start(cluster.url("widerow"), asked.ports)
    except ClusterError as error:
        print(error, file=sys.stderr)
        return 1
    shown = _show(cluster, servers)
    if asked.action == "start":
        _tell(asked.ports)
    return shown


def _tell(ports: Sequence[int]) -> None:
    """What can be done now."""
    program = Path(sys.executable).with_name("widerow")
    with suppress(ValueError):  # it is somewhere else
        program = program.relative_to(Path.cwd())
    endpoint = f"--endpoint http://127.0.0.1:{ports[-1]}"
    print(f"""
Any Tablestore SDK may use either endpoint, with the access key widerow/widerow and any instance.

{program} nodes {endpoint}
    lists the servers of widerow
{program} partitions TABLE --instance INSTANCE {endpoint}
    shows which of server1 to server3 has which part of a table
make cluster-stop
    ends everything and keeps the data""")


if __name__ == "__main__":
    sys.exit(main())
