"""How a plan ends: its writes are committed, and their outcomes decide its answer.

Whoever commits plans determines their ends here and nowhere else: the group commit
(`widerow.commit`) for one plan of a group after the other, and `Engine.run` for a plan by itself.
"""

from collections.abc import Callable, Sequence
from typing import Any

from widerow.engine.plan import Plan, concluded
from widerow.storage.group import Outcome, Write

__all__ = ["End", "Transact", "end_of", "outcomes_of"]

End = tuple[Any, Exception | None]
"""How a plan ended: its answer, or the error instead of it, or the plan to be committed next."""

Transact = Callable[[Sequence[Write[Any]]], list[Outcome[Any]]]
"""Commits writes as one group and returns their outcomes once they are durable."""


def outcomes_of(plan: Plan[Any], transact: Transact) -> list[Outcome[Any]]:
    """Commit a plan by itself, in as many groups as it needs. Raises what `transact` raises."""
    if not plan.alone:
        return transact(plan.writes) if plan.writes else []
    outcomes: list[Outcome[Any]] = []
    for writes in plan.groups():
        outcomes += transact(writes)
    return outcomes


def end_of(plan: Plan[Any], outcomes: Sequence[Outcome[Any]]) -> End:
    """What a plan makes of the outcomes of its writes. Never raises.

    The answer is the `Plan` to commit next where the catalogue has changed meanwhile (`concluded`).
    """
    try:
        return concluded(plan, outcomes), None
    except Exception as error:  # noqa: BLE001  # it is this plan's answer
        return None, error
