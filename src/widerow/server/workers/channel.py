"""Messages between the supervisor and a worker: a line of JSON each, over a pair of Unix sockets.

    supervisor                              worker
    start: place, settings, sessions   →
                                       ←    ready, or failed: why
                                       ←    beat: connections that are open, and that were taken
    reload, hurry                      →
                                       ←    leaving: somebody else asked it to end
                                       ←    scrape: a page of its own, and whose names are shown
    page?: whose names are shown       →
                                       ←    page: its figures; unasked, the last ones
    pages: those of all                →
    ended, secret: of the console      ↔    ended

A restart may start workers of a later version than the supervisor's, so either passes over kinds of
messages that it does not know.

A second pair hands over connections: a byte, and with it the descriptor of one that was accepted.
Its end tells the worker to drain: what was handed over before it has been taken by then.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any, Final, final

from widerow.limits import WORKER_ACCEPTS_MAX

__all__ = ["WorkerChannel", "WorkerMessage", "hand_over", "take_over"]

WorkerMessage = dict[str, Any]
"""A message: its `kind`, and what it says."""

_LINE_BYTES_MAX: Final = 64 * 1024 * 1024  # pages of metrics of all workers
_MARK: Final = b"c"


@final
class WorkerChannel:
    """One end. On the loop's thread."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, end: socket.socket) -> "WorkerChannel":
        """The channel over one end of a pair."""
        return cls(*await asyncio.open_unix_connection(sock=end, limit=_LINE_BYTES_MAX))

    def say(self, kind: str, **facts: Any) -> None:  # noqa: ANN401  # whatever JSON holds
        """Send a message; nothing happens where the other end is gone."""
        if not self._writer.is_closing():
            self._writer.write(json.dumps({"kind": kind, **facts}).encode() + b"\n")

    async def heard(self) -> WorkerMessage | None:
        """The next message; None: the other end is gone."""
        line = b""
        with suppress(OSError):
            line = await self._reader.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    async def messages(self) -> AsyncIterator[WorkerMessage]:
        """All that follow, until the other end is gone."""
        while (message := await self.heard()) is not None:
            yield message

    async def close(self) -> None:
        """Close it behind what was said."""
        with suppress(OSError):
            await self._writer.drain()
            self._writer.close()
            await self._writer.wait_closed()


def hand_over(end: socket.socket, accepted: socket.socket) -> bool:
    """Hand a connection over; False: the other end takes none now, or is gone."""
    try:
        socket.send_fds(end, [_MARK], [accepted.fileno()])
    except OSError:  # its buffer is full, or it has ended
        return False
    return True


def take_over(end: socket.socket, take: Callable[[socket.socket | None], None]) -> bool:
    """Take the connections that wait, so many that others get their turn; False: none will come.

    `take` gets None for a connection that was handed over in vain, because this process has no
    descriptor left: its client sees it end.
    """
    for _ in range(WORKER_ACCEPTS_MAX):
        try:
            mark, descriptors, _, _ = socket.recv_fds(end, 1, 1, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not mark:
            return False
        accepted = socket.socket(fileno=descriptors[0]) if descriptors else None
        if accepted is not None:
            accepted.setblocking(False)  # noqa: FBT003  # as `socket` has it
        take(accepted)
    return True
