"""A long group lets other threads run, compiled as well (docs/internals/performance.md)."""

import sys
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from widerow.storage.interface import Write
from widerow.storage.memory import MemoryStore
from widerow.storage.pending import run_bodies

ATTEMPTS = 200  # the scheduler of a busy machine may leave the other thread out of some of them


@pytest.fixture
def _short_slices() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("_short_slices")
def test_another_thread_gets_its_turn_within_a_group() -> None:
    seen: list[object] = []
    over = Event()

    def other() -> None:
        while not over.wait(1e-6):
            seen.append("other")

    # The bodies are in C, so nothing in them hands over the interpreter's lock either.
    group = [Write((), seen.append) for _ in range(2000)]
    thread = Thread(target=other)
    thread.start()
    try:
        assert any(_is_interrupted(seen, group) for _ in range(ATTEMPTS))
    finally:
        over.set()
        thread.join()


def _is_interrupted(seen: list[object], group: list[Write[None]]) -> bool:
    """Whether the other thread ran between the first body of the group and the last."""
    seen.clear()
    with MemoryStore() as store:
        run_bodies(store.snapshot(), group)
    ran = seen.copy()
    while ran and ran[-1] == "other":
        ran.pop()
    while ran and ran[0] == "other":
        ran.pop(0)
    return "other" in ran
