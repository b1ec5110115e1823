"""Points in FlatBuffers of requests and in rows of answers (wire §4.2, §4.3; timeseries §4, §5)."""

import time
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tablestore.flatbuffer.timeseries_flat_buffer_encoder import get_column_val_by_tp
from tablestore.metadata import TimeseriesKey, TimeseriesRow
from tests.support.buffers import FLAT_POINT
from tests.support.volume import examples

from widerow.errors import InvalidRequest
from widerow.limits import INT64_MAX, INT64_MIN, SERIES_POINTS_MAX
from widerow.model.timeseries.points import Point, StoredPoint
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey, tags_of_text
from widerow.model.timeseries.table import FieldKey, TimeseriesTable
from widerow.model.values import KeyType, Value
from widerow.rows.plain_values import decode_plain_rows
from widerow.wire.tablestore.flat_points import flat_points
from widerow.wire.tablestore.point_rows import encode_points

# The SDK's encoder calls flatbuffers in a way that newer releases warn of.
pytestmark = pytest.mark.filterwarnings("ignore:numElems is deprecated:DeprecationWarning")

NAMES = st.text(min_size=1, max_size=8).filter(lambda name: "\0" not in name)
FIELDS = st.dictionaries(
    NAMES,
    st.integers(INT64_MIN, INT64_MAX)
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.binary(max_size=20),
    min_size=1,
    max_size=8,
)
POINTS = st.lists(
    st.builds(
        Point,
        st.builds(
            SeriesKey,
            NAMES,
            st.text(max_size=8),
            st.dictionaries(NAMES, NAMES, max_size=3).map(lambda tags: tuple(sorted(tags.items()))),
        ),
        st.integers(0, INT64_MAX),
        FIELDS,
    ),
    max_size=5,
)


def sent_by_sdk(points: list[Point]) -> bytes:
    """The FlatBuffer that the Python SDK makes, for which `bytes` are texts."""
    rows = [
        TimeseriesRow(
            TimeseriesKey(each.series.measurement, each.series.source, dict(each.series.tags)),
            {
                name: bytearray(value) if isinstance(value, bytes) else value
                for name, value in each.fields.items()
            },
            each.time_us,
        )
        for each in points
    ]
    return bytes(get_column_val_by_tp("t", rows))


def typed(fields: Mapping[str, Value]) -> dict[str, tuple[type, Value]]:
    return {name: (type(value), value) for name, value in fields.items()}


def test_the_vector_of_the_specification_is_read() -> None:
    (point,) = flat_points(FLAT_POINT, tag_lists=True)
    assert point[:2] == (SeriesKey("m", "s", (("t1", "v1"),)), 1600000000000000)
    assert typed(point.fields) == typed({"b": True, "d": 1.5, "l": 7, "s": "x"})


@given(POINTS)
def test_points_are_read_as_the_sdk_writes_them(points: list[Point]) -> None:
    found = flat_points(sent_by_sdk(points), tag_lists=True)
    assert [each[:2] for each in found] == [each[:2] for each in points]
    assert [typed(each.fields) for each in found] == [typed(each.fields) for each in points]


@settings(max_examples=examples(600))
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(FLAT_POINT) - 1), st.sampled_from((0, 1, 4, 0x7F, 0x80, 0xFF))
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(0, len(FLAT_POINT)) | st.just(len(FLAT_POINT)),
)
def test_spoiled_points_are_points_or_refused(spoilt: list[tuple[int, int]], size: int) -> None:
    """Whatever bytes are changed to, also where offsets then lead anywhere."""
    data = bytearray(FLAT_POINT)
    for place, byte in spoilt:
        data[place] = byte
    with suppress(InvalidRequest):
        assert len(flat_points(bytes(data[:size]), tag_lists=True)) <= SERIES_POINTS_MAX


