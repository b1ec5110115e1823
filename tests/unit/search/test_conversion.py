"""Values of rows as values of fields (search §2)."""

import struct
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from tests.support.search_index import index_of, keys_of, one_field

from widerow.model.search.query import (
    ExistsQuery,
    InnerHits,
    NestedQuery,
    RangeQuery,
    TermQuery,
)
from widerow.model.search.schema import (
    JsonKind,
    SearchField,
    SearchFieldType,
    SearchSchema,
    VectorMetric,
    VectorOptions,
)
from widerow.model.values import Value
from widerow.search.dates import DateFormats
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields

_T = SearchFieldType


def _values(kind: SearchFieldType, value: Value, **options: object) -> Any:  # noqa: ANN401  # by type
    fields = one_field(kind, **options)
    return document_of(fields, (), {str(options.get("source") or "f"): value}).values[0]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (_T.LONG, 7, [7]),
        (_T.LONG, "7", None),
        (_T.LONG, 7.0, None),
        (_T.LONG, True, None),
        (_T.DOUBLE, 0.5, [0.5]),
        (_T.DOUBLE, 5, None),
        (_T.DOUBLE, float("nan"), None),
        (_T.BOOLEAN, False, [False]),
        (_T.BOOLEAN, "true", None),
        (_T.BOOLEAN, 1, None),
        (_T.KEYWORD, "Ab c", [b"Ab c"]),
        (_T.KEYWORD, b"x", None),
        (_T.KEYWORD, 5, None),
        (_T.KEYWORD, "é" * 2048, ["é".encode() * 2048]),
        (_T.KEYWORD, "é" * 2049, None),
        (_T.FUZZY_KEYWORD, "x" * 2049, None),
        (_T.IP, "10.0.0.1", [b"\0" * 10 + b"\xff\xff\x0a\0\0\1"]),
        (_T.IP, "::1", [b"\0" * 15 + b"\1"]),
        (_T.IP, "10.0.0.300", None),
        (_T.GEO_POINT, "0,0", [(0, 0)]),
        (_T.GEO_POINT, " 90 , 180 ", [(2**31 - 1, 2**31 - 1)]),
        (_T.GEO_POINT, "91,0", None),
        (_T.GEO_POINT, "1", None),
    ],
)
def test_a_column_becomes_a_value_or_none(
    kind: SearchFieldType, value: Value, expected: object
) -> None:
    assert _values(kind, value) == expected


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (_T.LONG, '[1, "2", 3.0, 3.5, null, true, {}]', [1, 2, 3]),
        (_T.LONG, "5", [5]),
        (_T.LONG, "[]", None),
        (_T.LONG, "[1", None),
        (_T.LONG, 5, None),
        (_T.LONG, "[" * 100_000, None),
        (_T.LONG, str([1] * 256), [1] * 256),
        (_T.LONG, str([1] * 257), None),
        (_T.LONG, f"[{2**63}, {2**63 - 1}]", [2**63 - 1]),
        (_T.DOUBLE, '[1, 2.5, "3e1", NaN]', None),
        (_T.DOUBLE, '[1, 2.5, "3e1"]', [1.0, 2.5, 30.0]),
        (_T.DOUBLE, '[1, 1e999, -1e999, "1e999", 2]', [1.0, 2.0]),
        (_T.KEYWORD, '["a", 7, 1.5, true, "\\ud800"]', [b"a", b"7", b"1.5", b"true"]),
        (_T.GEO_POINT, '["0,0", "x"]', [(0, 0)]),
    ],
)
def test_an_array_keeps_the_elements_that_convert(
    kind: SearchFieldType, value: Value, expected: object
) -> None:
    assert _values(kind, value, is_array=True) == expected


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (_T.LONG, "12", [12]),
        (_T.LONG, "x", None),
        (_T.DOUBLE, "1.5", [1.5]),
        (_T.DOUBLE, "1e999", None),
        (_T.KEYWORD, 12, [b"12"]),
        (_T.KEYWORD, 1.5, [b"1.5"]),
        (_T.KEYWORD, True, None),
        (_T.BOOLEAN, True, [True]),
    ],
)
def test_a_virtual_field_converts_its_column(
    kind: SearchFieldType, value: Value, expected: object
) -> None:
    """Search §2.5."""
    assert _values(kind, value, source="column") == expected


def test_a_virtual_text_of_a_number_is_found() -> None:
    assert _values(_T.TEXT, 12, source="column") == "12"


