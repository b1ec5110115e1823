"""What loading a file costs, and that kills in between change nothing of what is loaded.

    python -m bench.transfer [--rows 1000000] [--kills 3] [--path DIR]

Writes a CSV file of purchases in the order of their keys, starts a server and imports the file with
`widerow import`, which is killed (SIGKILL) each time another part of the rows is stored, and
started again with the same command. Then everything is exported and held against the file: the
number of rows, a checksum over all keys and values, and that every cell has one version, the same
for all: the table keeps three, so a row that was written twice as another version would show.

Processor time is that of all importers together, killed ones included, and of the server meanwhile.
A table goes to stderr, one JSON document to stdout; the exit code is 1 if contents differ.
"""

import argparse
import csv
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from bench.servers import processor_seconds
from rich import box
from rich.console import Console
from rich.table import Table as Screen

from widerow.client.connection import Client, Endpoint
from widerow.client.tables import known_table, make_target_table, scan_table
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.testing.process import WiderowProcess

HEADER: Final = ("CardID", "OrderNumber", "SellerID", "DeviceID", "Amount", "Item")
TYPES: Final = "SellerID:string,DeviceID:integer,Amount:double,Item:string"
TABLE: Final = "purchases"
LOOK_SECONDS: Final = 0.01  # between two looks at the journal

Row = tuple[str, int, str, int, float, str]
Document = dict[str, Any]


def rows(count: int) -> Iterator[Row]:
    """Purchases in the order of their keys, ten of each card."""
    for number in range(count):
        yield (
            f"card {number // 10:07}",
            number,
            f"seller {number * 7919 % 40}",
            number * 104_729 % 1000,
            number % 5000 / 4,
            f"item {number * 31 % 977}, of shelf {number % 13}",
        )


def write(path: Path, count: int) -> None:
    """The file to load."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(rows(count))


def checksum(found: Iterable[Row]) -> str:
    """Over every key and value, in order."""
    total = hashlib.sha256()
    for row in found:
        total.update(repr(row).encode())
    return total.hexdigest()


class Loading:
    """One file on its way into one table, by processes that are killed."""

    def __init__(self, endpoint: str, file: Path) -> None:
        """`endpoint` is the server's."""
        self._settings = {**os.environ, "WIDEROW_ENDPOINT": endpoint}
        self._file = file
        self._journal = file.with_name(f"{file.name}.progress")
        self.stored_at_kills: list[int] = []

    def start(self) -> subprocess.Popen[str]:
        """The command, as it is typed each time."""
        program = Path(sys.executable).with_name("widerow")
        words = ["import", TABLE, "--input", str(self._file), "--types", TYPES, "--json"]
        return subprocess.Popen(  # noqa: S603  # our own program
            [program, *words],
            env=self._settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def kill_at(self, count: int) -> None:
        """Run until so many rows are noted as stored, then kill. Raises if it ends before."""
        with self.start() as process:
            self.wait_for(process, count)
            process.kill()
        self.stored_at_kills.append(self.stored())

    def wait_for(self, process: subprocess.Popen[str], count: int) -> None:
        """Return when so many rows are noted as stored. Raises if the process ends before."""
        while (stored := self.stored()) < count:
            if process.poll() is not None:
                raise RuntimeError(f"the import ended with {stored} of {count} rows stored")
            time.sleep(LOOK_SECONDS)

    def finish(self) -> Document:
        """Run to the end; what it says."""
        with self.start() as process:
            said, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"the import ended with {process.returncode}")
        found: Document = json.loads(said)
        return found

    def stored(self) -> int:
        """Rows that the journal notes as stored."""
        if not self._journal.exists():
            return 0
        notes = self._journal.read_bytes().split(b"\n")[:-1]
        return sum(json.loads(note).get("rows", 0) for note in notes)


def make_table(endpoint: str) -> None:
    """The table to load into: it keeps three versions, so that no row is written twice unseen."""
    key = [
        KeyColumn("CardID", KeyType.STRING),
        KeyColumn("OrderNumber", KeyType.INTEGER),
    ]
    with Client(Endpoint(endpoint, "widerow", "widerow", "widerow")) as client:
        make_target_table(client, TABLE, key, max_versions=3, offset_seconds=86_400)


def loaded(endpoint: str, versions: set[int]) -> Iterator[Row]:
    """What is in the table; adds the versions of all cells."""
    with Client(Endpoint(endpoint, "widerow", "widerow", "widerow")) as client:
        for row in scan_table(client, known_table(client, TABLE)):
            values = {cell.column: cell.value for cell in row.cells}
            assert len(values) == len(row.cells), "a cell has several versions"
            versions.update(cell.version for cell in row.cells)
            found: Any = (*(value for _, value in row.key), *(values[name] for name in HEADER[2:]))
            yield found


def measure(count: int, kills: int, folder: Path) -> Document:
    """One run; everything it found."""
    file = folder / "purchases.csv"
    write(file, count)
    with WiderowProcess("--path", str(folder / "store")) as server:
        make_table(server.endpoint)
        loading = Loading(server.endpoint, file)
        began, loader = time.monotonic(), _children_seconds()
        serving = processor_seconds(server.pid)
        for number in range(1, kills + 1):
            # Not where a window ends: there would be nothing half done.
            loading.kill_at(count * number // (kills + 1) + count // 60)
        said = loading.finish()
        elapsed = time.monotonic() - began
        loader = _children_seconds() - loader
        serving = processor_seconds(server.pid) - serving
        versions: set[int] = set()
        seen = 0

        def counted() -> Iterator[Row]:
            nonlocal seen
            for row in loaded(server.endpoint, versions):
                seen += 1
                yield row

        found = checksum(counted())
    wanted = checksum(rows(count))
    return {
        "rows": count,
        "kills": len(loading.stored_at_kills),
        "stored_at_kills": loading.stored_at_kills,
        "file_bytes": file.stat().st_size,
        "rows_found": seen,
        "checksum_wanted": wanted,
        "checksum_found": found,
        "versions": len(versions),
        "exact": (seen, found, len(versions)) == (count, wanted, 1),
        "last_run": said,
        "seconds": round(elapsed, 2),
        "loader_cpu_seconds": round(loader, 2),
        "server_cpu_seconds": round(serving, 2),
        "rows_per_loader_cpu_second": round(count / loader),
        "rows_per_server_cpu_second": round(count / serving),
    }


def _children_seconds() -> float:
    """What processes that ended have used; the server is none of them while it runs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def show(found: Document) -> None:
    """The result as a table, on stderr."""
    screen = Screen("figure", "value", box=box.SIMPLE, title="Loading a CSV file through kills")
    for name, value in found.items():
        if not isinstance(value, dict):
            plain = isinstance(value, bool | str | list)
            shown = str(value) if plain else f"{value:,}"
            screen.add_row(name.replace("_", " "), shown)
    Console(stderr=True).print(screen)


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000, metavar="NUMBER")
    parser.add_argument("--kills", type=int, default=3, metavar="NUMBER")
    parser.add_argument("--path", help="where the file and the store lie; a temporary directory")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.path) as folder:
        found = measure(arguments.rows, arguments.kills, Path(folder))
    show(found)
    sys.stdout.write(json.dumps(found) + "\n")
    return 0 if found["exact"] else 1


if __name__ == "__main__":
    sys.exit(main())
