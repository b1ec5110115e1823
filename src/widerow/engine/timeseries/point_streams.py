"""The streams of timeseries tables: what is put, as records for each point (timeseries §9).

A put leaves one record for each of its series (`rows/point_entries.py`); it is taken apart when it
is read. Deletes of metas, expiry and changes of definitions leave none.
"""

from typing import Final

from widerow.engine.streams.logged import AS_LEFT, LogForm
from widerow.engine.streams.stream_reads import Streams, TakenApart
from widerow.engine.timeseries.context import TimeseriesContext
from widerow.engine.timeseries.lastpoints import lastpoint_named
from widerow.engine.timeseries.point_records import PointRecords
from widerow.model.streams import Stream
from widerow.model.timeseries.points import POINT_ROWS_SUFFIX
from widerow.model.timeseries.table import TimeseriesTable
from widerow.rows.point_entries import points_in_entry

__all__ = ["entry_form", "point_streams"]

_ENTRIES: Final = AS_LEFT._replace(count=points_in_entry)


def entry_form(table: TimeseriesTable, log: Stream) -> LogForm:
    """How the records of a log are stored: they take as many positions as they have points."""
    del table, log
    return _ENTRIES


def point_streams(context: TimeseriesContext) -> Streams[TimeseriesTable]:
    """The streams of one engine's timeseries tables.

    A table is seen as itself, under its name or that of its points as rows, or as one of its
    last-point indexes; reads raise `NotFound` for other names.
    """

    def note(table: TimeseriesTable, partition_key: bytes, read_units: int) -> None:
        context.notes.add(table.id, partition_key, read_units, 0)

    def split_of(table: TimeseriesTable, seen_as: str) -> TakenApart:
        whole = seen_as in ("", table.name, table.name + POINT_ROWS_SUFFIX)
        if not whole:
            lastpoint_named(table, seen_as)
        return PointRecords(context.layouts, table, indexed=not whole).split

    return Streams(context.store, context.tables, note, split_of)
