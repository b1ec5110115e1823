"""Which operation of which dialect a request is for.

The target of a request names its operation in nearly every case, and one look at a table finds it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from widerow.engine.engine import Engine
from widerow.server.metrics import ActionCounts, Metrics
from widerow.wire.dialect import Dialect, WireOperation

__all__ = ["NO_ACTION", "Route", "Routes"]

# The label in metrics of all unknown actions: a client must not choose labels.
NO_ACTION: Final = "other"


@final
class Route:
    """An operation of a dialect, and the counts of its requests.

    The functions are attributes, which compiled code calls faster than elements of a tuple.
    """

    def __init__(
        self,
        dialect: Dialect,
        operations: Any,  # noqa: ANN401  # the model's own
        operation: WireOperation,
        counts: ActionCounts,
    ) -> None:
        """The route of `operation`; `operations` are those of the dialect's table model."""
        self.dialect = dialect
        self.operations = operations
        self.open_request = dialect.open_request
        self.envelope = dialect.envelope
        self.answer_date = dialect.answer_date
        self.name = operation.name
        self.writes = operation.writes
        self.decode = operation.decode
        self.call = operation.call
        self.call_within = operation.call_within
        self.call_between = operation.call_between
        self.encode = operation.encode
        self.consumed = operation.consumed
        self.lengthy = operation.lengthy
        self.foreseen = operation.foreseen
        self.is_large = operation.is_large
        # and then waits for its commit
        self.computes = operation.writes and operation.lengthy is not None
        self.counts = counts
        self.permission = operation.permission
        self.permission_of = operation.permission_of
        self.path = operation.path


@final
class Routes:
    """The operations of the dialects that a port serves. On the loop's thread."""

    def __init__(self, engine: Engine, metrics: Metrics, dialects: Sequence[Dialect]) -> None:
        """Raises `ValueError` where several dialects would answer what none claims."""
        self._engine = engine
        self._metrics = metrics
        self._dialects = tuple(dialects)
        self._selected: dict[tuple[str, str], Route] = {}  # by dialect and operation
        self._last_claimed: str | None = None
        self._last_claiming: Dialect | None = None
        self.by_target: dict[bytes, Route] = {}  # by the whole target of a request
        # If two dialects have the same path, the first one gets it.
        for dialect in reversed(self._dialects):
            for path, operation in dialect.paths.items():
                self.by_target[path] = self._route_of(dialect, operation)
        self.unclaimed = _unclaimed_of(self._dialects)

    def claiming(self, target: str) -> Dialect | None:
        """The first dialect that claims a target."""
        if target == self._last_claimed:  # a client's requests have one target, or paths have it
            return self._last_claiming
        for dialect in self._dialects:
            if dialect.claims(target):
                self._last_claimed, self._last_claiming = target, dialect
                return dialect
        return None

    def marked(self, headers: Mapping[str, str]) -> Dialect | None:
        """The first dialect whose mark is among the headers of a request."""
        for dialect in self._dialects:
            if dialect.mark and dialect.mark in headers:
                return dialect
        return None

    def select(self, dialect: Dialect, method: bytes, target: str, body: bytes) -> Route:
        """The route of the operation that a dialect selects. Raises the dialect's errors."""
        return self._route_of(dialect, dialect.select(method.decode("latin-1"), target, body))

    def _route_of(self, dialect: Dialect, operation: WireOperation) -> Route:
        name = (dialect.name, operation.name)
        route = self._selected.get(name)
        if route is None:
            counts = self._metrics.of(dialect.label + operation.name)
            operations = dialect.open(self._engine)
            route = self._selected[name] = Route(dialect, operations, operation, counts)
        return route


def _unclaimed_of(dialects: Sequence[Dialect]) -> Dialect | None:
    """The dialect that answers what none claims. Raises `ValueError` where several would."""
    found = [each for each in dialects if each.answers_unclaimed]
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise ValueError(f"one dialect of a port may answer what none claims, not: {names}")
    return found[0] if found else None
