"""The checker of histories: right about those that are known to be right or wrong."""

from itertools import pairwise, permutations, product
from typing import Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.histories import NO_ROW, CallKind, ClientCall, State, generate, spoiled, step
from tests.support.linearizability import check, judge
from tests.support.recording import Recorder, Recording
from tests.support.volume import examples

HISTORIES: Final = 1000
seeds = st.integers(0, 2**32)
clients = st.integers(1, 6)


@given(seed=seeds, clients=clients)
@settings(max_examples=examples(HISTORIES), deadline=None)
def test_histories_that_have_an_order_are_accepted(seed: int, clients: int) -> None:
    assert check(generate(seed, clients)) is None


@given(seed=seeds, clients=clients)
@settings(max_examples=examples(HISTORIES), deadline=None)
def test_histories_with_one_wrong_answer_are_refused(seed: int, clients: int) -> None:
    wrong = spoiled(generate(seed, clients), seed)
    assume(wrong is not None)
    assert wrong is not None
    assert check(wrong) is not None


def explained(history: list[ClientCall]) -> bool:
    """The definition, word by word: some order of all that is known and some that is not."""
    known = [each for each in history if each.known]
    unknown = [each for each in history if not each.known]
    for chosen in product((False, True), repeat=len(unknown)):
        part = known + [each for each, taken in zip(unknown, chosen, strict=True) if taken]
        if any(in_time(order) and answered(order) for order in permutations(part)):
            return True
    return False


def in_time(order: tuple[ClientCall, ...]) -> bool:
    return all(
        second.returned is None or second.returned >= first.called
        for index, first in enumerate(order)
        for second in order[index + 1 :]
    )


def answered(order: tuple[ClientCall, ...]) -> bool:
    state: State = NO_ROW
    for operation in order:
        fits, state = step(state, operation)
        if not fits:
            return False
    return True


times = st.integers(0, 12)
answers = st.one_of(st.none(), st.booleans(), st.integers(0, 3))
operations = st.builds(
    lambda kind, called, lasts, value, expected, answer: ClientCall(
        kind, called, None if lasts > 5 else called + lasts, value, expected, answer
    ),
    st.sampled_from(CallKind),
    times,
    st.integers(0, 6),
    st.integers(1, 2),
    st.integers(1, 2),
    answers,
)


@given(history=st.lists(operations, max_size=5))
@settings(max_examples=examples(600), deadline=None)
def test_the_search_finds_what_the_definition_says(history: list[ClientCall]) -> None:
    assert (check(history) is None) == explained(history)


def put(called: int, returned: int | None, value: int) -> ClientCall:
    return ClientCall(CallKind.PUT, called, returned, value)


def read(called: int, returned: int, answer: State) -> ClientCall:
    return ClientCall(CallKind.GET, called, returned, answer=answer)


@pytest.mark.parametrize(
    ("history", "holds"),
    [
        ([], True),
        ([put(0, 5, 1), read(2, 3, None)], True),
        ([put(0, 5, 1), read(2, 3, 1)], True),
        ([put(0, 1, 1), read(2, 3, None)], False),
        # Once a reader has seen a change no later reader misses it.
        ([put(0, 9, 1), read(1, 2, 1), read(3, 4, None)], False),
        # What was never answered may happen late, or not at all.
        ([put(0, None, 1), read(1, 2, None), read(3, 4, 1)], True),
        ([put(0, None, 1), read(1, 2, None)], True),
        ([put(0, None, 1), read(1, 2, 1), read(3, 4, None)], False),
        # What is called when another one is answered overlaps it.
        ([put(0, 5, 1), read(5, 6, None)], True),
    ],
)
def test_the_rules_one_by_one(history: list[ClientCall], *, holds: bool) -> None:
    assert (check(history) is None) is holds


def test_the_operation_that_nothing_explains_is_named() -> None:
    wrong = read(8, 9, 7)
    assert check([put(0, 1, 1), read(2, 3, 1), wrong, read(10, 11, 1)]) == wrong


def test_a_thousand_operations_of_eight_clients_are_searched() -> None:
    # Those that nobody answered overlap with all that follow: a few of them, not fifty.
    history = generate(1, clients=8, operations=1000, unanswered=0.005)
    assert not all(each.known for each in history)
    assert check(history) is None
    assert check(spoiled(history, 1) or []) is not None


def test_every_row_of_a_recording_is_judged() -> None:
    good = generate(3)
    recording = Recording({1: good, 2: spoiled(good, 3) or [], 3: good})
    assert [finding.row for finding in judge(recording)] == [2]
    assert recording.facts()["operations"] == 3 * len(good)


def test_crowds_are_not_recorded() -> None:
    with pytest.raises(ValueError, match="1 to 8"):
        Recorder(9, 1)


def test_generated_histories_overlap_and_hold_every_kind() -> None:
    histories = [generate(seed) for seed in range(20)]
    kinds = {each.kind for history in histories for each in history}
    assert kinds == set(CallKind)
    assert any(not each.known for history in histories for each in history)
    for history in histories:
        pairs = pairwise(each for each in history if each.known)
        assert any((first.returned or 0) > second.called for first, second in pairs)
