"""Plans that are durable and not told yet: until all servers of a shared store know of them.

A change of the catalogue is one (`Write.is_known`). It must not hold up other groups, so it waits
outside the line: its caller's thread asks again and again where that thread waits for nothing else,
and a thread of its own does where somebody is called back.
"""

import threading
from queue import Empty, SimpleQueue
from time import sleep
from typing import Final

from widerow.commit.waiting import Post, Waiting
from widerow.limits import WORD_SECONDS

__all__ = ["Unheard", "wait_for_word"]

_END: Final = None


def wait_for_word(waiting: Waiting) -> None:
    """Return when the plan has ended. For a thread that does nothing else meanwhile."""
    while not waiting.hear():
        sleep(WORD_SECONDS)


class Unheard:
    """The plans that wait, and the thread that asks for them. Any thread may add one."""

    def __init__(self) -> None:
        """None waits. The thread starts with the first."""
        self._added: SimpleQueue[tuple[Waiting, Post] | None] = SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, waiting: Waiting, post: Post) -> None:
        """Pass the plan to `post` when it has ended."""
        self._added.put((waiting, post))
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._ask, name="widerow-word", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Return when all that were added have ended. Idempotent."""
        with self._starting:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._added.put(_END)
            thread.join()

    def _ask(self) -> None:
        held: list[tuple[Waiting, Post]] = []
        ending = False
        while held or not ending:
            try:
                added = self._added.get(timeout=WORD_SECONDS if held else None)
            except Empty:
                pass
            else:
                if added is _END:
                    ending = True
                else:
                    held.append(added)
            left = []
            for waiting, post in held:
                if waiting.hear():
                    post((waiting,))
                else:
                    left.append((waiting, post))
            held = left
