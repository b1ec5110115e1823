"""Ending a child process at a moment that a seed says: what the kill suites share.

A child tells a number on stdout, a line for each, when what bears that number is durable.
"""

import hashlib
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

__all__ = ["fraction", "live_and_die"]

READY_SECONDS_MAX: Final = 30.0


def fraction(seed: int, kill: int) -> float:
    """A number from 0 to below 1, the same for the same seed and kill."""
    digest = hashlib.sha256(f"{seed}:{kill}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def live_and_die(
    command: Sequence[str],
    seconds: float,
    told: int,
    *,
    cut: Callable[[], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Start a child, let it live for so long behind its first line, kill it (SIGKILL).

    `cut` takes the disk away just before the kill; what the child says of errors is dropped then.
    `environment`: that of the child, if not this process's. Returns the largest number that the
    child told; `told` where it told none. Raises `RuntimeError` for a child that tells nothing
    within half a minute.
    """
    errors = None if cut is None else subprocess.DEVNULL
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=environment)  # noqa: S603  # our own program
    assert child.stdout is not None
    with child.stdout as said:
        try:
            if not select.select([said], [], [], READY_SECONDS_MAX)[0]:
                raise RuntimeError("the child did not begin")
            time.sleep(seconds)
            if cut is not None:
                cut()
        finally:
            child.kill()
            child.wait()
        lines = said.read().splitlines(keepends=True)
    return max((int(line) for line in lines if line.endswith(b"\n")), default=told)
