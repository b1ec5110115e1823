"""The requests of one turn of the loop, run stage by stage.

The requests that one turn of the loop reads are gathered: first all senders are verified, then all
messages are decoded, all reads and plans are made, all answers are encoded, and all are written. A
stage takes a task and returns whether the task goes on to the next stage; if not, the task is
answered, runs elsewhere, or waits for the committer. The processor's caches cannot hold the code of
all stages at once, so in this way the code of a stage is loaded once for many requests (measured in
docs/internals/performance.md).
"""

from collections.abc import Callable
from typing import final

from widerow.engine.budget import Budget
from widerow.engine.plan import Plan
from widerow.errors import NotYet, TooLong
from widerow.limits import STAGE_REQUESTS_MAX
from widerow.server.foreseen_runs import ForeseenRuns
from widerow.server.outcomes import Outcomes, Task
from widerow.server.schedule import Schedule
from widerow.server.service import Service
from widerow.server.thread_runs import ThreadRuns
from widerow.server.verifying import Verifier

__all__ = ["StagedRuns"]


@final
class StagedRuns:
    """Runs gathered requests in stages. On the loop's thread."""

    def __init__(
        self,
        service: Service,
        schedule: Schedule,
        verifier: Verifier,
        threads: ThreadRuns,
        foreseen: ForeseenRuns,
        outcomes: Outcomes,
    ) -> None:
        """`schedule` says which requests leave the stages for `threads` or `foreseen`."""
        self._committer = service.committer
        self._clock = service.clock
        self._schedule = schedule
        self._verifier = verifier
        self._threads = threads
        self._foreseen = foreseen
        self._outcomes = outcomes
        self._gathered: list[Task] = []
        self._now_us = 0  # when the present stages began

    def add(self, task: Task) -> None:
        """Gather a request of this turn of the loop."""
        self._schedule.request_came()
        self._gathered.append(task)
        if len(self._gathered) == 1:
            self._schedule.when_turn_ends(self._turn)

    def _turn(self) -> None:
        """Run the requests gathered in this turn of the loop, or the first of them."""
        tasks, self._gathered = self._schedule.first_of(
            self._gathered, lambda task: task.route.lengthy is not None
        )
        if self._gathered:
            self._schedule.when_turn_ends(self._turn)
        try:
            for first in range(0, len(tasks), STAGE_REQUESTS_MAX):
                self._run_stages(tasks[first : first + STAGE_REQUESTS_MAX])
        finally:
            self._schedule.turn_ends()
        tasks = []  # frees finished tasks before the commit
        # Reads need not wait for the sync of this turn.
        self._committer.flush()
        self._outcomes.answers.hand_over()

    def _run_stages(self, tasks: list[Task]) -> None:
        """Run requests stage by stage, and answer those that are finished."""
        self._now_us = self._clock.now_us()
        for stage in (self._verify, self._decode, self._ask, self._encode):
            tasks = self._through(stage, tasks)
        self._outcomes.answers.hand_over()

    def _through(self, stage: Callable[[Task], bool], tasks: list[Task]) -> list[Task]:
        """The tasks that go on to the next stage; those that fail in this stage are answered."""
        going_on = []
        for task in tasks:
            try:
                if stage(task):
                    going_on.append(task)
            except Exception as error:  # noqa: BLE001  # every request is answered
                self._outcomes.end(task, self._outcomes.failed(task, error))
        return going_on

    def _verify(self, task: Task) -> bool:
        schedule = self._schedule
        if schedule.verifies_on_thread(len(task.request.body)):
            self._threads.start(task)
            return False
        self._verifier.admit(task, self._now_us)
        if schedule.verifies_on_thread(len(task.asked)):  # it has grown: it came compressed
            self._threads.start(task)
            return False
        if schedule.runs_on_thread(task.route.lengthy, task.asked):
            self._foreseen.start(task)
            return False
        return True

    def _decode(self, task: Task) -> bool:
        task.decode()
        return True

    def _ask(self, task: Task) -> bool:
        """Run the operation in the engine; its plan goes to the committer."""
        route, call = task.route, task.call
        assert call.opened is not None
        if route.call_within is not None and self._schedule.has_threads:
            try:
                result = route.call_within(
                    route.operations, call.opened.instance, task.asked, Budget()
                )
            except (NotYet, TooLong):
                self._threads.start(task)
                return False
        else:
            result = route.call(route.operations, call.opened.instance, task.asked)
        if isinstance(result, Plan):
            self._outcomes.submit(task, result)
            return False
        task.asked = result
        # A large answer is sent now, so that no turn holds many of them.
        if route.lengthy is not None or (route.is_large is not None and route.is_large(result)):
            return self._encode(task)
        return True

    def _encode(self, task: Task) -> bool:
        self._outcomes.end(task, self._outcomes.succeeded(task, task.asked))
        return False
