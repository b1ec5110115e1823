"""What a write operation hands to whoever commits it.

Planning validates the request and finds its shards; the bodies run later, on the writer, grouped
with those of other requests. `concluded` turns their outcomes into the operation's answer, or into
the plan to be committed next where the catalogue has changed meanwhile.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar, final

from widerow.errors import Exhausted, Replan, Rule
from widerow.limits import REPLANS_MAX
from widerow.storage.interface import Outcome, Write

__all__ = ["Pace", "Plan", "PlanAgain", "concluded", "failing", "put_off", "single", "slowest"]

T = TypeVar("T")
S = TypeVar("S")


class Pace(NamedTuple):
    """What the answer to a write waits for, when its rows are durable: work that follows them.

    `waits`: whether it still has to. `seconds`: it waits no longer, whatever becomes of the work.
    """

    waits: Callable[[], bool]
    seconds: float


def slowest(paces: "Iterable[Pace | None]") -> Pace | None:
    """A pace at which an answer waits as long as by any of these; None: it never waits."""
    known = [each for each in paces if each is not None]
    if len(known) < 2:
        return known[0] if known else None
    return Pace(lambda: any(each.waits() for each in known), max([each[1] for each in known]))


@final
class Plan(Generic[T]):
    """Writes to be handed to the store in order, and how to read the result.

    `finish` raises the operation's error if there is one, and `Replan` where something is left to
    be planned by `again`. `size` is about how many bytes the writes hold, for bounds on waiting
    plans. `alone`: a write needs a group of its own. `prepares`: the writes only prepare the
    operation, which is planned by `again` in any case. `attempts`: how often it was planned again.
    `pace`: what the answer waits for; None: for nothing.
    """

    __slots__ = ("again", "alone", "attempts", "finish", "pace", "prepares", "size", "writes")

    def __init__(
        self,
        writes: tuple[Write[Any], ...],
        finish: Callable[[Sequence[Outcome[Any]]], T],
        size: int = 0,
        again: "PlanAgain[T] | None" = None,
        prepares: bool = False,  # noqa: FBT001, FBT002  # a plain value, always given by its name
    ) -> None:
        self.writes = writes
        self.finish = finish
        self.size = size
        self.again = again
        self.prepares = prepares
        self.attempts = 0
        self.pace: Pace | None = None
        self.alone = any(write.alone for write in writes)

    def groups(self) -> Iterator[list[Write[Any]]]:
        """The writes in groups, in order; a write that needs a group of its own has one."""
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

    def answering(self, convert: "Callable[[T], S]") -> "Plan[S]":
        """A plan with these writes whose answer is `convert` of this plan's answer."""
        finish, again = self.finish, self.again
        plan_rest: PlanAgain[S] | None = None
        if again is not None:
            plan_rest = partial(_converted, again, convert)
        made = Plan(
            self.writes,
            lambda outcomes: convert(finish(outcomes)),
            self.size,
            plan_rest,
            prepares=self.prepares,
        )
        made.pace = self.pace
        return made


PlanAgain = Callable[[Sequence[Outcome[Any]]], Plan[T]]
"""Plans what is left of an operation after these outcomes of its plan."""


def _converted(
    again: "PlanAgain[T]", convert: Callable[[T], S], outcomes: Sequence[Outcome[Any]]
) -> "Plan[S]":
    return again(outcomes).answering(convert)


def concluded(plan: Plan[T], outcomes: Sequence[Outcome[Any]]) -> "T | Plan[T]":
    """The plan's answer, or the plan to be committed next, for whoever commits plans.

    Plans again at most `REPLANS_MAX` times in a row. Raises: what `finish` raises, and what
    planning raises; `Exhausted` where every attempt met another change.
    """
    try:
        return plan.finish(outcomes)
    except Replan as stale:
        again = plan.again
        if again is None or plan.attempts == REPLANS_MAX:
            raise Exhausted(Rule.SERVER_BUSY) from stale
        following = again(outcomes)
        following.attempts = plan.attempts + 1
        return following


def single(outcomes: Sequence[Outcome[T]]) -> T:
    """The result of the only write, or its error."""
    outcome = outcomes[0]
    if outcome.error is not None:
        raise outcome.error
    return outcome.result  # type: ignore[return-value]  # no error means there is a result


def failing(outcomes: Sequence[Outcome[Any]]) -> None:
    """Raise the first error, if there is one."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error


def put_off(outcomes: Sequence[Outcome[Any]]) -> None:
    """Raise the first error, if there is one, of a step that may be repeated.

    `Replan` is not an error here: the next step plans on the new state of the catalogue.
    """
    for outcome in outcomes:
        if outcome.error is not None and not isinstance(outcome.error, Replan):
            raise outcome.error
