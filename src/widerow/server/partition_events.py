"""Changes of partitions and reports about them, as lines of the log."""

import logging
from collections import deque

from widerow.engine.partitions.balance import Event
from widerow.engine.partitions.document import key_hash
from widerow.engine.partitions.rules import REMEDIES, Merge, Report

__all__ = ["log_events"]

_log = logging.getLogger("widerow.partitions")


def log_events(events: deque[Event]) -> None:
    """Log what happened, with its reason, and forget it."""
    while events:
        _tell(events.popleft())


def _tell(event: Event) -> None:
    table, decision = event
    facts: dict[str, object] = {
        "table": table.qualified,
        "partitions": len(table.splits) + 1,
        "reason": decision.reason.value,
        "because": decision.words,
    }
    if isinstance(decision, Report):
        facts |= {"key": key_hash(decision.key), "remedy": REMEDIES[decision.reason]}
        _log.warning("no split helps a partition", extra={"facts": facts})
        return
    words = "partitions merged" if isinstance(decision, Merge) else "partition split"
    _log.info(words, extra={"facts": facts})
