"""The logs of a table of Tablestore's model, for what is done to logs of any model."""

from dataclasses import replace

from widerow.engine.streams.change_rows import CHANGES
from widerow.engine.streams.logged import AS_LEFT, LogForm
from widerow.model.streams import Stream
from widerow.model.tablestore.schema import Table

__all__ = ["form_of", "with_log"]


def form_of(table: Table, log: Stream) -> LogForm:
    """How the records of a log are stored: rows in the stream, keys of rows in the journal."""
    return AS_LEFT if log is table.journal else CHANGES


def with_log(table: Table, log: Stream) -> Table:
    """The table with another definition of the log of that number."""
    journal = table.journal
    if journal is not None and journal.number == log.number:
        return replace(table, journal=log)
    return replace(table, stream=log)
