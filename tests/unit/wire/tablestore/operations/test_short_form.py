"""Requests of rows read where they stand: as the protobuf runtime reads them, or not at all."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.volume import examples

from widerow.limits import BATCH_WRITE_ROWS_MAX
from widerow.wire.tablestore.messages import (
    BatchWriteRowRequest,
    Condition,
    GetRowRequest,
    PutRowRequest,
    ReturnContent,
    RowInBatchWriteRowRequest,
    TableInBatchWriteRowRequest,
)
from widerow.wire.tablestore.operations.short_form import ShortBatch, short_batch, short_form

# Lengths around 128, where a length takes a second byte; few draws for each.
tables = st.one_of(
    st.text(max_size=12), st.sampled_from([63, 64, 127, 128, 129, 200]).map(lambda n: "\xe9" * n)
)
rows = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([0, 1, 127, 128, 129, 16_383, 16_384, 70_000]).map(bytes),
)


def put(table: str, row: bytes, expectation: int = 0) -> bytes:
    sent = PutRowRequest(table_name=table, row=row, condition=Condition(row_existence=expectation))
    return sent.SerializeToString()


def get(table: str, key: bytes, versions: int) -> bytes:
    sent = GetRowRequest(table_name=table, primary_key=key, max_versions=versions)
    return sent.SerializeToString()


@given(tables, rows, st.integers(0, 2))
def test_writes_as_clients_encode_them_have_the_form(
    table: str, row: bytes, expectation: int
) -> None:
    """wire §1.7: what the runtime writes in the order of the fields, it is."""
    body = put(table, row, expectation)
    found, start, end = short_form(body, 4)
    assert (found, body[start:end]) == (table, row)
    assert body[end:] == bytes((0x1A, 2, 8, expectation))


@given(tables, rows, st.integers(1, 127))
def test_reads_as_clients_encode_them_have_the_form(table: str, key: bytes, versions: int) -> None:
    body = get(table, key, versions)
    found, start, end = short_form(body, 2)
    assert (found, body[start:end]) == (table, key)
    assert body[end:] == bytes((0x28, versions))


@settings(max_examples=examples(200))  # every other one is left to the runtime
@given(tables, st.binary(max_size=40), st.data())
def test_what_is_taken_for_short_is_what_the_runtime_reads(
    table: str, row: bytes, data: st.DataObject
) -> None:
    """Whatever byte changes: the same table and row, and nothing else, or not this form."""
    body = bytearray(put(table, row))
    place = data.draw(st.integers(0, len(body) - 1))
    body[place] = data.draw(st.integers(0, 255))
    found, start, end = short_form(bytes(body), 4)
    if end < 0 or bytes(body[end:-1]) != b"\x1a\x02\x08" or body[-1] > 2:
        return  # not this form: the runtime reads it
    assert PutRowRequest.FromString(bytes(body)) == PutRowRequest.FromString(
        put(found, bytes(body[start:end]), body[-1])
    )


@given(st.binary(max_size=60), st.sampled_from([2, 4]))
@example(b"\x0a\x80", 2)
@example(b"\x0a\xff\xff\xff\xff\x0f\x12\x00", 4)
@example(b"\x0a\x00\x12\xff\xff\x7f\x1a\x02\x08\x00", 4)
def test_any_bytes_are_short_or_not(body: bytes, rest: int) -> None:
    table, start, end = short_form(body, rest)
    if end >= 0:
        name = table.encode()
        assert body.startswith(b"\x0a" + bytes((len(name),)) + name + b"\x12")
        assert len(name) + 4 <= start <= end == len(body) - rest


def test_other_forms_are_left_to_the_runtime() -> None:
    body = put("T", b"row")
    longer_number = body.replace(b"\x0a\x01T", b"\x0a\x81\x00T")
    other_order = body[3:8] + body[:3] + body[8:]
    no_text = body.replace(b"T", b"\xff")
    more = body + b"\x2a\x01x"
    for other in (longer_number, other_order, no_text, more, body[:-1], body[1:], b""):
        assert short_form(other, 4)[2] == -1


# --- batches -------------------------------------------------------------------------------------

Entry = tuple[int, bytes, int, int | None]  # modification, row, expectation, what to return
entries = st.tuples(st.integers(1, 3), rows, st.integers(0, 2), st.none() | st.integers(0, 2))
batches = st.lists(
    st.tuples(tables, st.lists(entries, min_size=1, max_size=3)), min_size=1, max_size=3
)


def message(sent: list[tuple[str, list[Entry]]], *, atomic: bool | None) -> BatchWriteRowRequest:
    batch = BatchWriteRowRequest(is_atomic=atomic)
    for name, made in sent:
        table = TableInBatchWriteRowRequest(table_name=name)
        for modification, row, expectation, returned in made:
            entry = RowInBatchWriteRowRequest(
                type=modification, row_change=row, condition=Condition(row_existence=expectation)
            )
            if returned is not None:
                entry.return_content.CopyFrom(ReturnContent(return_type=returned))
            table.rows.append(entry)
        batch.tables.append(table)
    return batch


def named(short: ShortBatch, body: bytes) -> list[tuple[str, list[Entry]]]:
    return [
        (
            name,
            [(made, body[start:end], expected, back) for start, end, made, expected, back in all_],
        )
        for name, all_ in short.tables
    ]


@given(sent=batches, atomic=st.none() | st.booleans())
def test_batches_as_clients_encode_them_have_the_form(
    *, sent: list[tuple[str, list[Entry]]], atomic: bool | None
) -> None:
    """wire §1.7, semantics §4.8: what the runtime writes in the order of the fields, it is."""
    body = message(sent, atomic=atomic).SerializeToString()
    short = short_batch(body)
    assert short is not None
    assert named(short, body) == [
        (name, [(*entry[:3], entry[3] or 0) for entry in made]) for name, made in sent
    ]
    assert short.atomic is bool(atomic)


@settings(max_examples=examples(200))  # every other one is left to the runtime
@given(sent=batches, atomic=st.none() | st.booleans(), data=st.data())
def test_what_is_taken_for_a_short_batch_is_what_the_runtime_reads(
    *, sent: list[tuple[str, list[Entry]]], atomic: bool | None, data: st.DataObject
) -> None:
    """Whatever byte changes, or is missing: the same rows, and nothing else, or not this form."""
    body = bytearray(message(sent, atomic=atomic).SerializeToString())
    place = data.draw(st.integers(0, len(body) - 1))
    if data.draw(st.booleans()):
        body[place] = data.draw(st.integers(0, 255))
    else:
        del body[place : place + data.draw(st.integers(1, 4))]
    short = short_batch(bytes(body))
    if short is None:
        return  # not this form: the runtime reads it
    read = BatchWriteRowRequest.FromString(bytes(body))
    assert not read.HasField("transaction_id")
    assert read.is_atomic is short.atomic
    assert named(short, bytes(body)) == [
        (
            table.table_name,
            [
                (
                    row.type,
                    row.row_change,
                    row.condition.row_existence,
                    row.return_content.return_type,
                )
                for row in table.rows
            ],
        )
        for table in read.tables
    ]
    for table in read.tables:
        assert table.rows
        for row in table.rows:
            assert not row.condition.column_condition
            assert not row.return_content.return_column_names


@given(st.binary(max_size=60))
@example(b"\x0a\x80")
@example(b"\x0a\x03\x0a\x01T")
@example(b"\x0a\x05\x0a\x01T\x12\x00")
@example(b"\x0a\x0d\x0a\x01T\x12\x08\x08\x01\x12\x00\x1a\x02\x08\x00"[:-1])
@example(b"\x0a\x0d\x0a\x01T\x12\x08\x08\x01\x12\x7f\x1a\x02\x08\x00")
def test_any_bytes_are_a_short_batch_or_not(body: bytes) -> None:
    short = short_batch(body)
    if short is not None:
        for name, made in short.tables:
            assert name.encode() in body
            assert all(0 < start <= end <= len(body) - 4 for start, end, *_ in made)


def test_batches_of_other_forms_are_left_to_the_runtime() -> None:
    sent = message([("T", [(1, b"row", 0, None)])], atomic=None)
    body = sent.SerializeToString()
    assert short_batch(body) is not None
    sent.tables[0].rows[0].condition.column_condition = b"filter"
    conditional = sent.SerializeToString()
    sent.tables[0].rows[0].ClearField("condition")
    bare = sent.SerializeToString()
    empty = BatchWriteRowRequest(tables=[TableInBatchWriteRowRequest(table_name="T")])
    other = (
        conditional,
        bare,
        empty.SerializeToString(),
        body + b"\x12\x01t",
        body + b"\x18\x02",
        message([("T", [(0, b"row", 0, None)])], atomic=None).SerializeToString(),
        message([("T", [(4, b"row", 0, None)])], atomic=None).SerializeToString(),
        body[:-1] + b"\x03",
        body.replace(b"T", b"\xff"),
        body[:-1],
        b"",
    )
    assert [short_batch(each) for each in other] == [None] * len(other)


@pytest.mark.parametrize("tables_of", [(BATCH_WRITE_ROWS_MAX,), (BATCH_WRITE_ROWS_MAX - 1, 1)])
def test_a_batch_of_too_many_rows_is_not_taken_apart(tables_of: tuple[int, ...]) -> None:
    """semantics §4.8: as many as a batch may have are; of one more the message says it."""
    entry: Entry = (1, b"row", 0, None)
    full: list[tuple[str, list[Entry]]] = [("T", [entry] * count) for count in tables_of]
    assert short_batch(message(full, atomic=None).SerializeToString()) is not None
    full[-1][1].append(entry)
    assert short_batch(message(full, atomic=None).SerializeToString()) is None
    apart = [*full[:-1], ("T", [entry] * tables_of[-1]), ("U", [entry])]
    assert short_batch(message(apart, atomic=None).SerializeToString()) is None
