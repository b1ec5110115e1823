"""Pages of metrics of several workers as one page (Prometheus' text format 0.0.4).

Counters and histograms are added up. Of gauges, those that say how much a process holds or does are
added up as well; those that each worker knows of the whole store are taken once, the largest value
that one knows. So are the units of tables, which the servers of a store tell each other.
"""

from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["ADDED", "LARGEST", "add_pages", "kept_counts", "without_tables"]

LARGEST: Final = frozenset(
    (
        *("build_info", "partitions", "table_bytes", "partition_load_ratio", "table_units_total"),
        *("partition_reports", "range_changes_pending", "index_lag_seconds"),
        *("index_lag_seconds_max", "stream_lag_seconds", "stream_lag_seconds_max"),
        *("search_rows", "search_waiting", "search_building", "workers"),
        *("nodes", "clock_fault", "store_server_silent_seconds"),
    )
)
"""The families of which a page shows the largest value that a worker has."""
ADDED: Final = frozenset(
    (
        *("writes_waiting", "statements_running", "statements_waiting", "connections"),
        *("requests_in_flight", "bytes_in_flight", "unsent_bytes", "partition_notes"),
        *("process_resident_memory_bytes", "search_memory_bytes", "worker_connections"),
        *("local_transactions", "lease_held", "answers_paced"),
        *("store_server_waiting", "store_server_late_writes"),
    )
)
"""The gauges that are added up; what is no gauge and not among the largest is added up, too."""
_PREFIX: Final = "widerow_"
_TABLE: Final = 'table="'


class _Family:
    """The lines of one name: two in front, then values by what is written before each."""

    def __init__(self, name: str, head: list[str]) -> None:
        self.name = name
        self.head = head
        self.values: dict[str, int | float] = {}

    def take(self, sample: str, value: float) -> None:
        """Take one more value of a sample."""
        known = self.values.get(sample)
        if known is None:
            self.values[sample] = value
        elif self.name in LARGEST:
            self.values[sample] = max(known, value)
        else:
            self.values[sample] = known + value

    def lines(self) -> Iterator[str]:
        """The lines as a page has them."""
        yield from self.head
        for sample, value in self.values.items():
            yield f"{sample} {value if isinstance(value, int) else round(value, 9)}"


def _families(pages: Iterable[str]) -> dict[str, _Family]:
    found: dict[str, _Family] = {}
    for page in pages:
        family, helped = None, ""
        for line in page.splitlines():
            if line.startswith("# HELP "):
                helped = line
            elif line.startswith("# TYPE "):
                name = line.split()[2].removeprefix(_PREFIX)
                family = found.setdefault(name, _Family(name, [helped, line]))
            elif family is not None:
                sample, _, written = line.rpartition(" ")
                family.take(sample, int(written) if written.isdecimal() else float(written))
    return found


def add_pages(pages: Iterable[str]) -> str:
    """One page of those of all workers."""
    lines = [line for family in _families(pages).values() for line in family.lines()]
    return "\n".join(lines) + "\n"


def kept_counts(pages: Iterable[str]) -> str:
    """What is kept of pages whose workers have ended, as a page: counts that must not go back.

    What is said of tables by name is not kept: those who ask may see different ones.
    """
    lines: list[str] = []
    for family in _families(pages).values():
        is_count = not family.head[1].endswith(" gauge")
        samples = {name: value for name, value in family.values.items() if _TABLE not in name}
        if is_count and samples and family.name not in LARGEST:
            family.values = samples
            lines += family.lines()
    return "\n".join([*lines, ""])


def without_tables(page: str) -> str:
    """A page without what is said of tables by name, for those who may not see the names."""
    return "\n".join([*(line for line in page.splitlines() if _TABLE not in line), ""])
