"""Requests that touch the same rows keep their order, and nobody waits without a reason."""

import asyncio
from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from widerow.proxy.turns import Claim, RequestTurns, Ticket

PATHS = st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map(tuple)
CLAIMS = st.lists(st.builds(Claim, PATHS, st.booleans()), min_size=1, max_size=3)


def conflict(left: Iterable[Claim], right: Iterable[Claim]) -> bool:
    """The definition: one path is how the other begins, and one of them changes something."""
    return any(
        (one.changes or other.changes)
        and (one.path[: len(other.path)] == other.path or other.path[: len(one.path)] == one.path)
        for one in left
        for other in right
    )


@given(st.lists(CLAIMS, max_size=12), st.randoms())
def test_a_request_waits_for_those_before_it_that_it_conflicts_with(
    requests: list[list[Claim]],
    random: Any,  # noqa: ANN401  # a random.Random
) -> None:
    async def run() -> None:
        turns = RequestTurns()
        tickets = [turns.enter(claims) for claims in requests]
        present = list(range(len(requests)))
        while present:
            for number in present:
                before = [each for each in present if each < number]
                waits = any(conflict(requests[each], requests[number]) for each in before)
                assert tickets[number].ready.done() is not waits
            may_go = [each for each in present if tickets[each].ready.done()]
            gone = random.choice(may_go)
            turns.leave(tickets[gone])
            present.remove(gone)
        assert turns.is_empty()

    asyncio.run(run())


def test_one_who_gives_up_while_it_waits_lets_the_others_go() -> None:
    async def run() -> None:
        turns = RequestTurns()
        claim = (Claim(("a",), changes=True),)
        tickets: list[Ticket] = [turns.enter(claim) for _ in range(3)]
        turns.leave(tickets[1])
        assert not tickets[2].ready.done()
        turns.leave(tickets[0])
        assert tickets[2].ready.done()
        turns.leave(tickets[2])
        assert turns.is_empty()

    asyncio.run(run())
