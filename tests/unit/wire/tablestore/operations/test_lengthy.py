"""Which requests should not hold up others (issue "Performance": fairness)."""

import pytest

from widerow.limits import LENGTHY_BODY_BYTES, LENGTHY_RANGE_ROWS
from widerow.wire.tablestore.messages import GetRangeRequest
from widerow.wire.tablestore.operations.table import OPERATIONS


def lengthy(action: str, body: bytes) -> bool:
    judge = OPERATIONS[action].lengthy
    return judge is not None and judge(body)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, True),
        (0, True),
        (-1, True),
        (LENGTHY_RANGE_ROWS, False),
        (LENGTHY_RANGE_ROWS + 1, True),
    ],
)
def test_a_range_is_lengthy_by_its_limit(limit: int | None, *, expected: bool) -> None:
    message = GetRangeRequest(
        table_name="t",
        direction=0,
        inclusive_start_primary_key=b"",
        exclusive_end_primary_key=b"",
        limit=limit,
    )
    assert lengthy("GetRange", message.SerializeToString()) is expected


def test_a_body_that_is_no_message_is_refused_at_once() -> None:
    assert not lengthy("GetRange", b"\xff")


def test_a_batch_is_lengthy_by_its_size() -> None:
    assert not lengthy("BatchWriteRow", bytes(LENGTHY_BODY_BYTES))
    assert lengthy("BatchWriteRow", bytes(LENGTHY_BODY_BYTES + 1))


def test_single_rows_never_are() -> None:
    assert not any(lengthy(name, bytes(100_000)) for name in ("GetRow", "PutRow", "UpdateRow"))
