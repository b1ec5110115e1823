"""What is written and read by hand is what the messages give (storage/hbase/encoded.py)."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.errors import StoreDamaged
from widerow.rows.fields import field
from widerow.storage.hbase.encoded import listed_rows, result_cells, row_changes
from widerow.storage.hbase.messages import (
    BinaryComparator,
    ByteArrayComparable,
    Cell,
    ColumnValue,
    Comparator,
    Condition,
    MultiRowRangeFilter,
    MutateRowsRequest,
    MutationProto,
    QualifierValue,
    Result,
    RowRange,
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
