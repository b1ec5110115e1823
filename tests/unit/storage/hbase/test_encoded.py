"""What is written and read by hand is what the messages give (storage/hbase/encoded.py)."""

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from widerow.errors import StoreDamaged
from widerow.rows.fields import field
from widerow.storage.hbase.encoded import (
    answer_place,
    call_frame,
    found_rows,
    further_rows,
    listed_rows,
    result_cells,
    row_changes,
    single_rows,
)
from widerow.storage.hbase.messages import (
    BinaryComparator,
    ByteArrayComparable,
    Cell,
    Column,
    ColumnValue,
    Comparator,
    Condition,
    ExceptionResponse,
    Filter,
    MultiRowRangeFilter,
    MutateRowsRequest,
    MutationProto,
    QualifierValue,
    RegionSpecifier,
    RequestHeader,
    ResponseHeader,
    Result,
    RowRange,
    Scan,
    ScanRequest,
    ScanResponse,
)
from widerow.storage.hbase.rows import FAMILY, key_of, row_of

FILTERS = "org.apache.hadoop.hbase.filter."
TIMESTAMPS = st.integers(0, 2**63 - 1)
KEYS = st.binary(max_size=300).map(lambda rest: b"\x10" + rest)
VALUES = st.binary(max_size=40) | st.integers(0, 20_000).map(bytes)


@given(st.lists(st.binary(max_size=300), max_size=5))
def test_listed_rows_are_ranges_of_one_row_each(rows: list[bytes]) -> None:
    ranges = [
        RowRange(start_row=row, start_row_inclusive=True, stop_row=row, stop_row_inclusive=True)
        for row in rows
    ]
    assert listed_rows(rows) == MultiRowRangeFilter(row_range_list=ranges).SerializeToString()


def mutation(kind: int, place: tuple[bytes, bytes], column: QualifierValue) -> MutationProto:
    row, column.qualifier = place
    return MutationProto(
        row=row,
        mutate_type=kind,
        durability=4,  # FSYNC_WAL
        column_value=[ColumnValue(family=FAMILY, qualifier_value=[column])],
    )


def condition(key: bytes, expected: bytes | None) -> Condition:
    comparator = Comparator(name=FILTERS + "NullComparator", serialized_comparator=b"")
    if expected is not None:
        binary = BinaryComparator(comparable=ByteArrayComparable(value=expected))
        comparator.name = FILTERS + "BinaryComparator"
        comparator.serialized_comparator = binary.SerializeToString()
    row, qualifier = row_of(key)
    return Condition(
        row=row, family=FAMILY, qualifier=qualifier, compare_type=2, comparator=comparator
    )


@given(
    st.dictionaries(KEYS, st.none() | VALUES, max_size=3),
    st.lists(st.tuples(KEYS, VALUES), max_size=3),
    st.lists(KEYS, max_size=3),
    TIMESTAMPS,
)
def test_changes_of_rows_are_those_of_the_messages(
    conditions: dict[bytes, bytes | None],
    puts: list[tuple[bytes, bytes]],
    deletes: list[bytes],
    timestamp: int,
) -> None:
    places = [row_of(key) for key in deletes]
    written = [QualifierValue(value=value, timestamp=timestamp) for _, value in puts]
    mutations = [
        mutation(2, row_of(key), column) for (key, _), column in zip(puts, written, strict=True)
    ]
    mutations += [
        mutation(3, place, QualifierValue(timestamp=timestamp, delete_type=1)) for place in places
    ]
    expected = MutateRowsRequest(
        mutation_request=mutations,
        condition=[condition(key, value) for key, value in conditions.items()],
    )
    assert row_changes(conditions, puts, places, timestamp) == expected.SerializeToString()


CELLS = st.lists(st.tuples(KEYS, VALUES, TIMESTAMPS), max_size=4)


def result(cells: list[tuple[bytes, bytes, int]]) -> bytes:
    made = []
    for key, value, timestamp in cells:
        row, qualifier = row_of(key)
        made.append(Cell(row=row, qualifier=qualifier, timestamp=timestamp, value=value))
    return Result(cell=made).SerializeToString()


@given(st.lists(CELLS, max_size=3))
def test_cells_are_read_as_they_were_written(rows: list[list[tuple[bytes, bytes, int]]]) -> None:
    assert result_cells([result(cells) for cells in rows]) == [cell for row in rows for cell in row]


def test_fields_that_nobody_here_reads_are_passed_over() -> None:
    key = b"\x10abc"
    row, qualifier = row_of(key)
    cell = Cell(row=row, qualifier=qualifier, timestamp=7, value=b"v").SerializeToString()
    family, kind, tags = field(b"\x12", FAMILY), b"\x28\x04", field(b"\x3a", b"tags")
    whole = field(b"\x0a", family, cell, kind, tags) + b"\x10\x01" + b"\x20\x00"
    assert result_cells([whole]) == [(key_of(row, qualifier), b"v", 7)]


@given(CELLS.filter(bool), st.data())
def test_what_is_cut_off_is_refused(
    cells: list[tuple[bytes, bytes, int]], data: st.DataObject
) -> None:
    whole = result(cells)
    ends = {len(result(cells[:number])) for number in range(len(cells) + 1)}
    stop = data.draw(st.integers(0, len(whole) - 1).filter(lambda at: at not in ends))
    with pytest.raises(StoreDamaged):
        result_cells([whole[:stop]])


