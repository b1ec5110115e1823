"""Parts of the engine that are made when they are first asked for."""

import threading

import pytest

from widerow.engine.once import Once


def test_it_is_made_once_and_not_before() -> None:
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    part = Once(make)
    assert not part.is_made()
    assert not made
    assert part.get() is part.get()
    assert part.is_made()
    assert len(made) == 1


def test_a_failure_leaves_it_to_be_made_again() -> None:
    failures = [ValueError("not yet")]

    def make() -> str:
        if failures:
            raise failures.pop()
        return "made"

    part = Once(make)
    with pytest.raises(ValueError, match="not yet"):
        part.get()
    assert not part.is_made()
    assert part.get() == "made"


def test_threads_that_ask_at_the_same_time_get_the_same() -> None:
    both = threading.Barrier(2)

    def make() -> object:
        both.wait()  # each thread is making one
        return object()

    part = Once(make)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(part.get())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1]
