"""Points in FlatBuffers of requests and in rows of answers (wire §4.2, §4.3; timeseries §4, §5)."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import flatbuffers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tablestore.flatbuffer.timeseries_flat_buffer_encoder import get_column_val_by_tp
from tablestore.metadata import TimeseriesKey, TimeseriesRow
from tests.support.buffers import FLAT_POINT
from tests.support.volume import examples

from widerow.engine.streams.log_shards import new_stream
from widerow.errors import InvalidRequest
from widerow.limits import INT64_MAX, INT64_MIN, SERIES_POINTS_MAX
from widerow.model.timeseries.points import Point, StoredPoint
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey, tags_of_text, tags_text
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


LIKE_POINTS = st.lists(
    st.builds(
        Point,
        st.builds(
            SeriesKey,
            st.sampled_from(("m", "measured")),
            st.sampled_from(("", "s", "source-001", "source-002")),
            st.sampled_from(((), (("a", "1"),), (("a", "2"),), (("a", "1"), ("name", "value-1")))),
        ),
        st.integers(0, 3),
        st.sampled_from(
            (
                {},
                {"a": 1},
                {"b": 1},
                {"a": 1.5},
                {"celsius": 20.5, "parts": 7, "yes": True, "text": "x", "blob": b"\0"},
                {"celsius": 20.5, "parts": 8, "yes": False, "text": "温度", "blob": b""},
            )
        ),
    ),
    max_size=12,
)
"""Points of which many have the series or the names of the one before."""

_CODES = {int: 1, bool: 2, float: 3, str: 4, bytes: 5}


def grouped(groups: list[list[Point]], *, as_texts: bool) -> bytes:
    """A FlatBuffer in which the rows of a group stand together, as the SDKs of Java and Go do it.

    Texts that are equal stand once. `as_texts`: tags are texts, as older SDKs send them.
    """
    builder = flatbuffers.Builder()

    def vector(values: Sequence[Any], width: int, add: str) -> int:
        builder.StartVector(width, len(values), width)
        for value in reversed(values):
            getattr(builder, f"Prepend{add}")(value)
        return int(builder.EndVector())

    def table(fields: Sequence[tuple[str, Any]]) -> int:
        builder.StartObject(len(fields))
        for slot, (add, value) in enumerate(fields):
            getattr(builder, f"Prepend{add}Slot")(slot, value, 0)
        return int(builder.EndObject())

    offset, text = "UOffsetTRelative", builder.CreateSharedString

    def offsets(values: Sequence[int]) -> tuple[str, int]:
        return offset, vector(values, 4, offset) if values else 0

    def row(point: Point) -> int:
        kinds: dict[type, list[Any]] = {kind: [] for kind in _CODES}
        for value in point.fields.values():
            kinds[type(value)].append(value)
        blobs = [vector(each, 1, "Byte") for each in kinds[bytes]]
        values = table(
            [
                (offset, vector(kinds[int], 8, "Int64") if kinds[int] else 0),
                (offset, vector(kinds[bool], 1, "Bool") if kinds[bool] else 0),
                (offset, vector(kinds[float], 8, "Float64") if kinds[float] else 0),
                offsets([text(each) for each in kinds[str]]),
                offsets([table([(offset, each)]) for each in blobs]),
            ]
        )
        pairs = point.series.tags
        tags = [table([(offset, text(name)), (offset, text(value))]) for name, value in pairs]
        return table(
            [
                (offset, text(point.series.source)),
                (offset, text(tags_text(pairs)) if as_texts else 0),
                ("Int64", point.time_us),
                (offset, values),
                ("Uint32", 0),
                (offset, 0 if as_texts else offsets(tags)[1]),
            ]
        )

    def group(points: list[Point]) -> int:
        first = points[0]
        rows = [row(each) for each in points]
        names = [text(name) for name in first.fields]
        codes = [_CODES[type(value)] for value in first.fields.values()]
        return table(
            [
                (offset, text(first.series.measurement)),
                offsets(names),
                (offset, vector(codes, 1, "Byte")),
                offsets(rows),
            ]
        )

    builder.Finish(table([offsets([group(each) for each in groups])]))
    return bytes(builder.Output())


def of_one_shape(point: Point) -> tuple[Any, ...]:
    return (point.series.measurement, *((n, type(v)) for n, v in point.fields.items()))


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
    assert (point.series, point.time_us) == (SeriesKey("m", "s", (("t1", "v1"),)), 1600000000000000)
    assert typed(point.fields) == typed({"b": True, "d": 1.5, "l": 7, "s": "x"})


@given(POINTS)
def test_points_are_read_as_the_sdk_writes_them(points: list[Point]) -> None:
    found = flat_points(sent_by_sdk(points), tag_lists=True)
    assert [(each.series, each.time_us) for each in found] == [each[:2] for each in points]
    assert [typed(each.fields) for each in found] == [typed(each.fields) for each in points]


@given(LIKE_POINTS)
def test_points_like_the_ones_before_are_read_as_they_are(points: list[Point]) -> None:
    groups = [list(each) for _, each in groupby(points, of_one_shape)]
    for as_texts in (False, True):
        found = flat_points(grouped(groups, as_texts=as_texts), tag_lists=not as_texts)
        assert [(each.series, each.time_us) for each in found] == [each[:2] for each in points]
        assert [typed(each.fields) for each in found] == [typed(each.fields) for each in points]


def test_of_the_fields_of_one_name_the_last_counts() -> None:
    sent = grouped([[Point(SeriesKey("m", "", ()), 1, {"a": 1, "b": 2.5, "c": 3})]], as_texts=False)
    (point,) = flat_points(sent.replace(b"c\0", b"a\0"), tag_lists=True)
    assert point.fields == {"a": 3, "b": 2.5}


def test_points_that_lack_values_are_refused() -> None:
    """Also behind points that have them."""
    point = Point(SeriesKey("m", "", ()), 1, {"a": 1, "b": 2})
    sent = grouped([[point, point._replace(fields={"a": 1})]], as_texts=False)
    with pytest.raises(InvalidRequest) as refused:
        flat_points(sent, tag_lists=True)
    assert refused.value.rule is TimeseriesRule.POINT_BUFFER
    wrong = grouped([[point._replace(fields={"a": "xyz"})]], as_texts=False)
    with pytest.raises(InvalidRequest) as refused:
        flat_points(wrong.replace(b"xyz", b"x\xffz"), tag_lists=True)
    assert refused.value.rule is TimeseriesRule.POINT_BUFFER


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


STREAM = new_stream("t", 168, (), 3, 0)
TABLE = TimeseriesTable(1, 2, "i", "t", stream=STREAM)
CUSTOM = TimeseriesTable(
    1,
    2,
    "i",
    "t",
    key=("region", "_tags"),
    field_keys=(FieldKey("n", KeyType.INTEGER), FieldKey("s", KeyType.STRING)),
    stream=STREAM,
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