@given(st.binary(max_size=60))
def test_any_bytes_are_cells_or_refused(data: bytes) -> None:
    with suppress(StoreDamaged):
        for _, value, timestamp in result_cells([data]):
            assert value in data
            assert 0 <= timestamp < 2**63


@given(
    st.binary(max_size=200),
    st.lists(KEYS, min_size=1, max_size=5),
    st.integers(0, 2**40),
    st.none() | TIMESTAMPS,
)
def test_a_scan_of_single_rows_is_that_of_the_messages(
    region: bytes, keys: list[bytes], bytes_max: int, read_point: int | None
) -> None:
    places = [row_of(key) for key in keys]
    rows = sorted({row for row, _ in places})
    scan = Scan(
        column=[Column(family=FAMILY, qualifier=sorted({name for _, name in places}))],
        start_row=rows[0],
        stop_row=rows[-1],
        include_stop_row=True,
        mvcc_read_point=read_point,
        max_result_size=bytes_max,
    )
    if len(rows) > 1:
        listed = Filter(name=FILTERS + "MultiRowRangeFilter", serialized_filter=listed_rows(rows))
        scan.filter.CopyFrom(listed)
    expected = ScanRequest(
        region=RegionSpecifier(type=1, value=region),
        scan=scan,
        number_of_rows=len(rows) + 1,
        client_handles_heartbeats=True,
    )
    assert single_rows(region, places, bytes_max, read_point) == expected.SerializeToString()


@given(TIMESTAMPS, st.integers(0, 2**31 - 1))
def test_a_scan_goes_on_as_the_messages_say(scanner: int, rows: int) -> None:
    expected = ScanRequest(
        scanner_id=scanner,
        number_of_rows=rows,
        limit_of_rows=rows,
        client_handles_heartbeats=True,
    )
    assert further_rows(scanner, rows) == expected.SerializeToString()


def delimited(data: bytes, at: int) -> tuple[bytes, int]:
    """The message that stands there behind its length, and where it ends."""
    size = shift = 0
    while True:
        byte = data[at]
        size, shift, at = size | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return data[at : at + size], at + size


@given(st.integers(0, 2**31 - 1), st.text(max_size=200), st.integers(0, 10**6), VALUES)
def test_a_call_is_framed_as_the_messages_say(
    number: int, method: str, timeout_ms: int, body: bytes
) -> None:
    frame = call_frame(number, method.encode(), timeout_ms, body)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    header, at = delimited(frame, 4)
    expected = RequestHeader(
        call_id=number, method_name=method, request_param=True, timeout=timeout_ms
    )
    assert header == expected.SerializeToString()
    assert delimited(frame, at) == (body, len(frame))


def answered(*parts: bytes) -> bytes:
    return b"".join(field(b"", part) for part in parts)


@given(st.integers(0, 2**31 - 1), VALUES)
def test_an_answer_is_found_in_its_frame(number: int, body: bytes) -> None:
    frame = answered(ResponseHeader(call_id=number).SerializeToString(), body)
    found, is_answer, start, end = answer_place(frame)
    assert (found, is_answer, frame[start:end]) == (number, True, body)


@given(st.integers(0, 2**31 - 1), st.text(max_size=300))
def test_an_exception_is_found_in_its_frame(number: int, trace: str) -> None:
    told = ExceptionResponse(exception_class_name="x.Y", stack_trace=trace)
    header = ResponseHeader(call_id=number, exception=told)
    found, is_answer, start, end = answer_place(answered(header.SerializeToString()))
    frame = answered(header.SerializeToString())
    assert (found, is_answer) == (number, False)
    assert ResponseHeader.FromString(frame[start:end]) == header


@given(st.integers(0, 2**31 - 1), VALUES.filter(bool), st.data())
def test_a_frame_that_is_cut_off_is_refused(number: int, body: bytes, data: st.DataObject) -> None:
    frame = answered(ResponseHeader(call_id=number).SerializeToString(), body)
    with pytest.raises(StoreDamaged):
        answer_place(frame[: data.draw(st.integers(0, len(frame) - 1))])


@given(st.lists(CELLS, max_size=3), st.integers(0, 2**64 - 1), st.booleans())
@example(rows=[], scanner=2**63, more=False)  # servers draw such numbers, some from their start on
def test_an_answer_to_a_scan_is_read_as_it_was_written(
    rows: list[list[tuple[bytes, bytes, int]]],
    scanner: int,
    more: bool,  # noqa: FBT001  # drawn
) -> None:
    message = ScanResponse(
        scanner_id=scanner,
        results=[Result.FromString(result(cells)) for cells in rows],
        more_results_in_region=more,
    )
    data = b"before" + message.SerializeToString()
    cells = [cell for row in rows for cell in row]
    assert found_rows(data, len(b"before"), len(data)) == (cells, scanner, more)


@given(st.binary(max_size=60))
def test_any_bytes_are_an_answer_or_refused(data: bytes) -> None:
    with suppress(StoreDamaged):
        _, _, start, end = answer_place(data)
        assert 0 <= start <= end <= len(data)
    with suppress(StoreDamaged):
        found_rows(data, 0, len(data))
