"""Requests of a store whose reads may block, carried out on the loop with reads that are foreseen.

A request is attempted without any reads. It says which keys or which page it wants; these are read
together with those of other requests, and it is attempted again with their values. No thread is
needed for that where the driver reads on the loop.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, final

from widerow.engine.budget import Budget
from widerow.errors import NotYet, TooLong
from widerow.server.gathering import GatheredReads, of_keys, of_pages
from widerow.server.outcomes import Outcomes, Task
from widerow.server.schedule import Schedule
from widerow.server.thread_runs import ThreadRuns
from widerow.server.verifying import Verifier
from widerow.storage.foresight import ForeseenReads, NotForeseen
from widerow.storage.interface import Store
from widerow.storage.page import Page, PageWanted

__all__ = ["ForeseenRuns"]


@final
class ForeseenRuns:
    """Attempts requests with foreseen reads. On the loop's thread."""

    def __init__(
        self,
        store: Store,
        schedule: Schedule,
        verifier: Verifier,
        threads: ThreadRuns,
        outcomes: Outcomes,
    ) -> None:
        """Attempt requests where the rules of `schedule` have all of them on threads."""
        self._verifier = verifier
        self._threads = threads
        self._outcomes = outcomes
        self._keys: GatheredReads[Task, bytes, bytes | None] | None = None
        self._pages: GatheredReads[Task, PageWanted, Page] | None = None
        if schedule.rules.all_on_threads:
            keys = of_keys(store.get_together, store.server_of, store.loop_reads(schedule.sockets))
            self._keys = GatheredReads(keys, schedule, self._keys_read)
            pages = of_pages(store.get_pages_together, store.server_of)
            self._pages = GatheredReads(pages, schedule, self._pages_read)

    def close(self) -> None:
        """End reads on the loop."""
        if self._keys is not None:
            self._keys.close()

    def start(self, task: Task) -> None:
        """Attempt a request whose reads are foreseen; run another, or a lengthy one, on a thread.

        Handing a request to a thread and back costs more than the rest of the request.
        """
        route = task.route
        lengthy = route.lengthy is not None and route.lengthy(task.asked)
        if self._keys is None or lengthy or not route.foreseen:
            self._threads.start(task)
        else:
            task.decode()
            self._attempt(task, ForeseenReads())

    def _attempt(self, task: Task, reads: ForeseenReads) -> None:
        """Run a request as far as these reads reach: to its end, or until it asks for others."""
        self._verifier.check_wanted(task.request)
        route = task.route
        try:
            result = reads.attempt(partial(self._within_budget, task))
        except NotForeseen:
            if not reads.knows_nothing or route.writes or not self._gathers(task, reads):
                self._threads.start(task)
        except NotYet:
            self._threads.start(task)
        except TooLong:
            self._threads.start(task, reads)
        else:
            if route.writes:
                self._outcomes.submit(task, result)
            else:
                self._outcomes.end(task, self._outcomes.succeeded(task, result))

    def _within_budget(self, task: Task) -> Any:  # noqa: ANN401  # what the operation's call returns
        route, opened = task.route, task.call.opened
        assert opened is not None
        if route.call_within is not None:
            return route.call_within(route.operations, opened.instance, task.asked, Budget())
        return route.call(route.operations, opened.instance, task.asked)

    def _gathers(self, task: Task, reads: ForeseenReads) -> bool:
        """Gather a request's reads with those of others; False: it asks for none."""
        assert self._keys is not None, "a request is tried where reads are gathered"
        assert self._pages is not None, "keys are gathered, and so are pages"
        if reads.wanted:
            self._keys.add(task, reads.wanted)
        elif reads.wanted_page is not None:
            self._pages.add(task, (reads.wanted_page,))
        else:
            return False
        return True

    def _keys_read(
        self, tasks: Sequence[Task], values: Mapping[bytes, bytes | None] | None
    ) -> None:
        self._foreseen(tasks, None if values is None else partial(ForeseenReads, values))

    def _pages_read(self, tasks: Sequence[Task], pages: Mapping[PageWanted, Page] | None) -> None:
        self._foreseen(tasks, None if pages is None else partial(ForeseenReads, pages=pages))

    def _foreseen(self, tasks: Sequence[Task], reads: Callable[[], ForeseenReads] | None) -> None:
        """Attempt requests again, with their reads; without, each runs on a thread."""
        for task in tasks:
            try:
                if reads is None:
                    self._threads.start(task)
                else:
                    self._attempt(task, reads())
            except Exception as error:  # noqa: BLE001  # every request is answered
                self._outcomes.end(task, self._outcomes.failed(task, error))
        self._outcomes.answers.hand_over()
