"""Single-row requests read where they stand: as the protobuf runtime reads them, or not at all."""

from hypothesis import assume, example, given
from hypothesis import strategies as st

from widerow.wire.tablestore.messages import Condition, GetRowRequest, PutRowRequest
from widerow.wire.tablestore.operations.short_form import short_form

tables = st.text(max_size=200)
rows = st.one_of(
    st.binary(max_size=300),
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


@given(tables, st.binary(max_size=40), st.data())
def test_what_is_taken_for_short_is_what_the_runtime_reads(
    table: str, row: bytes, data: st.DataObject
) -> None:
    """Whatever byte changes: the same table and row, and nothing else, or not this form."""
    body = bytearray(put(table, row))
    place = data.draw(st.integers(0, len(body) - 1))
    body[place] = data.draw(st.integers(0, 255))
    found, start, end = short_form(bytes(body), 4)
    assume(end >= 0)
    assume(bytes(body[end:-1]) == b"\x1a\x02\x08" and body[-1] <= 2)
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
