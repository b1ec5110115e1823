"""The counters of a running widerow (`/metrics`), as capacity units by action and by table."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from widerow.advice.unit_rules import Units

__all__ = ["UnitCounters", "read_counters"]

_ACTIONS: Final = re.compile(
    r'^widerow_capacity_units_total\{action="([^"]+)",kind="(read|write)"\} (\d+)$', re.MULTILINE
)
_TABLES: Final = re.compile(
    r'^widerow_table_units_total\{table="([^"]+)",kind="(read|write)",part="\w+"\} (\d+)$',
    re.MULTILINE,
)


class UnitCounters(NamedTuple):
    """Units since the server's start: by action, and by table of the busiest fifty."""

    actions: Mapping[str, Units]
    tables: Mapping[str, Units]


def read_counters(page: str) -> UnitCounters:
    """The counters on a page of metrics; empty for a page of another server."""
    return UnitCounters(_counted(_ACTIONS, page), _counted(_TABLES, page))


def _counted(lines: re.Pattern[str], page: str) -> dict[str, Units]:
    found: dict[str, Units] = {}
    for name, kind, number in lines.findall(page):
        units = Units(int(number), 0) if kind == "read" else Units(0, int(number))
        found[name] = found.get(name, Units(0, 0)).plus(units)
    return found
