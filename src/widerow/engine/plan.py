"""What a write operation hands to whoever commits it.

Planning validates the request and finds its shards; the bodies run later, on the writer, grouped
with those of other requests. `finish` turns their outcomes into the operation's answer.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, final

from widerow.storage.interface import Outcome, Write

__all__ = ["Plan", "failing", "single"]

T = TypeVar("T")


@final
class Plan(Generic[T]):
    """Writes to be handed to the store in order, and how to read the result.

    `finish` raises the operation's error if there is one. `size` is about how many bytes the
    writes hold, for bounds on what waits. `alone`: one of them wants a group of its own.
    """

    __slots__ = ("alone", "finish", "size", "writes")

    def __init__(
        self,
        writes: tuple[Write[Any], ...],
        finish: Callable[[Sequence[Outcome[Any]]], T],
        size: int = 0,
    ) -> None:
        """A plan of these parts."""
        self.writes = writes
        self.finish = finish
        self.size = size
        self.alone = any(write.alone for write in writes)

    def groups(self) -> Iterator[list[Write[Any]]]:
        """The writes in the groups they need: one that wants to be alone is."""
        group: list[Write[Any]] = []
        for write in self.writes:
            if not write.alone:
                group.append(write)
                continue
            if group:
                yield group
                group = []
            yield [write]
        if group:
            yield group


def single(outcomes: Sequence[Outcome[T]]) -> T:
    """The result of the only write, or its error."""
    outcome = outcomes[0]
    if outcome.error is not None:
        raise outcome.error
    return outcome.result  # type: ignore[return-value]  # no error means there is a result


def failing(outcomes: Sequence[Outcome[Any]]) -> None:
    """Nothing, or the first error."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
