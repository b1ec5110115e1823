"""Plans that wait for acknowledgement: durable, but not every server has acknowledged them.

A change of the catalogue is such a plan (`Write.is_acknowledged`). It must not delay other groups,
so it waits outside the line: its caller's thread asks again and again if it has nothing else to do;
for a caller that is called back, a thread of this module asks.
"""

import threading
from queue import Empty, SimpleQueue
from time import sleep
from typing import Final

from widerow.commit.waiting import Post, Waiting
from widerow.limits import ACKNOWLEDGEMENT_SECONDS

__all__ = ["Unacknowledged", "wait_for_acknowledgement"]

_END: Final = None


def wait_for_acknowledgement(waiting: Waiting) -> None:
    """Return when the plan has ended. For a thread that does nothing else meanwhile."""
    while not waiting.poll():
        sleep(ACKNOWLEDGEMENT_SECONDS)


class Unacknowledged:
    """The plans that wait, and the thread that asks for them. Any thread may add a plan."""

    def __init__(self) -> None:
        """The thread starts with the first plan."""
        self._added: SimpleQueue[tuple[Waiting, Post] | None] = SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, waiting: Waiting, post: Post) -> None:
        """Pass the plan to `post` when it has ended."""
        self._added.put((waiting, post))
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._ask, name="widerow-acks", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Return when all added plans have ended. Idempotent."""
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
                added = self._added.get(timeout=ACKNOWLEDGEMENT_SECONDS if held else None)
            except Empty:
                pass
            else:
                if added is _END:
                    ending = True
                else:
                    held.append(added)
            left = []
            for waiting, post in held:
                if waiting.poll():
                    post((waiting,))
                else:
                    left.append((waiting, post))
            held = left
