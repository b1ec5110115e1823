"""What an answer says was consumed, as (read, write) capacity units (semantics §9)."""

from widerow.model.search.requests import ScanPage, SearchAnswer
from widerow.model.tablestore.answers import RangePage, RowRead, RowWritten
from widerow.model.tablestore.requests import SplitPoints
from widerow.wire.tablestore.operations.batches import BatchAnswer
from widerow.wire.tablestore.operations.get_range import MatrixPage

__all__ = ["batch_units", "read_units", "row_units", "transaction_units"]


def read_units(
    result: RowRead | RangePage | MatrixPage | SplitPoints | SearchAnswer | ScanPage,
) -> tuple[int, int]:
    """Of a row, a page, split points or a search."""
    return result.read_units, 0


def row_units(result: RowWritten) -> tuple[int, int]:
    """Of a row written."""
    return result.read_units, result.write_units


def transaction_units(result: object) -> tuple[int, int]:  # noqa: ARG001  # as the others take it
    """Of the begin or the end of a local transaction, whose answers do not tell (change §B3)."""
    return 0, 1


def batch_units(result: BatchAnswer) -> tuple[int, int]:
    """Of all rows of a batch that did not fail."""
    read = write = 0
    for rows in result.outcomes:
        for outcome in rows:
            if outcome.read is not None:
                read += outcome.read.read_units
            elif outcome.written is not None:
                read += outcome.written.read_units
                write += outcome.written.write_units
    return read, write
