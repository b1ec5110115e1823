"""Builds of last-point indexes from the points that were there before (timeseries §10).

A small table's index is built in the request that creates it, a large one's by housekeeping. A step
reads some points and joins their values with those of the index (`lastpoints.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from widerow.engine.index_builds import STEP_BYTES, STEP_RECORDS, BuildStep, Unready
from widerow.engine.plan import Plan, failing, put_off
from widerow.engine.timeseries.context import TimeseriesContext
from widerow.engine.timeseries.lastpoints import LastPoint, index_number, keep_last, lastpoint_named
from widerow.engine.timeseries.stored import point_fields
from widerow.engine.timeseries.walk import SeriesOfPoints
from widerow.errors import Replan
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_LOCAL_INDEXES, row_prefix
from widerow.keys.series import SERIES_COUNTER_AT, TIME_AT
from widerow.model.timeseries.table import LastpointIndex, TimeseriesTable
from widerow.storage.interface import Outcome, Transaction, Write

__all__ = ["LastpointBuilds"]


class LastpointBuilds:
    """What builds need to know of last-point indexes (`index_builds.BuildSource`)."""

    def __init__(self, context: TimeseriesContext, settled: Callable[[int], bool]) -> None:
        """`settled`: see `Nodes.settled`."""
        self._context = context
        self._tables = context.tables
        self._settled = settled

    def epoch(self) -> int:
        """The epoch of the catalogue."""
        return self._tables.catalog.seen().epoch

    def unready(self) -> list[tuple[TimeseriesTable, Unready]]:
        """Tables with each index that is not ready."""
        return [
            (table, Unready(index.number, index.name, table.qualified))
            for table in self._tables.all()
            for index in table.lastpoints
            if not index.ready
        ]

    def is_due(self, table: TimeseriesTable, index: Unready) -> bool:
        """Whether every put that does not know of the index has ended."""
        created = [each.created_us for each in table.lastpoints if each.number == index.id]
        return bool(created) and self._settled(created[0])

    def index_id(self, table: TimeseriesTable, name: str) -> int:
        """The number of an index by its name; 0 where the table has none."""
        return next((each.number for each in table.lastpoints if each.name == name), 0)

    def current(self, table: TimeseriesTable) -> TimeseriesTable:
        """The table as it is now. Raises `NotFound`."""
        return self._tables.current(table)

    def unsettled(
        self, table: TimeseriesTable, index: Unready, mark: int, start: bytes
    ) -> None:  # as the protocol has it
        """None: an entry is written in the transaction of its points."""

    def build_step(self, table: TimeseriesTable, name: str, start: bytes) -> BuildStep:
        """Join the values of the next points with those of the index. Raises `NotFound`."""
        context, index = self._context, lastpoint_named(table, name)
        reader = context.store.snapshot()
        prefix = row_prefix(table.id)
        series = SeriesOfPoints(reader)
        found: dict[bytes, LastPoint] = {}
        following: bytes | None = None
        rows = size = 0
        live_from_us = context.live_from_us(table)
        for key, record in reader.scan(start or prefix, after_prefix(prefix)):
            if rows == STEP_RECORDS or size >= STEP_BYTES:
                following = key
                break
            rows, size = rows + 1, size + len(key) + len(record)
            time_us = int.from_bytes(key[TIME_AT : TIME_AT + 8], "big")
            if time_us < live_from_us:
                continue
            fields = point_fields(context.layouts, series.of(key).record, record)
            found.setdefault(key[:TIME_AT], LastPoint()).add(time_us, fields)
        writes = [self._write(table, index, each, last) for each, last in found.items()]

        def finish(outcomes: Sequence[Outcome[Any]]) -> int:
            failing(outcomes)
            return 0

        return BuildStep(Plan(tuple(writes), finish), rows, following)

    def _write(
        self, table: TimeseriesTable, index: LastpointIndex, series: bytes, last: LastPoint
    ) -> Write[None]:
        shards = series[:SERIES_COUNTER_AT], SPACE_LOCAL_INDEXES + series[1:SERIES_COUNTER_AT]
        key = SPACE_LOCAL_INDEXES + series[1:] + index_number(index)

        def body(txn: Transaction) -> None:
            current = self._tables.current(table, txn)
            if lastpoint_named(current, index.name).number == index.number:
                keep_last(self._context, current, txn, key, last)

        return Write(shards, body, reads=self._tables.catalog.reads)

    def finish(self, table: TimeseriesTable, name: str) -> Plan[Any]:
        """Let an index answer."""

        def ready(table: TimeseriesTable) -> TimeseriesTable:
            index = lastpoint_named(table, name)
            kept = [
                replace(each, ready=True) if each is index else each for each in table.lastpoints
            ]
            return replace(table, lastpoints=tuple(kept))

        return Plan((self._tables.change(table, ready),), failing)

    def drop(self, table: TimeseriesTable, name: str) -> Plan[Any]:
        """Remove an index and its mapping of SQL; its records go later."""
        context = self._context

        def without(table: TimeseriesTable) -> TimeseriesTable:
            index = lastpoint_named(table, name)
            kept = tuple([each for each in table.lastpoints if each is not index])
            mappings = tuple([each for each in table.mappings if each.name != name])
            return replace(table, lastpoints=kept, mappings=mappings)

        due_us = context.tables.catalog.due_us(context.clock.now_us())
        return Plan((self._tables.change(table, without, due_us=due_us),), failing)

    def build_if_small(self, table: TimeseriesTable, name: str) -> Plan[None]:
        """Build an index now if a step is enough; else leave the rest to housekeeping."""
        step = self.build_step(self.current(table), name, b"")
        if step.following is not None:
            return Plan(step.plan.writes, put_off)
        if not step.plan.writes:
            return self.finish(table, name)

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            failing(outcomes)
            raise Replan

        again = partial(self._finish_again, table, name)
        return Plan(step.plan.writes, finish, again=again, prepares=True)

    def _finish_again(
        self, table: TimeseriesTable, name: str, outcomes: Sequence[Outcome[Any]]
    ) -> Plan[None]:
        """The end of a build whose only step is made; all of it anew where that was put off."""
        if any(isinstance(outcome.error, Replan) for outcome in outcomes):
            return self.build_if_small(table, name)
        return self.finish(table, name)
