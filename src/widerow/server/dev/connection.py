"""A connection that a fault can cut off instead of answering."""

from typing import Final

from widerow.server.connection import Connection
from widerow.server.message import Response

__all__ = ["DROPPED", "DevConnection"]

DROPPED: Final = Response(503, b"", b"")
"""Stands for no answer: the connection is closed instead."""


class DevConnection(Connection):
    """A connection of a server in dev mode."""

    __slots__ = ()

    def _finish(self, response: Response) -> None:
        """Write an answer, or cut the connection off where it is `DROPPED`."""
        if response is not DROPPED:
            super()._finish(response)
            return
        self._http.answer(response, b"")  # end the request without bytes
        self.abort()
