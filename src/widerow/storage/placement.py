"""Which server of a database has which keys, where the database divides its data by keys.

Such a database divides the keys into ranges, and each range is on one server. It moves ranges from
server to server by itself, and none of that is seen in the contract of a store. But only widerow
knows where a shard ends, so only widerow says where ranges may meet.

Ranges are given by keys of rows (`keys/layout.py`, space 10). All other keys of a shard are in the
range of its rows. The catalogue has a range of its own, which is never listed.

A change of ranges takes seconds, so it is begun, and asked after by its number. Every call may be
repeated, by any process of the store: to begin a change that was made already, or that is on its
way, does no harm. Calls come from any thread. Each raises `StoreBusy` where the database cannot be
reached or is just moving things, `StorageFailure` where it refuses or the store is closed. In both
cases a change may have been begun.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

__all__ = ["DataPlacement", "PlacedRange"]


class PlacedRange(NamedTuple):
    """Keys of rows with start ≤ key < stop, and the server that has them."""

    start: bytes
    stop: bytes
    host: str
    port: int

    @property
    def server(self) -> str:
        """The server's name for people."""
        return f"{self.host}:{self.port}"


class DataPlacement(Protocol):
    """What a store can tell and change of where its data is. See the module."""

    def ranges(self) -> Sequence[PlacedRange]:
        """The ranges as they are now, in order and without a gap, from the first row to the last.

        One or two round trips; linear in their number.
        """
        ...

    def begin_split(self, key: bytes) -> int | None:
        """Begin to divide the range that has `key`, so that one begins there.

        The number of the change; None where a range begins there already.

        Raises: `ValueError` where a shard could be cut (`may_begin_range`), and nothing happens.
        """
        ...

    def begin_merge(self, key: bytes) -> int | None:
        """Begin to make one range of the two that meet at `key`, on whichever servers they are.

        The number of the change; None where no range begins there.

        Raises: `ValueError` for the first key of all rows, where the catalogue's range ends.
        """
        ...

    def has_ended(self, number: int) -> bool:
        """Whether a change is over, or is not known any more: `ranges` tells what came of it.

        Raises: `StorageFailure` where it has failed; then nothing was changed.
        """
        ...
