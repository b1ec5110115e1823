"""Requests on threads: those that would hold up others, and those that wait for reads.

A request for what is on its way (`NotYet`) is put off: no thread waits for it.
"""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, final

from widerow.auth.keyring import AccessKey
from widerow.engine.plan import Plan
from widerow.errors import Exhausted, NotYet, Rule
from widerow.limits import (
    NOT_YET_LOOK_SECONDS,
    NOT_YET_SECONDS_MAX,
    STATEMENTS_MAX,
    STATEMENTS_OF_ONE_MAX,
)
from widerow.server.fair_line import FairLine, Owner
from widerow.server.outcomes import Answer, Outcomes, Task
from widerow.server.schedule import Schedule
from widerow.server.service import Service
from widerow.server.turn import LOOP_TURN
from widerow.server.verifying import Verifier
from widerow.storage.foresight import ForeseenReads, NotForeseen
from widerow.storage.read_anew import read_anew

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["ThreadRuns"]


@final
class ThreadRuns:
    """Carries out whole requests on threads. Begun and answered on the loop's thread."""

    def __init__(
        self,
        service: Service,
        schedule: Schedule,
        verifier: Verifier,
        outcomes: Outcomes,
    ) -> None:
        self._committer = service.committer
        self._clock = service.clock
        self._schedule = schedule
        self._verifier = verifier
        self._outcomes = outcomes
        self._statements = service.metrics.statements
        self._line = FairLine(schedule, self._statements, STATEMENTS_MAX, STATEMENTS_OF_ONE_MAX)
        self._now_ns = service.clock.monotonic_ns

    def start(self, task: Task, reads: ForeseenReads | None = None) -> None:
        """Carry out a request on a thread; `reads`: values that were read for it already."""
        task.on_thread = True
        task.reads = reads
        if task.route.call_between is not None:
            self._stand_in_line(task)
            return
        work, back = partial(self._work, task), partial(self._performed, task)
        self._schedule.start(work, back, computes=task.route.computes)

    def _stand_in_line(self, task: Task) -> None:
        """Carry out a request when its sender's turn has come; first see who that is."""
        opened = task.call.opened
        if opened is None:
            admit = partial(self._verifier.admit, task, self._clock.now_us())
            self._schedule.start(admit, partial(self._admitted, task), computes=False)
            return
        key = opened.key
        owner: Owner = (opened.instance, key.id if isinstance(key, AccessKey) else key.name)
        self._line.add(owner, partial(self._work, task), partial(self._performed, task))

    def _admitted(self, task: Task, future: "Future[None]") -> None:
        """Go on with a request whose sender is known now. On the loop."""
        if future.exception() is not None:
            self._performed(task, future)
            return
        self._schedule.answered()
        self._stand_in_line(task)

    def _work(self, task: Task) -> Answer | None:
        """Run a request on a thread: the answer, or None if another thread commits its write."""
        route, call, schedule = task.route, task.call, self._schedule
        # Digests of large bodies release the interpreter's lock: no turn is needed.
        if call.opened is None:
            self._verifier.admit(task, self._clock.now_us())
        assert call.opened is not None
        with schedule.long_turn():
            LOOP_TURN.give_way()
            self._verifier.check_wanted(task.request)
            turns = LOOP_TURN.begun
            if not task.decoded:
                task.decode()
            asked, task.asked = task.asked, None
            try:
                result = self._called(task, call.opened.instance, asked)
            except NotYet:
                task.asked = asked
                raise
            is_plan = isinstance(result, Plan)
            body = b"" if is_plan else route.encode(result)
            if not is_plan and schedule.hashes_in_turn(LOOP_TURN.begun - turns):
                return self._enveloped(task, result, body)
        if is_plan:
            task.pace = result.pace
            end = self._committer.submit(result, task, schedule.rules.caller)
            if end is None:
                return None
            result, error = end
            if error is not None:
                raise error
            body = route.encode(result)
        return self._enveloped(task, result, body)

    def _called(self, task: Task, instance: str, asked: Any) -> Any:  # noqa: ANN401  # the route's own
        """Run the operation on a thread, again if its view was lost."""
        route, reads = task.route, task.reads
        stepwise = route.call_between
        if stepwise is not None:
            between = partial(self._between, task)
            return read_anew(lambda: stepwise(route.operations, instance, asked, between))
        if reads is not None:
            task.reads = None
            with suppress(NotForeseen):
                return reads.attempt(lambda: route.call(route.operations, instance, asked))
        return read_anew(lambda: route.call(route.operations, instance, asked))

    def _between(self, task: Task) -> None:
        """Between the steps of long work. Raises `Exhausted` where its client is gone."""
        self._verifier.check_wanted(task.request)
        self._schedule.pass_turn()

    def _enveloped(self, task: Task, result: Any, body: bytes) -> Answer:  # noqa: ANN401  # what `encode` takes
        """Make an answer on a thread, with a date of its own."""
        date = task.route.answer_date(self._clock.now_us())
        return self._outcomes.enveloped(task, result, body, date)

    def _performed(self, task: Task, future: "Future[Any]") -> None:
        """Write an answer that a thread has made. On the loop."""
        pace = task.pace
        if pace is not None and future.exception() is None and future.result() and pace.waits():
            task.pace = None
            self._outcomes.paced.hold(pace, partial(self._performed, task, future))
            return
        try:
            answer = future.result()
            if answer is None:
                return
            response = self._outcomes.answered(task, answer)
        except NotYet as early:
            if self._put_off(task, early):
                return
            if isinstance(early.answer, Plan):
                self._outcomes.submit(task, early.answer)
                self._committer.flush()
                return
            response = self._outcomes.failed(task, early)
        except Exception as error:  # noqa: BLE001  # every request is answered
            if task.route.call_between is not None and _left(error):
                self._statements.cancelled += 1
            response = self._outcomes.failed(task, error)
        self._outcomes.end(task, response)
        self._outcomes.answers.hand_over()

    def _put_off(self, task: Task, early: NotYet) -> bool:
        """Carry a request out again in a moment; False where it has waited long enough."""
        waited_ns = self._now_ns() - task.call.received_ns
        if waited_ns >= min(early.seconds, NOT_YET_SECONDS_MAX) * 1_000_000_000:
            return False
        self._schedule.answered()  # no thread has it meanwhile
        task.on_thread = False
        self._schedule.when_passed(NOT_YET_LOOK_SECONDS, partial(self._start_again, task, early))
        return True

    def _start_again(self, task: Task, early: NotYet) -> None:
        try:
            self.start(task)
        except RuntimeError:  # the threads have ended: the server stops in a hurry
            task.on_thread = False
            self._outcomes.end(task, self._outcomes.failed(task, early))
            self._outcomes.answers.hand_over()


def _left(error: Exception) -> bool:
    """Whether work ended because its client was gone."""
    return isinstance(error, Exhausted) and error.rule is Rule.CLIENT_GONE
