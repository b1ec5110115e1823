"""What systemd is told: that the server is ready, and that it stops (sd_notify(3)).

systemd names a socket in a variable where its unit says `Type=notify`; nobody else sets it.
"""

import os
import socket
from typing import Final

__all__ = ["READY", "STOPPING", "tell_systemd"]

READY: Final = b"READY=1"
STOPPING: Final = b"STOPPING=1"
_SOCKET: Final = "NOTIFY_SOCKET"


def tell_systemd(state: bytes) -> None:
    """Say it, where somebody listens; without an error where nobody does."""
    address = os.environ.get(_SOCKET, "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # Linux's namespace of sockets without a file
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.sendto(state, address)
    except OSError:
        return
