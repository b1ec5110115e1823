"""A private MariaDB server for each process of a run, where Debian's packages are installed."""

import atexit
import shutil
import subprocess
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, final

import pytest

__all__ = ["MariaDb", "mariadb"]

_PROGRAMS: Final = ("mariadbd", "mariadb")
_START_SECONDS_MAX: Final = 30
_COLLATION: Final = "utf8mb4_nopad_bin"  # texts are compared by their letters, blanks too


@final
class MariaDb:
    """A running server, and a client of its package that stays connected."""

    def __init__(self, process: subprocess.Popen[bytes], directory: Path) -> None:
        self._process = process
        self._directory = directory
        self._client: subprocess.Popen[str] | None = None
        self._asked = 0

    def started(self) -> bool:
        """Whether it answers by now. Raises `AssertionError` where it has ended."""
        assert self._process.poll() is None, (self._directory / "log").read_text(encoding="utf-8")
        return (self._directory / "s").exists()

    def ask(self, statements: str) -> list[list[str | None]]:
        """The rows of these statements, values as texts. Raises `AssertionError` for an error."""
        client = self._client or self._connected()
        assert client.stdin is not None
        assert client.stdout is not None
        self._asked += 1
        end = f"the end of {self._asked}"
        client.stdin.write(f"{statements}\nSELECT '{end}';\n")
        client.stdin.flush()
        lines = []
        while (line := client.stdout.readline().rstrip("\n")) != end:
            lines.append(line)
        assert not any(line.startswith("ERROR ") for line in lines), "\n".join(lines)
        return [[None if v == "NULL" else v for v in line.split("\t")] for line in lines]

    def _connected(self) -> subprocess.Popen[str]:
        self._client = subprocess.Popen(  # noqa: S603  # the client of the same package
            [
                str(shutil.which("mariadb")),
                *("--no-defaults", "--batch", "--skip-column-names", "--unbuffered", "--force"),
                *(f"-S{self._directory}/s", "--default-character-set=utf8mb4"),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        return self._client

    def remove(self) -> None:
        """End the server and remove its files."""
        for each in (self._client, self._process):
            if each is not None:
                each.kill()
                each.wait()
        for pipe in () if self._client is None else (self._client.stdin, self._client.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not sent yet
                    pipe.close()
        shutil.rmtree(self._directory)


@cache
def mariadb() -> MariaDb:
    """The server of this process, which runs until the process ends. Skips where there is none."""
    programs = [shutil.which(each) for each in _PROGRAMS]
    if None in programs:
        pytest.skip("MariaDB is not installed; as root: python3 -m tools.debian")
    directory = Path(mkdtemp(prefix="widerow-mariadb-"))
    (directory / "data").mkdir()
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  # a program of the system
            [
                str(programs[0]),
                *("--no-defaults", f"--datadir={directory}/data", f"--socket={directory}/s"),
                *("--skip-networking", "--skip-grant-tables", "--user=root", "--sql-mode="),
                *("--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M"),
                *("--character-set-server=utf8mb4", f"--collation-server={_COLLATION}"),
            ],
            stdout=log,
            stderr=log,
        )
    made = MariaDb(process, directory)
    atexit.register(made.remove)
    deadline = time.monotonic() + _START_SECONDS_MAX
    while not made.started():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    names = f"SET NAMES utf8mb4 COLLATE {_COLLATION}"  # of texts that stand in statements
    made.ask(f"CREATE DATABASE w COLLATE {_COLLATION}; USE w; {names};")
    return made
