"""Answers of one turn of the loop, written together."""

import logging
from typing import Any, final

from widerow.clock import Clock
from widerow.limits import STAGED_BYTES_MAX
from widerow.server.message import Reply, Response
from widerow.server.unforeseen import log_unforeseen
from widerow.wire.dialect import Dialect

__all__ = ["AnswersTogether"]

_log = logging.getLogger("widerow.server")


@final
class AnswersTogether:
    """Answers that are written together, after the stages or a commit, with one date."""

    __slots__ = ("_bytes", "_clock", "_date", "_dated", "_ended")

    def __init__(self, clock: Clock) -> None:
        """No answer yet; `clock` tells their date."""
        self._clock = clock
        self._ended: list[tuple[Reply, Response]] = []
        self._bytes = 0
        self._dated: Dialect | None = None
        self._date: Any = None

    def date(self, dialect: Dialect) -> Any:  # noqa: ANN401  # the dialect's own
        """The time of these answers, as a dialect writes it."""
        if self._dated is not dialect:
            self._date = dialect.answer_date(self._clock.now_us())
            self._dated = dialect
        return self._date

    def add(self, reply: Reply, response: Response) -> None:
        """Add an answer; where the answers have become many bytes, write them now."""
        self._ended.append((reply, response))
        self._bytes += len(response.body)
        if self._bytes > STAGED_BYTES_MAX:
            self.hand_over()

    def hand_over(self) -> None:
        """Write the answers; an error of one connection does not affect the others."""
        ended, self._ended = self._ended, []
        self._bytes = 0
        self._dated = None
        for reply, response in ended:
            try:
                reply(response)
            except Exception as error:  # noqa: BLE001  # an error of one connection is logged, and the others are answered
                log_unforeseen(_log, error)
