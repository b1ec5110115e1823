"""One connection: prepared statements, sent together and answered in one round trip.

psycopg opens the connection; after that its libpq is used directly, in pipeline mode: statements
are sent without waiting for each other, and what nobody waits for (the end of a view) is read with
the answers of whoever uses the connection next.
"""

import select
from collections.abc import Sequence
from time import monotonic, sleep
from typing import Final

import psycopg
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from widerow.storage.postgres.statements import EVERY, PreparedStatement

__all__ = ["ConnectionLost", "DatabaseSession", "SqlCall", "StatementFailed"]

_ANSWER_SECONDS_MAX: Final = 25  # the database gives up on a statement earlier

# What is longer than one part is sent 8 KiB at a time, and each could wake whoever waits.
_PART_SECONDS: Final = 0.0001

_CONSUMED_AT_ONCE: Final = 8

SqlCall = tuple[PreparedStatement, Sequence[bytes]]


class ConnectionLost(Exception):
    """The connection ended without an answer: what was sent may or may not be carried out."""


class StatementFailed(Exception):
    """The database refused a statement, and everything sent with it had no effect."""

    def __init__(self, state: str, message: str) -> None:
        """`state`: the code of the error (SQLSTATE)."""
        super().__init__(message)
        self.state = state


class DatabaseSession:
    """A connection for one user at a time. Once it raises `ConnectionLost` it is only closed."""

    def __init__(self, connection: psycopg.Connection) -> None:
        """Over a connection that nobody else uses. Raises `ConnectionLost`, `StatementFailed`."""
        self._connection = connection
        self._raw = connection.pgconn
        self._poll = select.poll()
        self._poll.register(self._raw.socket, select.POLLIN)
        self._open_syncs = 0  # syncs whose answers were not read yet
        try:
            self._raw.nonblocking = 1
            self._raw.enter_pipeline_mode()
            for each in EVERY:
                self._raw.send_prepare(each.name, each.text, each.types)
            self._sync()
        except psycopg.Error as error:
            raise ConnectionLost(str(error)) from error
        self._answers()

    def ask(self, calls: Sequence[SqlCall]) -> list[PGresult]:
        """The answers to some calls; one round trip. Without BEGIN they are one transaction."""
        self.tell(calls)
        return self._answers()

    def tell(self, calls: Sequence[SqlCall]) -> None:
        """Send some calls, and let whoever asks next read the answers."""
        try:
            for statement, arguments in calls:
                formats = (1,) * len(arguments)
                self._raw.send_query_prepared(statement.name, arguments, formats, 1)
            self._sync()
        except psycopg.Error as error:
            raise ConnectionLost(str(error)) from error

    def _sync(self) -> None:
        self._raw.pipeline_sync()
        self._open_syncs += 1
        while self._raw.flush():
            self._wait(select.POLLIN | select.POLLOUT)

    def _answers(self) -> list[PGresult]:
        """The answers to what was sent last. Those to what was sent before are dropped."""
        found: list[PGresult] = []
        more = False
        try:
            while self._open_syncs:
                while self._raw.is_busy():
                    if more:
                        sleep(_PART_SECONDS)
                    self._wait(select.POLLIN)
                    if more:
                        self._consume_more()
                    more = True
                result = self._raw.get_result()
                if result is None:
                    continue
                if result.status == ExecStatus.PIPELINE_SYNC:
                    self._open_syncs -= 1
                    found = found if not self._open_syncs else []
                else:
                    found.append(result)
        except psycopg.Error as error:
            raise ConnectionLost(str(error)) from error
        for result in found:
            if result.status in _FAILED:
                raise _failure(result)
        return found

    def _consume_more(self) -> None:
        """Take what has come; the library takes 16 KiB at a time."""
        for _ in range(_CONSUMED_AT_ONCE):
            if not self._raw.is_busy():
                return
            self._raw.consume_input()

    def _wait(self, events: int) -> None:
        """Wait until something came, or can be sent."""
        self._poll.modify(self._raw.socket, events)
        deadline = monotonic() + _ANSWER_SECONDS_MAX
        while not (ready := self._poll.poll(1000 * (deadline - monotonic()))):
            if monotonic() >= deadline:
                raise ConnectionLost("the database does not answer")
        if any(event & ~select.POLLOUT for _, event in ready):
            self._raw.consume_input()

    def close(self) -> None:
        """Close the connection. Never raises."""
        self._connection.close()


_FAILED: Final = (ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE)


def _failure(result: PGresult) -> ConnectionLost | StatementFailed:
    """`StatementFailed` if the transaction failed; `ConnectionLost` if the outcome is unknown."""
    message = result.error_message.decode(errors="replace").strip()
    state = result.error_field(DiagnosticField.SQLSTATE)
    severity = result.error_field(DiagnosticField.SEVERITY_NONLOCALIZED)
    if state is None or severity != b"ERROR":
        return ConnectionLost(message)
    return StatementFailed(state.decode(), message)