def _ns(*day: int, at: tuple[int, int, int] = (0, 0, 0)) -> int:
    year, month, date = day
    return int(datetime(year, month, date, *at, tzinfo=UTC).timestamp()) * 10**9


@pytest.mark.parametrize(
    ("formats", "value", "expected"),
    [
        (("yyyy-MM-dd",), "2022-05-01", _ns(2022, 5, 1)),
        (("yyyy-MM-dd",), "2022-05-1", None),
        (("yyyy-M-d",), "2022-5-1", _ns(2022, 5, 1)),
        (("yyyy-MM-dd",), "2022-02-30", None),
        (("yy/MM/dd",), "22/05/01", _ns(2022, 5, 1)),
        (
            ("yyyy-MM-dd HH:mm:ss.SSS",),
            "2022-05-01 01:02:03.456",
            _ns(2022, 5, 1, at=(1, 2, 3)) + 456 * 10**6,
        ),
        (("yyyy-MM-dd'T'HH:mm:ssX",), "2022-05-01T01:02:03Z", _ns(2022, 5, 1, at=(1, 2, 3))),
        (
            ("yyyy-MM-dd'T'HH:mm:ssXXX",),
            "2022-05-01T01:02:03+08:00",
            _ns(2022, 4, 30, at=(17, 2, 3)),
        ),
        (("yyyy-MM-dd'T'HH:mm:ssxxx",), "2022-05-01T01:02:03Z", None),
        (("yyyy-MM-ddXXX",), "2022-05-01-18:00", _ns(2022, 5, 1, at=(18, 0, 0))),
        (("yyyy-MM-ddXXX",), "2022-05-01+18:01", None),
        (("yyyy-MM-ddXXX",), "2022-05-01+08:60", None),
        (("yyyy-MM-dd KK:mm a",), "2022-05-01 01:30 PM", _ns(2022, 5, 1, at=(13, 30, 0))),
        (("yyyy-MM-dd KK:mm a",), "2022-05-01 12:30 PM", None),
        (("yyyy 'o''clock' H",), "2022 o'clock 7", _ns(2022, 1, 1, at=(7, 0, 0))),
        (("MM/dd/yyyy", "yyyy-MM-dd"), "2022-05-01", _ns(2022, 5, 1)),
        (("epoch_second",), 5, 5 * 10**9),
        (("epoch_millis",), 5, 5 * 10**6),
        (("epoch_micros",), 5, 5 * 10**3),
        (("epoch_nanos",), 2**63 - 1, 2**63 - 1),
        (("epoch_second",), 2**60, None),
        (("epoch_second",), -1, None),
        (("yyyy",), 5, None),
        (("yyyy",), "1969", None),
    ],
)
def test_dates_are_read_strictly(
    formats: tuple[str, ...], value: int | str, expected: int | None
) -> None:
    """Search §2.3."""
    assert _values(_T.DATE, value, date_formats=formats) == (
        None if expected is None else [expected]
    )


@pytest.mark.parametrize(
    ("written", "readable"),
    [
        ("yyyy-MM-dd", True),
        ("epoch_millis", True),
        ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", True),
        ("", False),
        ("'only text'", False),
        ("EEE", False),
        ("yyyyy", False),
        ("'open", False),
        ("MM MM", False),
        ("SSSSSSSSSS", False),
    ],
)
def test_which_formats_can_be_read(written: str, readable: bool) -> None:  # noqa: FBT001  # a case
    assert DateFormats.readable(written) == readable


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("2017-05-01 00:00", _ns(2017, 5, 1)),
        ("2017-05", _ns(2017, 5, 1)),
        ("2017", _ns(2017, 1, 1)),
        ("2017-05-01T10:00:00+02:00", _ns(2017, 5, 1, at=(8, 0, 0))),
        (1000, 10**9),
        ("x", None),
    ],
)
def test_queries_may_say_less_of_a_date(asked: int | str, expected: int | None) -> None:
    """Search §2.3: beginnings of ISO 8601, and milliseconds where no epoch is declared."""
    assert DateFormats(("yyyy-MM-dd HH:mm:ss",)).asked(asked) == expected


def _vector(value: Value, metric: VectorMetric) -> list[float] | None:
    found = _values(_T.VECTOR, value, vector=VectorOptions(2, metric))
    return None if found is None else list(np.frombuffer(found[0], "<f4"))


