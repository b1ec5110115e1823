"""Commands of `widerow` in processes that are forked from one that has loaded the package.

A start costs half a second of a processor, nearly all of it for modules. Hundreds of tests need a
process, and not its start. What a start does by itself is in tests/unit/cli/test_main.py,
tests/unit/testing/test_process.py and tests/package.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from subprocess import PIPE, CompletedProcess, TimeoutExpired
from typing import IO, Final

from widerow.cli.main import run_program
from widerow.testing.process import WiderowProcess

__all__ = ["ForkedCommand", "ForkedServer", "run_forked"]

_FORKS: Final = get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        *("widerow.cli.main", "widerow.cli.serve", "widerow.cli.serving", "uvloop"),
        *("widerow.cli.shell", "widerow.cli.kv", "widerow.nosql", "widerow.storage.rocksdb"),
        *("widerow.cli.backup", "widerow.cli.backup_records", "widerow.cli.doctor"),
    ]
)


class ForkedCommand:
    """A command that runs: the part of `subprocess.Popen` that tests use, of text in UTF-8.

    `stdin`, `stdout` and `stderr` are descriptors, or `PIPE` for the last two.
    """

    def __init__(
        self,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: int | None = None,
        stdout: int = PIPE,
        stderr: int = PIPE,
    ) -> None:
        reading = os.open(os.devnull, os.O_RDONLY) if stdin is None else os.dup(stdin)
        output, self.stdout = _output(stdout)
        errors, self.stderr = _output(stderr)
        with Connection(reading, writable=False) as given, output, errors:
            place = (cwd or Path.cwd(), dict(os.environ if environment is None else environment))
            self._process = _FORKS.Process(
                target=_become, args=(arguments, *place, (given, output, errors)), daemon=True
            )
            self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            assert timeout is not None
            raise TimeoutExpired("widerow", timeout)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What is still to be read of its pipes until it ends; they are closed.

        Raises: `TimeoutExpired` after `timeout` seconds; it is killed then.
        """
        with ThreadPoolExecutor() as pool:
            output, errors = (pool.submit(_rest_of, each) for each in (self.stdout, self.stderr))
            try:
                self.wait(timeout)
            except TimeoutExpired:
                self.kill()  # a pipe is read to its end, which comes with that of the process
                raise
        return output.result(), errors.result()


class ForkedServer(WiderowProcess):
    """`widerow serve` in a process of its own, forked, without a launcher."""

    def _begin(self, settings: Mapping[str, str], said: IO[str]) -> ForkedCommand:
        assert Path(self._command[0]).name == "widerow", "a launcher needs a start of its own"
        return ForkedCommand(*self._command[1:], environment=settings, stderr=said.fileno())


def run_forked(
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    typed: str = "",
    timeout: float = 30.0,
) -> CompletedProcess[str]:
    """Run a command to its end, with a text as its standard input."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as stdin,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stdout,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stderr,
    ):
        stdin.write(typed)
        stdin.seek(0)
        command = ForkedCommand(
            *arguments,
            environment=environment,
            cwd=cwd,
            stdin=stdin.fileno(),
            stdout=stdout.fileno(),
            stderr=stderr.fileno(),
        )
        try:
            code = command.wait(timeout)
        finally:
            command.kill()
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(arguments, code, stdout.read(), stderr.read())


def _rest_of(stream: IO[str] | None) -> str:
    if stream is None or stream.closed:
        return ""
    with stream:
        return stream.read()


def _output(number: int) -> tuple[Connection, IO[str] | None]:
    """What the new process writes to; for `PIPE` also what its output is read from."""
    if number != PIPE:
        return Connection(os.dup(number), readable=False), None
    reading, writing = os.pipe()
    return Connection(writing, readable=False), os.fdopen(reading, encoding="utf-8")


def _become(
    arguments: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    streams: Sequence[Connection],
) -> None:
    """In the new process: run the command with what a start would have found."""
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
        stream.close()
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["widerow", *arguments]
    run_program()
