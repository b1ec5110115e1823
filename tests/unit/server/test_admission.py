"""Bounds on what the server takes on (SECURITY.md, "What is refused, and where")."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import Exhausted, Rule
from widerow.limits import REFUSALS_MAX
from widerow.server.admission import Admission


def test_connections_beyond_the_bound_are_too_many_and_then_far_too_many() -> None:
    admission = Admission(connections_max=2)
    for _ in range(2):
        admission.connect()
        assert not admission.is_crowded()
    for _ in range(REFUSALS_MAX):
        admission.connect()
        assert admission.is_crowded()
        assert not admission.is_overcrowded()
    admission.connect()
    assert admission.is_overcrowded()
    for _ in range(REFUSALS_MAX + 1):
        admission.disconnect()
    assert not admission.is_crowded()


@pytest.mark.parametrize(("processes", "mebibytes"), [(1, 256), (2, 128), (8, 32), (64, 32)])
def test_processes_of_one_server_share_its_memory(processes: int, mebibytes: int) -> None:
    """docs/operating/cluster.md, Workers."""
    admission = Admission()
    admission.share(processes)
    assert admission.bytes_max == admission.unsent_max == mebibytes * 1024**2
    assert admission.connections_max == Admission().connections_max


@pytest.mark.parametrize("act", ["connect", "enter"])
def test_while_stopping_the_answer_says_so(act: str) -> None:
    admission = Admission()
    admission.stop()
    with pytest.raises(Exhausted) as raised:
        getattr(admission, act)()
    assert raised.value.rule is Rule.SERVER_STOPPING


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=60))
def test_counts_stay_within_bounds_and_return_to_zero(steps: list[tuple[bool, int]]) -> None:
    admission = Admission(requests_max=5, bytes_max=100)
    held: list[int] = []
    for arrive, size in steps:
        if not arrive and held:
            admission.leave(held.pop())
            continue
        try:
            admission.enter()
        except Exhausted:
            assert len(held) == 5
            continue
        try:
            admission.hold(size)
        except Exhausted:
            assert sum(held) + size > 100
            admission.leave(0)
            continue
        held.append(size)
        assert admission.requests_in_flight == len(held) <= 5
        assert admission.bytes_in_flight == sum(held) <= 100
    for size in held:
        admission.leave(size)
    assert (admission.requests_in_flight, admission.bytes_in_flight) == (0, 0)


@pytest.mark.parametrize(
    ("descriptors", "connections", "refusals"),
    [(1 << 20, 4096, 256), (5120, 4096, 256), (1024, 256, 256), (64, 16, 16), (3, 1, 1)],
)
def test_connections_leave_the_store_its_files(
    descriptors: int, connections: int, refusals: int
) -> None:
    admission = Admission()
    admission.fit(descriptors)
    assert (admission.connections_max, admission.refusals_max) == (connections, refusals)
    admission = Admission(connections_max=2)
    admission.fit(descriptors)
    assert admission.connections_max == min(2, connections)
