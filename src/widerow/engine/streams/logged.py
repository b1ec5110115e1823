"""What logs of changes ask of a table model."""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from widerow.engine.catalog.model import Numbered
from widerow.engine.streams.log import LogPosition
from widerow.model.streams import Stream

__all__ = ["AS_LEFT", "LogForm", "LoggedTable", "one"]


class LoggedTable(Numbered, Protocol):
    """A table with logs. `qualified`: its name in logs and metrics."""

    @property
    def instance(self) -> str:
        """The instance of the table."""
        ...

    @property
    def name(self) -> str:
        """The name in the instance."""
        ...

    @property
    def qualified(self) -> str:
        """The table's name in logs and metrics."""
        ...

    @property
    def stream(self) -> Stream | None:
        """The log that clients read."""
        ...

    @property
    def journal(self) -> Stream | None:
        """The log that search indexes read."""
        ...

    @property
    def logs(self) -> tuple[Stream, ...]:
        """Both, as far as they are there."""
        ...


class LogForm(NamedTuple):
    """How the records of a log are stored.

    `placed`: the value of a record, as it stands in its intent, at a position. `count`: how many
    positions a value takes; it stands under the last of them.
    """

    placed: Callable[[bytes, LogPosition], bytes]
    count: Callable[[bytes], int]


def one(value: bytes) -> int:
    """The `count` of records that are one change each."""
    del value
    return 1


def _as_left(value: bytes, position: LogPosition) -> bytes:
    del position
    return value


AS_LEFT: Final = LogForm(_as_left, one)
"""The form of a log whose records, one for each change, do not say their position."""
