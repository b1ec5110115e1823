"""The real clock, entropy and processors do what their protocols promise."""

import os
from typing import TYPE_CHECKING

import pytest

from widerow.system import SystemClock, SystemEntropy, processors

if TYPE_CHECKING:
    from widerow.clock import Clock, Entropy


def test_the_clock_counts_microseconds_since_1970() -> None:
    clock: Clock = SystemClock()
    assert 1_700_000_000_000_000 < clock.now_us() < 4_000_000_000_000_000


def test_the_monotonic_clock_goes_on() -> None:
    clock: Clock = SystemClock()
    readings = [clock.monotonic_ns() for _ in range(100)]
    assert readings == sorted(readings)


def test_entropy_has_the_size_asked_for_and_does_not_repeat() -> None:
    entropy: Entropy = SystemEntropy()
    drawn = {entropy.token_bytes(16) for _ in range(100)}
    assert len(drawn) == 100
    assert {len(each) for each in drawn} == {16}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process")
def test_a_process_counts_the_processors_that_it_may_use() -> None:
    allowed = os.sched_getaffinity(0)
    assert processors() == len(allowed)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert processors() == 1
    finally:
        os.sched_setaffinity(0, allowed)
