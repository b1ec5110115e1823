"""What an answer consumed, for the metrics (semantics §9)."""

from widerow.errors import Conflict
from widerow.model.tablestore.answers import RangePage, RowOutcome, RowRead, RowWritten
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.operations.batches import BatchAnswer
from widerow.wire.tablestore.operations.table import OPERATIONS


def test_actions_on_rows_consume_and_actions_on_tables_do_not() -> None:
    without = {name for name, entry in OPERATIONS.items() if entry.consumed is None}
    assert without == {
        *(name for name in OPERATIONS if "Table" in name or "DefinedColumn" in name),
        *("ListStream", "DescribeStream", "GetShardIterator"),
        *(name for name in OPERATIONS if name.endswith("SearchIndex")),
        "ComputeSplits",
        "CreateIndex",
        "DropIndex",
        "BulkExport",
        "BulkImport",  # both count bytes, its capacity units are 0 (change §D1)
        *(name for name in OPERATIONS if name.startswith("tunnel/")),  # (change §C2.3)
        *(name for name in OPERATIONS if name.endswith("DeliveryTask")),
        *(name for name in OPERATIONS if name.endswith(("AnalyticalStore", "LastpointIndex"))),
        *("QueryTimeseriesMeta", "UpdateTimeseriesMeta", "DeleteTimeseriesMeta"),
        "SplitTimeseriesScanTask",
    }


def test_units_are_those_of_the_answer() -> None:
    for name, result, units in (
        ("GetRow", RowRead(b"", 3), (3, 0)),
        ("GetRange", RangePage([], None, 7), (7, 0)),
        ("PutRow", RowWritten(1, 2), (1, 2)),
        (
            "BatchWriteRow",
            BatchAnswer(
                ("t", "u"),
                (
                    (
                        RowOutcome(written=RowWritten(1, 2)),
                        RowOutcome(error=Conflict(TablestoreRule.CONDITION_FAILED)),
                    ),
                    (RowOutcome(written=RowWritten(0, 5)),),
                ),
            ),
            (1, 7),
        ),
        ("BatchGetRow", BatchAnswer(("t",), ((RowOutcome(read=RowRead(b"", 4)),),)), (4, 0)),
    ):
        consumed = OPERATIONS[name].consumed
        assert consumed is not None
        assert consumed(result) == units
