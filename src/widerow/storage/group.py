"""What a group commit takes and gives: one write, and what became of it.

Made for every row that is written, so plain objects with slots (`model/row.py` says why).
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, final

__all__ = ["Outcome", "Write", "settle", "succeeded"]

T = TypeVar("T")


class Write(Generic[T]):
    """One atomic change: the shards it may touch, and the body that makes it.

    `alone`: shares its group with no other write (changes of the catalogue, which bodies read).
    What is made for every row is a class of its own that overrides `run` and `settle`: one object
    instead of four.
    """

    __slots__ = ("_body", "_settled", "alone", "reads", "shards")

    def __init__(
        self,
        shards: tuple[bytes, ...],
        body: Callable[[Any], T] | None = None,
        alone: bool = False,  # noqa: FBT001, FBT002  # a plain value, always given by its name
        settled: Callable[[T], None] | None = None,
    ) -> None:
        """A write of these parts; without a body it must override `run`."""
        self.shards = shards
        self.reads: tuple[bytes, ...] = ()
        self.alone = alone
        self._body = body
        self._settled = settled

    def run(self, txn: Any) -> T:  # noqa: ANN401  # a `Transaction` of `interface.py`, on top of this
        """Make the change, and answer it. May be called more than once; raises what it refuses."""
        body = self._body
        assert body is not None, "a write without a body overrides run"
        return body(txn)

    def settle(self, result: T) -> None:
        """What `run` answered is durable.

        Called once, before the next group starts, on the thread that ran the group.
        """
        if self._settled is not None:
            self._settled(result)

    def doubt(self) -> None:
        """It is not known whether the change happened. Called instead of `settle`."""


@final
class Outcome(Generic[T]):
    """What became of one write of a group: its result, or the error its body raised."""

    __slots__ = ("error", "result")

    def __init__(self, result: T | None, error: Exception | None) -> None:
        """An outcome of one of the two."""
        self.result = result
        self.error = error

    def __eq__(self, other: object) -> bool:
        """Whether it is the same."""
        return isinstance(other, Outcome) and (self.result, self.error) == (
            other.result,
            other.error,
        )

    def __hash__(self) -> int:
        """Of what is compared."""
        return hash((self.result, self.error))

    def __repr__(self) -> str:
        """For messages of tests and failures."""
        return f"Outcome({self.result!r}, {self.error!r})"


def settle(writes: Sequence[Write[Any]], outcomes: Sequence[Outcome[Any]]) -> None:
    """A group is durable: tell the writes that were made, in order."""
    for write, outcome in zip(writes, outcomes, strict=True):
        if outcome.error is None:
            write.settle(outcome.result)


def succeeded(outcomes: Sequence[Outcome[Any]]) -> int:
    """How many writes were made."""
    return sum([outcome.error is None for outcome in outcomes])
