"""Who asks, and may they: the first thing that is looked at in a request."""

from typing import final

from widerow.auth.policy import AccessRules, authorize
from widerow.clock import Clock
from widerow.errors import Exhausted, InvalidRequest, Rule
from widerow.limits import HALF_CLOSED_SECONDS_MAX
from widerow.server.message import Request
from widerow.server.outcomes import Task

__all__ = ["Verifier"]


@final
class Verifier:
    """Admits requests by the keys and instances in force. On any thread.

    `identity` is replaced on the loop's thread, for requests that are verified afterwards.
    """

    def __init__(self, identity: AccessRules, clock: Clock) -> None:
        """Admit by `identity` until it is replaced."""
        self.identity = identity
        self._clock = clock

    def admit(self, task: Task, now_us: int) -> None:
        """Verify and permit the request, and take its body. On any thread."""
        request, route = task.request, task.route
        self.check_wanted(request)
        if request.repeated:
            raise InvalidRequest(Rule.HEADER_DUPLICATE, name=request.repeated)
        identity = self.identity
        opened, task.asked = route.open_request(
            route.path,
            request.headers,
            request.body,
            identity.keyring,
            identity.instances,
            now_us,
            request.names,
        )
        task.call.opened = opened
        request.let_go()
        needed = route.permission
        if route.permission_of is not None:
            needed = route.permission_of(task.asked)
        authorize(opened.key, needed)

    def check_wanted(self, request: Request) -> None:
        """Raise `Exhausted` where nobody waits for the answer any more. On any thread.

        Programs that give up close their connections, which looks as if they only send no more:
        they are believed to wait for a moment.
        """
        if request.gone:
            raise Exhausted(Rule.CLIENT_GONE)
        if request.half_closed:
            waited_ns = self._clock.monotonic_ns() - request.received_ns
            if waited_ns > HALF_CLOSED_SECONDS_MAX * 1_000_000_000:
                raise Exhausted(Rule.CLIENT_GONE)
