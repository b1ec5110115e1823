"""The history of one row: what clients requested, what they were answered, and when.

A row is one integer, or absent. `step` says what each operation does to it; `linearizability.py`
asks whether some order of a history's operations explains it. `generate` makes histories that have
such an order, and `spoiled` changes one answer so that no order is left; between them they test the
checker before it tests anything else.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from random import Random  # noqa: TID251  # seeded: a history must repeat
from typing import Final, NamedTuple

__all__ = ["NO_ROW", "CallKind", "ClientCall", "State", "draw", "generate", "spoiled", "step"]

State = int | None
NO_ROW: Final = None

# Values that are put lie so far apart that increments never make one of another.
VALUES_APART: Final = 1_000_000
_INCREMENT_MAX: Final = 9


class CallKind(Enum):
    """What can be asked."""

    GET = "get"
    PUT = "put"
    DELETE = "delete"
    SWAP = "swap"
    INCREMENT = "increment"


class ClientCall(NamedTuple):
    """One request. Times are of one clock; `returned` is None where the outcome is unknown.

    `value`: what PUT and SWAP write, what INCREMENT adds. `expected`: what SWAP wants to find.
    `answer`: what GET read, what INCREMENT made, whether SWAP wrote; None for the others.
    """

    kind: CallKind
    called: int
    returned: int | None
    value: int = 0
    expected: int = 0
    answer: int | bool | None = None

    @property
    def known(self) -> bool:
        """Whether the request was answered."""
        return self.returned is not None


def step(state: State, operation: ClientCall) -> tuple[bool, State]:
    """Whether `operation` may have this answer in `state`, and the state after the operation."""
    match operation.kind:
        case CallKind.GET:
            return not operation.known or operation.answer == state, state
        case CallKind.PUT:
            return True, operation.value
        case CallKind.DELETE:
            return True, NO_ROW
        case CallKind.SWAP:
            holds = state == operation.expected
            right = not operation.known or operation.answer is holds
            return right, operation.value if holds else state
        case CallKind.INCREMENT:
            total = (state or 0) + operation.value
            return not operation.known or operation.answer == total, total


def draw(random: Random, number: int, seen: State) -> ClientCall:
    """A random operation, not yet called; `seen` is what the client read last."""
    kind = random.choices(list(CallKind), (40, 25, 8, 12, 15))[0]
    value = number * VALUES_APART
    if kind is CallKind.INCREMENT:
        value = random.randint(1, _INCREMENT_MAX)
    expected = seen if seen is not None else VALUES_APART * -1
    return ClientCall(kind, 0, None, value, expected)


def generate(
    seed: int, clients: int = 4, operations: int = 50, *, unanswered: float = 0.05
) -> list[ClientCall]:
    """A history that some order explains: each operation takes effect between its call and its end.

    Of every hundred operations 100 * `unanswered` are never answered; half of the unanswered ones
    do not happen.
    """
    random = Random(seed)  # noqa: S311  # no secret
    free = [0] * clients
    planned = []
    for number in range(1, operations + 1):
        client = random.randrange(clients)
        called = free[client] + random.randint(1, 20)
        moment = called + random.randint(1, 40)
        free[client] = moment + random.randint(1, 40)
        planned.append((moment, called, free[client], number))
    state: State = NO_ROW
    history = []
    for _, called, returned, number in sorted(planned):
        asked = draw(random, number, state)
        operation = asked._replace(called=called, returned=returned)
        if random.random() < unanswered:
            operation = operation._replace(returned=None)
            if random.random() < 0.5:
                history.append(operation)
                continue
        operation = operation._replace(answer=_right_answer(state, operation))
        _, state = step(state, operation)
        if not operation.known:
            operation = operation._replace(answer=None)
        history.append(operation)
    return sorted(history, key=lambda each: each.called)


def _right_answer(state: State, operation: ClientCall) -> int | bool | None:
    match operation.kind:
        case CallKind.GET:
            return state
        case CallKind.SWAP:
            return state == operation.expected
        case CallKind.INCREMENT:
            return (state or 0) + operation.value
        case CallKind.PUT | CallKind.DELETE:
            return None


def spoiled(history: Sequence[ClientCall], seed: int) -> list[ClientCall] | None:
    """The history with one answer made inexplicable; None where no answer can be changed so.

    A value that nobody wrote is read or found, or one that had surely been replaced, or two
    increments after one another answer the same.
    """
    random = Random(seed)  # noqa: S311  # no secret
    places = [*_aliens(history), *_stale(history), *_lost_updates(history)]
    if not places:
        return None
    index, answer, expected = random.choice(places)
    wrong = history[index]._replace(answer=answer)
    if expected is not None:
        wrong = wrong._replace(expected=expected)
    return [*history[:index], wrong, *history[index + 1 :]]


Spoil = tuple[int, int | bool | None, int | None]
_ALIEN: Final = -7 * VALUES_APART


def _aliens(history: Sequence[ClientCall]) -> Iterator[Spoil]:
    for index, operation in enumerate(history):
        if operation.known and operation.kind in {CallKind.GET, CallKind.INCREMENT}:
            yield index, _ALIEN, None
        elif operation.known and operation.kind is CallKind.SWAP:
            yield index, True, _ALIEN


def _stale(history: Sequence[ClientCall]) -> Iterator[Spoil]:
    """Reads of a value that a later, answered put had replaced before the read began."""
    puts = [each for each in history if each.kind is CallKind.PUT and each.known]
    for index, operation in enumerate(history):
        if operation.kind is not CallKind.GET or not operation.known:
            continue
        before = [each for each in puts if _precedes(each, operation)]
        for old in before:
            if any(_precedes(old, each) for each in before):
                yield index, old.value, None


def _lost_updates(history: Sequence[ClientCall]) -> Iterator[Spoil]:
    """Increments that answer the same as an earlier increment of the same value."""
    made = [
        (index, each)
        for index, each in enumerate(history)
        if each.kind is CallKind.INCREMENT and each.known
    ]
    for _, first in made:
        if not isinstance(first.answer, int) or first.answer < VALUES_APART:
            continue  # An increment of an absent row: another one might have answered the same.
        for index, second in made:
            if _precedes(first, second):
                yield index, first.answer, None


def _precedes(first: ClientCall, second: ClientCall) -> bool:
    return first.returned is not None and first.returned < second.called
