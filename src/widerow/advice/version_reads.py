"""Which recorded reads ask for older versions of cells."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from widerow.proxy.decoding import inflated, message_types, parse_message
from widerow.proxy.exchange import Exchange

__all__ = ["count_version_reads"]

_READS: Final = frozenset(("GetRow", "BatchGetRow", "GetRange"))


def count_version_reads(exchanges: Iterable[Exchange], instance: str) -> Counter[str]:
    """How many reads of each table of an instance ask for more than the newest version."""
    found: Counter[str] = Counter()
    for exchange in exchanges:
        request = exchange.request
        if request.action not in _READS or request.instance != instance:
            continue
        types = message_types(request.action)
        body = inflated(request.headers, request.body, "request")
        message: Any = parse_message(types.request if types else None, body)
        if message is None:
            continue
        for each in message.tables if request.action == "BatchGetRow" else (message,):
            if each.max_versions > 1 or each.HasField("time_range"):
                found[str(each.table_name)] += 1
    return found
