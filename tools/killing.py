"""Killing a child process at a moment that a seed says: what the kill suites share.

A child tells a number on stdout, a line for each, when what bears that number is durable.
"""

import hashlib
import select
import subprocess
import time
from collections.abc import Sequence
from typing import Final

__all__ = ["fraction", "live_and_die"]

READY_SECONDS_MAX: Final = 30.0


def fraction(seed: int, kill: int) -> float:
    """A number from 0 to below 1, the same for the same seed and kill."""
    digest = hashlib.sha256(f"{seed}:{kill}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def live_and_die(command: Sequence[str], seconds: float, told: int) -> int:
    """Start a child, let it live for so long behind its first line, kill it (SIGKILL).

    Returns the largest number that it told; `told` where it told none. Raises `RuntimeError` for a
    child that tells nothing within half a minute.
    """
    child = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603  # our own program
    assert child.stdout is not None
    with child.stdout as said:
        try:
            if not select.select([said], [], [], READY_SECONDS_MAX)[0]:
                raise RuntimeError("the child did not begin")
            time.sleep(seconds)
        finally:
            child.kill()
            child.wait()
        lines = said.read().splitlines(keepends=True)
    return max((int(line) for line in lines if line.endswith(b"\n")), default=told)
