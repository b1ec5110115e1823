"""Load from outside: `wrk` over requests made beforehand, or the generator of `builtin.py`.

wrk is Debian's package of that name. `wrk.lua` hands it the next of the prepared requests, so that
nothing is signed while the clock runs, and prints what it counted as one line of JSON. Where it is
not installed, `builtin.py` sends the same requests; results name the generator, because the two do
not take equal shares of the machine.
"""

import json
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench import builtin

_MARK: Final = "measured "
_TIMEOUT_SECONDS: Final = 30
_SPARE_SECONDS: Final = 30.0  # wrk ends by itself; one that does not is hung
_WARM_UPS_MAX: Final = 10  # without an answer

_SCRIPT: Final = Path(__file__).with_name("wrk.lua")


class LoadFailed(Exception):
    """The load could not be made, or was not answered with success."""


class NothingAnswered(LoadFailed):
    """No request had failed, and none had been answered, when the time was over."""


class Outcome(NamedTuple):
    """What one run of load saw; latencies in microseconds."""

    requests: int
    seconds: float
    p50_us: float
    p99_us: float
    max_us: float
    generator: str


@contextmanager
def prepared(requests: Sequence[bytes]) -> Iterator[Path]:
    """A file of these requests, each behind its length in four bytes, for as long as it is used."""
    with tempfile.NamedTemporaryFile(prefix="widerow-bench-", suffix=".requests") as file:
        for request in requests:
            file.write(struct.pack("<I", len(request)) + request)
        file.flush()
        yield Path(file.name)


def generator() -> str:
    """What would make the load here: `wrk` or `builtin`."""
    return "wrk" if shutil.which("wrk") else "builtin"


class Load:
    """Prepared requests for one endpoint, ready to be sent by any number of connections."""

    def __init__(self, endpoint: str, requests: Sequence[bytes], file: Path) -> None:
        """`file` is what `prepared` made of `requests`."""
        self._endpoint = endpoint
        self._requests = requests
        self._file = file

    def run(self, connections: int, seconds: float) -> Outcome:
        """Send for `seconds`. Raises: `LoadFailed` if any answer is not a success."""
        if generator() == "wrk":
            process = self._start_wrk(connections, seconds)
            said, _ = process.communicate(timeout=seconds + _SPARE_SECONDS)
            return parse(said)
        try:
            took, elapsed = builtin.send(self._endpoint, self._requests, connections, seconds)
        except OSError as error:
            raise LoadFailed(str(error)) from error
        if not took:
            raise NothingAnswered(f"nothing was answered in {seconds} s")
        return Outcome(
            len(took),
            elapsed,
            took[len(took) // 2] * 1e6,
            took[len(took) * 99 // 100] * 1e6,
            took[-1] * 1e6,
            "builtin",
        )

    def warm_up(self, connections: int, seconds: float) -> None:
        """Send for `seconds`, and again if nothing was answered by then.

        Writes of all connections wait for one sync, which took a whole second on a disk that others
        had just written to. Raises: `LoadFailed`.
        """
        for _ in range(_WARM_UPS_MAX - 1):
            with suppress(NothingAnswered):
                self.run(connections, seconds)
                return
        self.run(connections, seconds)

    @contextmanager
    def beside(self, connections: int, seconds: float) -> Iterator[None]:
        """Send while the block runs. Raises: `LoadFailed` where there is no wrk to do so."""
        if generator() != "wrk":
            raise LoadFailed("load beside other load needs wrk")
        process = self._start_wrk(connections, seconds)
        try:
            yield
        finally:
            process.terminate()
            process.communicate()

    def _start_wrk(self, connections: int, seconds: float) -> subprocess.Popen[str]:
        whole = max(1, round(seconds))  # wrk counts whole seconds
        command = [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{whole}s",
            f"--timeout={_TIMEOUT_SECONDS}s",
        ]
        return subprocess.Popen(  # noqa: S603  # a fixed program and our own arguments
            [*command, "-s", str(_SCRIPT), self._endpoint],
            env={**os.environ, "BENCH_REQUESTS": str(self._file)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def parse(said: str) -> Outcome:
    """What wrk and the script printed.

    Raises: `LoadFailed` for no count, or for failures in it; `NothingAnswered`.
    """
    for line in said.splitlines():
        if line.startswith(_MARK):
            counted: dict[str, Any] = json.loads(line.removeprefix(_MARK))
            refused, failed = counted.pop("refused"), counted.pop("failed")
            if refused or failed:
                raise LoadFailed(f"not every request was answered with success: {line}")
            if not counted["requests"]:
                raise NothingAnswered(f"no request was answered: {line}")
            return Outcome(**counted, generator="wrk")
    raise LoadFailed(f"wrk said no result: {said.strip()[-500:]}")
