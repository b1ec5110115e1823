"""Ending a child process at a moment that a seed says: what the kill suites share.

A child tells a number on stdout, a line for each, when what bears that number is durable.
"""

import hashlib
import os
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

__all__ = ["READY_SECONDS_MAX", "fraction", "live_and_die", "live_and_lose_power"]

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
    before, said = _end(child, seconds, child.kill)
    return _largest(before + said, told)


def live_and_lose_power(
    command: Sequence[str],
    seconds: float,
    told: int,
    cut: Callable[[], None],
    environment: Mapping[str, str],
) -> tuple[int, int]:
    """As `live_and_die`, but `cut` takes the child's disk away before the kill.

    Returns the largest number that it had told before the cut, and the largest of all: a sync that
    is under way while the power goes may be confirmed and yet be lost. What the child says of
    errors is dropped, as it says so of the lost disk.
    """
    child = subprocess.Popen(  # noqa: S603  # our own program
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    before, said = _end(child, seconds, cut)
    return _largest(before, told), _largest(before + said, told)


def _end(
    child: subprocess.Popen[bytes], seconds: float, cut: Callable[[], None]
) -> tuple[bytes, bytes]:
    """Let a child live, do `cut`, kill it; what it had said just before `cut`, and what after."""
    assert child.stdout is not None
    with child.stdout as said:
        before = b""
        try:
            if not select.select([said], [], [], READY_SECONDS_MAX)[0]:
                raise RuntimeError("the child did not begin")
            time.sleep(seconds)
            while select.select([said], [], [], 0)[0] and (more := os.read(said.fileno(), 65_536)):
                before += more
            cut()
        finally:
            child.kill()
            child.wait()
        return before, said.read()


def _largest(said: bytes, told: int) -> int:
    """The largest number among whole lines."""
    lines = said.splitlines(keepends=True)
    return max((int(line) for line in lines if line.endswith(b"\n")), default=told)
