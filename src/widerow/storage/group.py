"""What a group commit takes and gives: one write, and what became of it.

Made for every row that is written, so plain objects with slots (`model/tablestore/row.py` says
why).
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, final

from widerow.errors import OutcomeUnknown

__all__ = ["Outcome", "Write", "conclude", "doubt", "succeeded"]

T = TypeVar("T")


class Write(Generic[T]):
    """One atomic change: the shards it may touch, and the body that makes it.

    `alone`: shares its group with no other write (changes of the catalogue, which bodies read).
    `reads`: single keys outside the shards that the body may read (`storage/interface.py`, rule
    12). What is made for every row is a class of its own that overrides `run` and `settle`: one
    object instead of four.

    `frees`: it gives room back, itself or by what follows it, and adds little: it may be made on a
    disk that is full for others (`storage/interface.py`, rule 8).

    The store that runs the write tells it how it ended, by `settle` or `doubt`. Neither raises, nor
    asks the store for a write, which would wait for the one that is telling.
    """

    __slots__ = ("_body", "_doubted", "_settled", "alone", "frees", "reads", "shards")

    def __init__(
        self,
        shards: tuple[bytes, ...],
        body: Callable[[Any], T] | None = None,
        alone: bool = False,  # noqa: FBT001, FBT002  # a plain value, always given by its name
        settled: Callable[[T], None] | None = None,
        doubted: Callable[[], None] | None = None,
        reads: tuple[bytes, ...] = (),
        frees: bool = False,  # noqa: FBT001, FBT002  # a plain value, always given by its name
    ) -> None:
        """A write of these parts; without a body it must override `run`."""
        self.shards = shards
        self.alone = alone
        self._body = body
        self.reads = reads
        self.frees = frees
        self._settled = settled
        self._doubted = doubted

    @property
    def chain(self) -> object | None:
        """What this write shares with others that must follow each other; None: it is in no chain.

        Writes of one chain are made in their order; once one of them is not made, none behind it
        is. A store that may run the bodies of one shard again, and commit others meanwhile, keeps
        those of a chain together.
        """
        return None

    def run(self, txn: Any) -> T:  # noqa: ANN401  # a `Transaction` (interface.py)
        """Make the change, and answer it. May be called more than once; raises what it refuses."""
        body = self._body
        assert body is not None, "a write without a body overrides run"
        return body(txn)

    def settle(self, result: T) -> None:
        """What `run` answered is durable: publish it.

        Called once, before the next group starts, on the thread that ran the group.
        """
        if self._settled is not None:
            self._settled(result)

    def is_acknowledged(self) -> bool:
        """Whether whoever asked for the change may hear of it; asked again until it is so.

        Not before `settle`. May ask the store, and wait for it.
        """
        return True

    def doubt(self) -> None:
        """Whether the change was made is not known: whoever keeps it in memory reads it again.

        Called before the next group starts, on the thread that ran the group. What the store holds
        is decided when the body of a later write runs, so it is read there and not here. May come
        for a write that was settled, or whose body raised, where a group was interrupted.
        """
        if self._doubted is not None:
            self._doubted()


@final
class Outcome(Generic[T]):
    """What became of one write of a group: its result, or the error its body raised."""

    __slots__ = ("error", "result")

    def __init__(self, result: T | None, error: Exception | None) -> None:
        self.result = result
        self.error = error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outcome) and (self.result, self.error) == (
            other.result,
            other.error,
        )

    def __hash__(self) -> int:
        return hash((self.result, self.error))

    def __repr__(self) -> str:
        return f"Outcome({self.result!r}, {self.error!r})"


def conclude(writes: Sequence[Write[Any]], outcomes: Sequence[Outcome[Any]]) -> None:
    """Tell the writes of an ended group: `settle` those that were made, `doubt` the unknown ones.

    In the order of the group. A write whose body raised is told nothing.
    """
    for write, outcome in zip(writes, outcomes, strict=True):
        error = outcome.error
        if error is None:
            write.settle(outcome.result)
        elif isinstance(error, OutcomeUnknown):
            write.doubt()


def doubt(writes: Sequence[Write[Any]]) -> None:
    """Tell each write of a group that it is not known whether the group was made."""
    for write in writes:
        write.doubt()


def succeeded(outcomes: Sequence[Outcome[Any]]) -> int:
    """How many writes were made."""
    return sum([outcome.error is None for outcome in outcomes])
