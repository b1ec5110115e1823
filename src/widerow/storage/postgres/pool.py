"""Connections that wait for their next user.

psycopg's own pool is not used: it takes back no connection whose last answers nobody has read, and
a view is given up without waiting for an answer.
"""

from collections import deque
from queue import Empty, SimpleQueue
from typing import Final, final

from widerow.errors import StoreBusy
from widerow.limits import BLOCKING_THREADS_MAX
from widerow.storage.postgres.opening import open_session
from widerow.storage.postgres.session import DatabaseSession

__all__ = ["Pool"]

# A request may hold a view while it reads the catalogue by another one. So there are more
# connections than requests: even when each request holds one, some get their second and go on.
_CONNECTIONS_MORE: Final = 16
_PATIENCE_SECONDS: Final = 10


@final
class Pool:
    """A bounded number of sessions. Any thread, also while an object is finalized.

    So there is no lock here: the queue and the deque do each step as a whole.
    """

    def __init__(self, url: str, requests_max: int = BLOCKING_THREADS_MAX) -> None:
        """Opens none. `requests_max`: how many requests use it at one time."""
        self._url = url
        self._most = requests_max + _CONNECTIONS_MORE
        self._idle: deque[DatabaseSession] = deque()  # last in, first out
        self._permits: SimpleQueue[None] = SimpleQueue()
        for _ in range(self._most):
            self._permits.put(None)
        self._closed = False
        self.opened = 0

    def take(self) -> DatabaseSession:
        """A session for the caller alone. Raises `StoreBusy`, and what `open_session` raises."""
        try:
            self._permits.get(timeout=_PATIENCE_SECONDS)
        except Empty:
            raise StoreBusy(f"all {self._most} connections are in use") from None
        try:
            return self._idle.pop()
        except IndexError:
            pass
        try:
            session = open_session(self._url)
        except BaseException:
            self._permits.put(None)
            raise
        self.opened += 1
        return session

    def give(self, session: DatabaseSession) -> None:
        """Take back a session that works."""
        self._idle.append(session)
        self._permits.put(None)
        if self._closed:
            self._close_idle()

    def discard(self, session: DatabaseSession) -> None:
        """Close a lost session, and the idle ones, which are probably lost too."""
        session.close()
        self._permits.put(None)
        self._close_idle()

    def close(self) -> None:
        """Close the idle connections now, the others when they are given back."""
        self._closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        while True:
            try:
                session = self._idle.pop()
            except IndexError:
                return
            session.close()
