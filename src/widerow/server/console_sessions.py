"""What signs the console's sessions, and which of them their visitors have ended.

Several processes behind one port have both in common: whoever signs in at one is known at all, and
whoever signs out at one is signed out at all (`server/workers`).
"""

from collections.abc import Callable
from typing import final

from widerow.limits import CONSOLE_ENDED_SESSIONS_MAX

__all__ = ["ConsoleSessions"]


@final
class ConsoleSessions:
    """The secret, and the ended sessions with the time at which they would have ended themselves.

    Any thread may read and change it: each step is one of the interpreter's.
    """

    def __init__(
        self, new_secret: Callable[[], bytes], tell: Callable[[str, int], None] | None = None
    ) -> None:
        """`new_secret`: makes one. `tell`: hears of each session that is ended here."""
        self._new_secret = new_secret
        self._tell = tell
        self.secret = new_secret()
        self.ended: dict[str, int] = {}

    def end(self, session: str, end_s: int, now_s: int) -> None:
        """End a session before its time, in seconds since 1970, as its visitor asks."""
        self.note(session, end_s, now_s)
        if self._tell is not None:
            self._tell(session, end_s)

    def note(self, session: str, end_s: int, now_s: int) -> bool:
        """Take note that a session was ended; whether there was room for it.

        Where there is none a new secret ends all sessions.
        """
        self.ended = {each: end for each, end in self.ended.items() if end > now_s}
        if len(self.ended) >= CONSOLE_ENDED_SESSIONS_MAX:
            self.replace(self._new_secret(), {})
            return False
        self.ended[session] = end_s
        return True

    def replace(self, secret: bytes, ended: dict[str, int]) -> None:
        """Use another secret, and other ended sessions."""
        self.secret, self.ended = secret, ended