@pytest.mark.parametrize(
    ("value", "metric", "expected"),
    [
        ("[3, 4.0]", VectorMetric.EUCLIDEAN, [3, 4]),
        ("[3, 4]", VectorMetric.COSINE, pytest.approx([0.6, 0.8])),
        (struct.pack("<2f", 3, 4), VectorMetric.DOT_PRODUCT, [3, 4]),
        ("[0, 0]", VectorMetric.COSINE, None),
        ("[0, 0]", VectorMetric.EUCLIDEAN, [0, 0]),
        ("[1, 2, 3]", VectorMetric.EUCLIDEAN, None),
        ("[1, true]", VectorMetric.EUCLIDEAN, None),
        ("[1, 1e999]", VectorMetric.EUCLIDEAN, None),
        (f"[1, {10**400}]", VectorMetric.EUCLIDEAN, None),
        (b"\0" * 9, VectorMetric.EUCLIDEAN, None),
        (struct.pack("<2f", 1, float("nan")), VectorMetric.EUCLIDEAN, None),
        (5, VectorMetric.EUCLIDEAN, None),
    ],
)
def test_vectors_are_read_from_json_and_from_bytes(
    value: Value, metric: VectorMetric, expected: list[float] | None
) -> None:
    assert _vector(value, metric) == expected


_NESTED = SearchFields(
    SearchSchema(
        (
            SearchField(
                "n ",
                _T.NESTED,
                fields=(
                    SearchField("x", _T.LONG),
                    SearchField("y", _T.KEYWORD),
                    SearchField("m", _T.NESTED, fields=(SearchField("z", _T.LONG),)),
                ),
            ),
            SearchField(
                "o",
                _T.JSON,
                json=JsonKind.OBJECT,
                fields=(SearchField("x", _T.LONG), SearchField("y", _T.KEYWORD)),
            ),
        )
    )
)


def test_elements_of_an_array_are_documents_below_the_row() -> None:
    rows: dict[bytes, dict[str, Value]] = {
        b"1": {"n": '[{"x": 1, "y": "a"}, 5, {"x": 2, "y": "b", "m": [{"z": 1}, {"z": 9}]}]'},
        b"2": {"n": '{"x": 1, "y": "b", "m": {"z": 2}}'},
        b"3": {"n": "[]"},
        b"4": {"n": "no json"},
        b"5": {"n": str([{}] * 257).replace("'", '"')},
    }
    view = index_of(_NESTED, rows).view()
    assert keys_of(view, ExistsQuery("n")) == [b"1", b"2"]
    assert keys_of(view, NestedQuery("n", TermQuery("n.y", "b"))) == [b"1", b"2"]
    assert keys_of(view, NestedQuery("n.m", RangeQuery("n.m.z", 1))) == [b"1", b"2"]
    inner = NestedQuery("n.m", TermQuery("n.m.z", 9), inner_hits=InnerHits())
    assert keys_of(view, NestedQuery("n", inner)) == [b"1"]
    rows_found = view.select(ExistsQuery("n"), scored=False)
    below, owners = rows_found.children("n")
    assert (below.offsets().tolist(), owners.tolist()) == ([0, 2, 0], [0, 0, 1])
    assert below.matching(TermQuery("n.x", 1)).tolist() == [True, False, True]
    assert rows_found.values("n.m.z").values.tolist() == [1, 9, 2]
    assert rows_found.values("n.m.z").owners.tolist() == [0, 0, 1]
    assert rows_found.nested_path("n.m.z") == "n.m"
    assert below.nested_path("n.m.z") == "n.m"
    assert below.nested_path("n.x") == ""


def test_objects_of_a_json_array_mix() -> None:
    """Search §2: sub-fields of JSON objects are ordinary fields with several values."""
    view = index_of(_NESTED, {b"1": {"o": '[{"x": 1, "y": "a"}, {"x": 2}]'}}).view()
    found = view.select(TermQuery("o.x", 2), scored=False)
    assert found.values("o.x").values.tolist() == [1, 2]
    assert keys_of(view, TermQuery("o.y", "a")) == [b"1"]
    assert keys_of(view, ExistsQuery("o")) == [b"1"]


def test_a_key_column_is_a_field_by_its_name() -> None:
    fields = one_field(_T.KEYWORD)
    assert document_of(fields, (("f", "x"),), {}).values == [[b"x"]]
