"""Metrics of partitions: a bounded number of series, and no keys."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from widerow.engine.engine import Engine
from widerow.engine.partitions.following import RANGE_ENDS, Following
from widerow.engine.partitions.partitioned_tables import Partitioned
from widerow.engine.partitions.range_rules import ChangeKind
from widerow.engine.partitions.table_load import TableLoad
from widerow.server.metrics import family
from widerow.server.scrapes import NamesShown

__all__ = ["TABLES_MAX", "partition_lines"]

TABLES_MAX: Final = 50  # the busiest tables have series of their own


def partition_lines(engine: Engine, shown: NamesShown) -> Iterator[str]:
    """The lines of partitions' metrics: series of the busiest tables that are `shown`, and sums."""
    partitions = engine.partitions
    loads = [each for each in partitions.loads() if shown(each[0].qualified)]
    loads = sorted(loads, key=lambda pair: (-pair[1].rate, pair[0].id))[:TABLES_MAX]
    yield from family("partitions", "gauge", "Partitions, by table; the busiest tables only.")
    for table, load in loads:
        yield f"widerow_partitions{{{_label(table)}}} {len(load.bounds) + 1}"
    yield from family("table_bytes", "gauge", "Bytes before compression, by table.")
    for table, load in loads:
        yield f"widerow_table_bytes{{{_label(table)}}} {load.sizes.size}"
    yield from family(
        "partition_load_ratio", "gauge", "The largest part of its load in one partition."
    )
    for table, load in loads:
        yield f"widerow_partition_load_ratio{{{_label(table)}}} {load.largest_share:.4f}"
    yield from family("table_units_total", "counter", "Capacity units, by table and kind.")
    for table, load in loads:
        yield from _units("table_units_total", table, load)
    yield from family("partition_changes_total", "counter", "Splits and merges, by reason.")
    for reason, count in sorted(partitions.changes.items(), key=lambda pair: pair[0].value):
        yield f'widerow_partition_changes_total{{reason="{reason.value}"}} {count}'
    yield from family("partition_reports", "gauge", "Partitions that no split helps, by reason.")
    reports = Counter(
        report.reason for table, _ in partitions.loads() for report in partitions.reports(table)
    )
    for reason, count in sorted(reports.items(), key=lambda pair: pair[0].value):
        yield f'widerow_partition_reports{{reason="{reason.value}"}} {count}'
    yield from family("partition_notes", "gauge", "Requests that are noted and not counted yet.")
    yield f"widerow_partition_notes {len(partitions.notes)}"
    if engine.store.placement is not None:
        yield from _range_lines(partitions.following)
    yield from family("throttled_total", "counter", "Rows and pages refused for lack of reserve.")
    yield f"widerow_throttled_total {0 if engine.throttle is None else engine.throttle.refused}"


def _range_lines(following: Following) -> Iterator[str]:
    yield from family("range_changes_total", "counter", "Changes of the database's ranges, by end.")
    for kind in ChangeKind:
        for end in RANGE_ENDS:
            label = f'kind="{kind.value}",end="{end}"'
            yield f"widerow_range_changes_total{{{label}}} {following.counts[kind.value, end]}"
    yield from family("range_changes_pending", "gauge", "Changes of ranges still to be made.")
    yield f"widerow_range_changes_pending {following.pending}"


def _label(table: Partitioned) -> str:
    """A table's label, unescaped: names hold letters, digits and `_-.:@/` only."""
    return f'table="{table.qualified}"'


def _units(name: str, table: Partitioned, load: TableLoad) -> Iterator[str]:
    consumed = load.consumed_whole_seconds
    for kind, whole, additional in (
        ("read", consumed.read, consumed.additional_read),
        ("write", consumed.write, consumed.additional_write),
    ):
        label = f'{_label(table)},kind="{kind}"'
        yield f'widerow_{name}{{{label},part="reserved"}} {whole - additional:.0f}'
        yield f'widerow_{name}{{{label},part="additional"}} {additional:.0f}'