def test_a_text_that_is_named_again_and_again_is_counted_each_time() -> None:
    """A body of 1 MB whose points all name one text of 1 MB would be 200 MB of values."""
    long = Point(SeriesKey("m", "", ()), 1, {"f": "x" * 1_000_000})
    data = bytearray(sent_by_sdk([long] * 2))
    groups = int.from_bytes(data[:4], "little")
    table = groups - int.from_bytes(data[groups : groups + 4], "little", signed=True)
    vector = groups + int.from_bytes(data[table + 4 : table + 6], "little")
    vector += int.from_bytes(data[vector : vector + 4], "little")
    first = vector + 4 + int.from_bytes(data[vector + 4 : vector + 8], "little")
    # A vector of 200 offsets behind the buffer, and behind it a copy of the group that all of them
    # name, since offsets go forward only.
    tail = len(data) + 4 + 200 * 4
    moved = bytes(data[first:])
    data += (200).to_bytes(4, "little")
    data += b"".join((tail - (len(data) + 4 * n)).to_bytes(4, "little") for n in range(200))
    vtable = first - int.from_bytes(data[first : first + 4], "little", signed=True)
    data += (tail - vtable).to_bytes(4, "little", signed=True) + moved[4:]
    place = groups + int.from_bytes(data[table + 4 : table + 6], "little")
    data[place : place + 4] = (tail - 4 - 800 - place).to_bytes(4, "little")
    began = time.process_time()
    with pytest.raises(InvalidRequest) as refused:
        flat_points(bytes(data), tag_lists=True)
    assert refused.value.rule is TimeseriesRule.FIELD_LENGTH
    assert time.process_time() - began < 0.3


def test_too_many_points_are_refused_before_they_are_read() -> None:
    many = [Point(SeriesKey("m", "", ()), 1, {"f": 1})] * (SERIES_POINTS_MAX + 1)
    with pytest.raises(InvalidRequest) as refused:
        flat_points(sent_by_sdk(many), tag_lists=True)
    assert refused.value.rule is TimeseriesRule.POINT_COUNT


def test_tags_of_a_text() -> None:
    """timeseries §2, wire §4.3"""
    assert tags_of_text("") == tags_of_text("[]") == ()
    assert tags_of_text('["b=2","a=1, 3"]') == (("a", "1, 3"), ("b", "2"))
    for wrong in ("x", '["a"]', '["a=1", "b=2"]', '["a=1","a=2"]', '["=1"]', '["a=1"', '["a=1",]'):
        with pytest.raises(InvalidRequest):
            tags_of_text(wrong)


TABLE = TimeseriesTable(1, 2, "i", "t")
CUSTOM = TimeseriesTable(
    1,
    2,
    "i",
    "t",
    key=("region", "_tags"),
    field_keys=(FieldKey("n", KeyType.INTEGER), FieldKey("s", KeyType.STRING)),
)


@given(POINTS)
def test_answers_have_a_row_for_each_point(points: list[Point]) -> None:
    stored = [StoredPoint(each.series, each.time_us, (), each.fields) for each in points]
    suffixes = {int: "l", bool: "b", float: "d", str: "s", bytes: "n"}
    rows = decode_plain_rows(encode_points(TABLE, stored)) if stored else []
    assert len(rows) == len(points)
    for row, point in zip(rows, points, strict=True):
        key = dict(row.key)
        assert list(key) == ["_m_name", "_data_source", "_tags", "_time"]
        assert (key["_m_name"], key["_data_source"], key["_time"]) == (
            point.series.measurement,
            point.series.source,
            point.time_us,
        )
        cells = {each.column: (type(each.value), each.value) for each in row.cells}
        expected = {f"{n}:{suffixes[type(v)]}": (type(v), v) for n, v in point.fields.items()}
        assert cells == expected


def test_a_key_of_the_table_s_own_has_its_columns_alone() -> None:
    """timeseries §5, §8: tags that have no column of their own stand in _tags."""
    series = SeriesKey("", "", (("a", "1"), ("region", "east"), ("z", "2")))
    (row,) = decode_plain_rows(encode_points(CUSTOM, [StoredPoint(series, 5, (7, "x"), {})]))
    assert list(row.key) == [
        ("region", "east"),
        ("_tags", '["a=1","z=2"]'),
        ("_time", 5),
        ("n", 7),
        ("s", "x"),
    ]
