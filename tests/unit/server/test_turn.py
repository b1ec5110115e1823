"""Whoever computes lets the server's loop finish its turn (docs/internals/performance.md)."""

import threading
import time
from collections.abc import Callable

from widerow.safepoint import Precedence
from widerow.server.turn import LoopTurn

BOUND_SECONDS = 0.01  # for which a thread waits at most: longer than a turn


def on_a_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_others_wait_until_the_turn_is_over() -> None:
    """The turn of a test may be longer than the bound, on a machine with other work."""
    turn, seen, waits = LoopTurn(Precedence()), list[str](), list[float]()
    waiting = threading.Event()

    def compute() -> None:
        turn._slice_end = 0
        began = time.monotonic()
        waiting.set()
        turn.give_way()
        waits.append(time.monotonic() - began)
        seen.append("computed")

    turn.begin()
    thread = on_a_thread(compute)
    waiting.wait()
    thread.join(BOUND_SECONDS / 4)  # it would have ended by then
    seen.append("answered")
    turn.end()
    thread.join()
    assert seen == ["answered", "computed"] or waits[0] >= BOUND_SECONDS
    assert not turn._precedence.wanted


def test_a_turn_that_does_not_end_holds_nobody_for_ever() -> None:
    turn = LoopTurn(Precedence())
    turn.begin()
    thread = on_a_thread(turn.give_way)
    thread.join(30)
    assert not thread.is_alive()


def test_the_thread_of_the_turn_does_not_wait_for_itself() -> None:
    turn = LoopTurn(Precedence())
    turn.begin()
    turn.begin()  # of the next request in the same turn
    turn.pause()
    turn.end()
    turn.end()
    assert not turn._lock.locked()
    assert turn.begun == 1


def test_another_server_of_the_process_does_not_end_it() -> None:
    turn = LoopTurn(Precedence())
    turn.begin()
    on_a_thread(turn.end).join()
    assert turn._lock.locked()
    turn.end()
    assert not turn._lock.locked()


def test_nobody_pauses_twice_in_a_slice() -> None:
    turn = LoopTurn(Precedence())

    def compute() -> None:
        turn._slice_end = time.monotonic_ns() + 10**12
        turn.pause()

    turn.begin()
    on_a_thread(compute).join()
    assert turn._precedence.wanted  # not yet
    turn.end()


def test_a_turn_begins_although_somebody_has_not_gone_on_yet() -> None:
    turn = LoopTurn(Precedence())
    turn._lock.acquire()  # whoever paused has it until it runs again
    turn.begin()
    turn.end()
    assert turn._lock.locked()
    assert not turn._precedence.wanted
