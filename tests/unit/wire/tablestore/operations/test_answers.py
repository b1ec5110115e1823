"""Answers of the row actions: joined by hand, read by the protobuf runtime (protos §0, §2)."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import Conflict, InvalidRequest, StoreDamaged, StorePoisoned
from widerow.limits import INT64_MAX
from widerow.model.tablestore.answers import RangePage, RowOutcome, RowRead, RowWritten
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Resume
from widerow.rows.cells import PLAIN_HEADER, encode_key_section
from widerow.rows.fields import field, read_varint, varint
from widerow.rows.record import join_row
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.operations.batches import BatchAnswer
from widerow.wire.tablestore.operations.table import OPERATIONS
from widerow.wire.tablestore.operations.tokens import encode_token
from widerow.wire.tablestore.plainbuffer import decode_primary_key

batch_get_row = OPERATIONS["BatchGetRow"]
batch_write_row = OPERATIONS["BatchWriteRow"]
delete_row = OPERATIONS["DeleteRow"]
get_range = OPERATIONS["GetRange"]
get_row = OPERATIONS["GetRow"]
put_row = OPERATIONS["PutRow"]
update_row = OPERATIONS["UpdateRow"]

SECTION, CRC = encode_key_section([("pk", 1)])
ROW = join_row(SECTION, CRC, ())

UNITS = st.integers(0, 2**31 - 1)
ROWS = st.one_of(
    st.just(b""),
    st.binary(min_size=1, max_size=40),
    st.binary(min_size=1).map(lambda data: data * 300),
)


def read_units(consumed: messages.ConsumedCapacity) -> tuple[int, int]:
    """Both units; both must stand there, for one client reads them unseen (protos §0 rule 6)."""
    unit = consumed.capacity_unit
    assert unit.HasField("read")
    assert unit.HasField("write")
    return unit.read, unit.write


@given(st.integers(0, INT64_MAX))
def test_varints_are_those_of_protobuf(number: int) -> None:
    sent = messages.ReservedThroughputDetails(last_increase_time=number)
    assert b"\x10" + varint(number) == sent.SerializePartialToString()
    assert read_varint(b"\x00" + varint(number), 1) == (number, 1 + len(varint(number)))


@pytest.mark.parametrize("data", [b"", b"\x80", b"\x80\x00", b"\x81\x00", b"\xff" * 9 + b"\x01"])
def test_a_stored_length_is_written_in_one_way(data: bytes) -> None:
    with pytest.raises(StoreDamaged):
        read_varint(data, 0)


@given(st.lists(st.binary(max_size=200), max_size=4))
def test_fields_join_their_parts(parts: list[bytes]) -> None:
    sent = messages.PartitionRange(begin=b"".join(parts))
    assert field(b"\x0a", *parts) == sent.SerializePartialToString()


@given(ROWS, UNITS)
def test_get_row(row: bytes, units: int) -> None:
    answer = messages.GetRowResponse.FromString(get_row.encode(RowRead(row, units)))
    assert answer.IsInitialized()
    assert read_units(answer.consumed) == (units, 0)
    assert answer.row == (PLAIN_HEADER + row if row else b"")
    assert not answer.HasField("next_token")


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        (put_row.encode, messages.PutRowResponse),
        (update_row.encode, messages.UpdateRowResponse),
        (delete_row.encode, messages.DeleteRowResponse),
    ],
)
@given(row=ROWS, read=UNITS, write=UNITS)
def test_writes(
    encode: Callable[[RowWritten], bytes],
    message: type[
        messages.PutRowResponse | messages.UpdateRowResponse | messages.DeleteRowResponse
    ],
    row: bytes,
    read: int,
    write: int,
) -> None:
    answer = message.FromString(encode(RowWritten(read, write, row)))
    assert answer.IsInitialized()
    assert read_units(answer.consumed) == (read, write)
    assert answer.HasField("row") == bool(row)
    assert answer.row == (PLAIN_HEADER + row if row else b"")


@given(st.lists(ROWS, max_size=3), UNITS)
def test_get_range_to_the_end(pieces: list[bytes], units: int) -> None:
    page = RangePage(pieces, None, units)
    rows = page.rows
    answer = messages.GetRangeResponse.FromString(get_range.encode(page))
    assert answer.IsInitialized()
    assert read_units(answer.consumed) == (units, 0)
    assert answer.HasField("rows")
    assert answer.rows == (PLAIN_HEADER + rows if rows else b"")
    assert not answer.HasField("next_start_primary_key")


@given(st.integers(-(2**63), INT64_MAX), ROWS)
def test_get_range_that_goes_on(value: int, rows: bytes) -> None:
    section = encode_key_section([("pk", value)])
    answer = messages.GetRangeResponse.FromString(get_range.encode(RangePage([rows], section, 1)))
    assert decode_primary_key(answer.next_start_primary_key).columns == (("pk", value),)
    assert answer.rows == (PLAIN_HEADER + rows if rows else b"")


@given(st.text(max_size=5), st.lists(st.tuples(ROWS, UNITS), max_size=3))
def test_batch_get_row(name: str, rows: list[tuple[bytes, int]]) -> None:
    outcomes = [RowOutcome(read=RowRead(row, units)) for row, units in rows]
    sent = batch_get_row.encode(BatchAnswer((name, "B"), [outcomes, []]))
    answer = messages.BatchGetRowResponse.FromString(sent)
    assert answer.IsInitialized()
    assert [table.table_name for table in answer.tables] == [name, "B"]
    assert not answer.tables[1].rows
    for item, (row, units) in zip(answer.tables[0].rows, rows, strict=True):
        assert item.is_ok
        assert read_units(item.consumed) == (units, 0)
        assert item.HasField("row") == bool(row)
        assert item.row == (PLAIN_HEADER + row if row else b"")
        assert not item.HasField("error")


@given(st.lists(st.tuples(UNITS, UNITS, ROWS), max_size=3))
def test_batch_write_row(rows: list[tuple[int, int, bytes]]) -> None:
    outcomes = [RowOutcome(written=RowWritten(*row)) for row in rows]
    sent = batch_write_row.encode(BatchAnswer(("T",), [outcomes]))
    answer = messages.BatchWriteRowResponse.FromString(sent)
    assert answer.IsInitialized()
    for item, (read, write, row) in zip(answer.tables[0].rows, rows, strict=True):
        assert item.is_ok
        assert read_units(item.consumed) == (read, write)
        assert item.row == (PLAIN_HEADER + row if row else b"")


def test_wide_rows_that_go_on_carry_tokens() -> None:
    # semantics §5.4; a token with no row too, when nothing of the page passed
    resume = Resume("c9", 512)
    for row in (ROW, b""):
        read = RowRead(row, 1, resume)
        single = messages.GetRowResponse.FromString(get_row.encode(read))
        page = RangePage([row], (SECTION, CRC), 1, resume)
        paged = messages.GetRangeResponse.FromString(get_range.encode(page))
        sent = batch_get_row.encode(BatchAnswer(("T",), [[RowOutcome(read=read)]]))
        (item,) = messages.BatchGetRowResponse.FromString(sent).tables[0].rows
        assert single.row == paged.rows == item.row == (PLAIN_HEADER + row if row else b"")
        assert single.next_token == paged.next_token == item.next_token == encode_token(resume)
        assert decode_primary_key(paged.next_start_primary_key).columns == (("pk", 1),)


def test_rows_of_batches_fail_alone() -> None:
    # semantics §4.8; a message always, for one client reads it unseen (protos §0 rule 6)
    errors = [
        Conflict(TablestoreRule.CONDITION_FAILED),
        InvalidRequest(TablestoreRule.KEY_SIZE, count=1, expected=2),
        StorePoisoned("EIO"),
    ]
    outcomes = [RowOutcome(error=error) for error in errors]
    outcomes.insert(1, RowOutcome(written=RowWritten(0, 1, ROW)))
    sent = batch_write_row.encode(BatchAnswer(("T",), [outcomes]))
    rows = messages.BatchWriteRowResponse.FromString(sent).tables[0].rows
    assert [(row.is_ok, row.error.code, row.error.message) for row in rows] == [
        (False, "OTSConditionCheckFail", "Condition check failed."),
        (True, "", ""),
        (False, "OTSInvalidPK", "Validate PK size fail. Input: 1, Meta: 2."),
        (False, "OTSServerUnavailable", "Server is not available."),
    ]
    assert rows[1].row == PLAIN_HEADER + ROW


def test_a_batch_of_another_length_than_asked_is_a_defect() -> None:
    with pytest.raises(ValueError, match="zip"):
        batch_get_row.encode(BatchAnswer(("A", "B"), [[]]))


def test_an_outcome_is_never_nothing() -> None:
    with pytest.raises(AssertionError):
        batch_get_row.encode(BatchAnswer(("A",), [[RowOutcome()]]))
