"""Listening sockets: how an address is taken, what it is called, and why it cannot be had."""

import errno
import socket
from collections.abc import Sequence
from typing import Final

from widerow.server.settings import SettingsInvalid

__all__ = ["endpoint_at", "refused_address", "taken_addresses"]

_REFUSALS: Final = {  # why a port cannot be had, and what to do; the system's words for the rest
    errno.EADDRINUSE: "it is in use; stop what uses it, or name another (--port 0 takes any)",
    errno.EACCES: "ports below 1024 are for the superuser; name another with --port",
    errno.EADDRNOTAVAIL: "that is not an address of this machine; name one with --host",
}


def refused_address(host: str, port: int, error: OSError) -> SettingsInvalid:
    """What is said where an address cannot be taken."""
    reason = _REFUSALS.get(error.errno or 0) or error.strerror or str(error)
    return SettingsInvalid(f"cannot listen on {host} port {port}: {reason}")


def taken_addresses(host: str, port: int) -> list[socket.socket]:
    """A socket for each address that `host` stands for, bound and not listening yet.

    As the loop of one process takes them, with the same port on all. Raises: `SettingsInvalid`.
    """
    taken: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            bound = socket.socket(family, kind, protocol)
            taken.append(bound)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # accepted ones inherit it
            if family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            port = port or (taken[0].getsockname()[1] if len(taken) > 1 else 0)
            bound.bind((address[0], port, *address[2:]))
            bound.setblocking(False)  # noqa: FBT003  # as `socket` has it
    except OSError as error:
        for each in taken:
            each.close()
        raise refused_address(host, port, error) from error
    return taken


def endpoint_at(scheme: str, address: Sequence[str | int]) -> str:
    """`SCHEME://HOST:PORT` of a socket's address."""
    host, port = str(address[0]), address[1]
    try:
        socket.inet_pton(socket.AF_INET6, host)
    except OSError:
        return f"{scheme}://{host}:{port}"
    return f"{scheme}://[{host}]:{port}"
