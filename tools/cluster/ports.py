"""Ports for programs that must be told a number, and are started a while later."""

import secrets
import socket
from contextlib import ExitStack, suppress
from typing import Final

__all__ = ["free_ports"]

_HOST: Final = "127.0.0.1"
# Below those that systems give to connections and to listeners without a number, which would take
# a free one before its program starts: from 32,768 (Linux), from 49,152 (macOS).
_NUMBERS: Final = range(10_000, 32_768)


def free_ports(count: int) -> list[int]:
    """`count` different ports of this machine's loopback on which nobody listens now."""
    found: list[int] = []
    with ExitStack() as held:
        while len(found) < count:
            port = secrets.choice(_NUMBERS)
            with suppress(OSError):
                held.enter_context(socket.socket()).bind((_HOST, port))
                found.append(port)
    return found
