"""`widerow serve` as a process of its own, to be stopped, killed and started again.

For tests that need a kill and a restart from disk.
"""

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final, Protocol, Self

from widerow.errors import WiderowError

__all__ = ["ServeFailed", "WiderowProcess"]

_READY_SECONDS_MAX: Final = 60.0  # it takes half a second; a new table of HBase, and load, more
# of a store's absence: a master on a busy machine takes minutes to begin
_AWAY_SECONDS_MAX: Final = 240.0
_START_PAUSE_SECONDS: Final = 0.2
_SAID_BYTES_MAX: Final = 64 * 1024 * 1024  # of output; a log of hours
_STOP_SECONDS_MAX: Final = 60.0  # longer than a server may take to drain
_NOTHING_MORE: Final[Mapping[str, str]] = MappingProxyType({})


class ServeFailed(WiderowError):
    """The process ended, or wrote an unexpected line, before it was ready."""


class _Begun(Protocol):
    """What is needed of a process: as `subprocess.Popen` has it."""

    @property
    def stdout(self) -> IO[str] | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


class WiderowProcess:
    """One command line, and the process that runs it between `start` and `stop` or `kill`.

    `endpoint` and `pid` are what the ready line says; `ready_line` is the line.
    """

    def __init__(
        self,
        *flags: str,
        launcher: Sequence[str] = (),
        environment: Mapping[str, str] = _NOTHING_MORE,
    ) -> None:
        """Starts nothing. `flags`: of `widerow serve`; the port is a free one.

        `launcher` is a command that becomes the command behind it, such as `nice` or `strace -D`;
        `environment` is added to this process's own, of which no `WIDEROW_` variable is handed on.
        """
        program = Path(sys.executable).with_name("widerow")
        self._command = [*launcher, str(program), "serve", "--port", "0", *flags]
        self._environment = environment
        self._process: _Begun | None = None
        self._said: IO[str] | None = None
        self.endpoint = ""
        self.pid = 0
        self.ready_line = ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Return when it is ready. Raises: `ServeFailed`, with what it wrote on stderr."""
        assert self._process is None, "already started"
        settings = {name: value for name, value in os.environ.items() if "WIDEROW_" not in name}
        settings |= self._environment
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115  # `_close` closes it
        self._process = self._begin(settings, self._said)
        assert self._process.stdout is not None
        if select.select([self._process.stdout], [], [], _READY_SECONDS_MAX)[0]:
            self.ready_line = self._process.stdout.readline().rstrip("\n")
        facts = dict(each.split("=", 1) for each in self.ready_line.split() if "=" in each)
        if not self.ready_line.startswith("widerow ready ") or not {"endpoint", "pid"} <= set(
            facts
        ):
            self._process.kill()
            self._process.wait()
            said = self.ready_line + self.written()
            self._close()
            raise ServeFailed(f"widerow serve did not become ready: {said}")
        self.endpoint = facts["endpoint"]
        self.pid = int(facts["pid"])

    def start_again(self) -> None:
        """Start, and try again for four minutes if the server does not become ready.

        For a store of several servers that may not answer yet. Raises: `ServeFailed` after that
        time.
        """
        deadline = time.monotonic() + _AWAY_SECONDS_MAX
        while True:
            try:
                self.start()
            except ServeFailed:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_START_PAUSE_SECONDS)
            else:
                return

    @property
    def running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> int:
        """SIGTERM; the exit code, 0 if the process does not run. Idempotent."""
        if self._process is None:
            return 0
        self._process.terminate()
        try:
            return self._process.wait(_STOP_SECONDS_MAX)
        finally:
            self._process.kill()  # does nothing to an ended process
            self._close()

    def kill(self) -> None:
        """SIGKILL: unsynced data is lost."""
        assert self._process is not None, "not started"
        self._process.kill()
        self._process.wait()
        self._close()

    def written(self) -> str:
        """Its output on stderr so far: the log."""
        assert self._said is not None, "not started"
        self._said.flush()
        return os.pread(self._said.fileno(), _SAID_BYTES_MAX, 0).decode("utf-8", "replace")

    def _begin(self, settings: Mapping[str, str], said: IO[str]) -> _Begun:
        """The process of the command line, whose stderr is the file `said`."""
        return subprocess.Popen(  # noqa: S603  # our own program
            self._command, env=settings, stdout=subprocess.PIPE, stderr=said, text=True
        )

    def _close(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        assert self._said is not None
        self._process.wait()
        self._process.stdout.close()
        self._said.close()
        self._process = None
        self.endpoint = self.ready_line = ""
        self.pid = 0
