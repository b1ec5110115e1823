"""Values of every type, into the model and out of it (model §2, §5)."""

import math
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volume import examples

from widerow.errors import InvalidRequest
from widerow.limits import NUMBER_DIGITS_MAX, VALUE_DEPTH_MAX
from widerow.model.typed.coerce import coerce
from widerow.model.typed.json_rows import dumps, parse_json, value_from_json, value_to_json
from widerow.model.typed.texts import value_from_text
from widerow.model.typed.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGER,
    JSON,
    LONG,
    NUMBER,
    STRING,
    UUID,
    Field,
    FieldType,
    array_of,
    enum_of,
    fixed_binary,
    map_of,
    record_of,
    timestamp,
)
from widerow.model.typed.values import JSON_NULL, Timestamp
from widerow.rows.typed import pack_value, unpack_value

unhurried = settings(deadline=None, max_examples=examples(60))  # machines under load are slow

HOME = record_of(Field("street", STRING), Field("no", INTEGER, nullable=False, default=1))

TAKEN: list[tuple[FieldType, Any, Any]] = [
    (DOUBLE, 1, 1.0),
    (FLOAT, 0.1, 0.10000000149011612),
    (FLOAT, 1e300, math.inf),
    (NUMBER, Decimal("1.500"), Decimal("1.5")),
    (NUMBER, Decimal("-0.0"), Decimal(0)),
    (NUMBER, 0.1, Decimal("0.1")),
    (NUMBER, 10**30, Decimal("1E+30")),
    (UUID, "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
    (BINARY, bytearray(b"x"), b"x"),
    (timestamp(0), "2016-07-20T12:00:00.5", Timestamp.parse("2016-07-20T12:00:01")),
    (timestamp(3), datetime(2016, 7, 20, tzinfo=UTC), Timestamp.parse("2016-07-20")),
    (
        timestamp(9),
        datetime(2016, 7, 20, 2, tzinfo=timezone(timedelta(hours=2))),
        Timestamp.parse("2016-07-20"),
    ),
    (array_of(DOUBLE), (1, 2), [1.0, 2.0]),
    (map_of(enum_of("ab")), {"x": "a"}, {"x": "a"}),
    (HOME, {"STREET": "x"}, {"street": "x", "no": 1}),
    (JSON, {"a": (1, None)}, {"a": [1, None]}),
    (JSON, 2**64, Decimal(2**64)),
    (JSON, JSON_NULL, JSON_NULL),
]


@pytest.mark.parametrize(("kind", "value", "expected"), TAKEN)
def test_values_are_taken_in_their_one_form(kind: FieldType, value: Any, expected: Any) -> None:  # noqa: ANN401  # of every type
    found = coerce(value, kind, "f")
    assert (repr(found), type(found)) == (repr(expected), type(expected))


def deep(levels: int) -> Any:  # noqa: ANN401  # a document
    document: Any = 1
    for _ in range(levels):
        document = [document]
    return document


REFUSED: list[tuple[FieldType, Any, str]] = [
    (INTEGER, 1.0, "Type cannot create a Double: class INTEGER"),
    (LONG, 2**63, "Illegal value for field f: 9223372036854775808. Expected LONG"),
    (DOUBLE, "1", "Type cannot create a String: class DOUBLE"),
    (DOUBLE, 10**400, "Illegal value for field f: out of range. Expected DOUBLE"),
    (NUMBER, Decimal("NaN"), "Illegal value for field f: NaN. Expected NUMBER"),
    (NUMBER, 10**NUMBER_DIGITS_MAX, "Illegal value for field f: out of range. Expected NUMBER"),
    (STRING, b"x", "Type cannot create a Binary: class STRING"),
    (STRING, "\ud800", r"Illegal value for field f: '\ud800'. Expected STRING"),
    (UUID, "zz", "Invalid UUID string: zz"),
    (BOOLEAN, 1, "Type cannot create a Integer: class BOOLEAN"),
    (enum_of("ab"), "A", "Invalid enumeration value 'A', must be in values: [a, b]"),
    (fixed_binary(2), b"abc", "Invalid length for FIXED_BINARY field f: 3. Expected 2"),
    (
        timestamp(3),
        "yesterday",
        "Failed to parse the timestamp: yesterday. Write it as 2024-12-31T23:59:59.123",
    ),
    (
        timestamp(3),
        "2023-02-29",
        "Failed to parse the timestamp: 2023-02-29. Write it as 2024-12-31T23:59:59.123",
    ),
    (timestamp(3), "-6384-01-01", "Timestamp is out of the years -6383 to 9999: -6384-01-01"),
    (array_of(STRING), "ab", "Type cannot create a String: class ARRAY"),
    (array_of(STRING), [1], "Type cannot create a Integer: class STRING"),
    (map_of(STRING), [], "Type cannot create a Array: class MAP"),
    (HOME, {"zz": 1}, "There is no field with name zz"),
    (HOME, {"no": None}, 'Field "no" is not nullable'),
    (JSON, math.nan, "Illegal value for field f: nan. Expected JSON"),
    (JSON, b"x", "Type cannot create a Binary: class JSON"),
    (JSON, {1: 2}, "Type cannot create a Integer: class STRING"),
    (JSON, deep(VALUE_DEPTH_MAX + 1), "The value of field f is nested more than 128 deep"),
]


@pytest.mark.parametrize(("kind", "value", "text"), REFUSED, ids=[text for *_, text in REFUSED])
def test_what_is_no_value_of_the_type_is_refused(kind: FieldType, value: Any, text: str) -> None:  # noqa: ANN401  # a document
    with pytest.raises(InvalidRequest) as refused:
        coerce(value, kind, "f")
    assert str(refused.value) == text


def test_the_deepest_document_is_stored() -> None:
    document = coerce(deep(VALUE_DEPTH_MAX), JSON, "f")
    assert unpack_value(pack_value(document, JSON), JSON) == document


TEXTS: list[tuple[FieldType, str, Any]] = [
    (INTEGER, "-5", -5),
    (DOUBLE, "1e3", 1000.0),
    (NUMBER, "12345678901234567890.50", Decimal("12345678901234567890.5")),
    (BOOLEAN, "TRUE", True),
    (BINARY, "AQI=", b"\x01\x02"),
    (enum_of("ab"), "b", "b"),
    (timestamp(0), "1970-01-01T00:00:07", Timestamp(7)),
    (array_of(LONG), "[1,2]", [1, 2]),
    (JSON, "null", None),
]


@pytest.mark.parametrize(("kind", "text", "value"), TEXTS)
def test_values_from_text(kind: FieldType, text: str, value: Any) -> None:  # noqa: ANN401  # a document
    assert value_from_text(text, kind, "f") == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((INTEGER, each) for each in ("x", "1.5", "", "1_0", "9" * 5000)),
        *((DOUBLE, each) for each in ("x", "1_0")),
        *((NUMBER, each) for each in ("x", "NaN", "9" * (2 * NUMBER_DIGITS_MAX + 1))),
        (BOOLEAN, "yes"),
        (BINARY, "!"),
        (JSON, "{"),
        (JSON, "NaN"),
        (JSON, "[" * 100_000),
    ],
)
def test_texts_that_are_no_value(kind: FieldType, text: str) -> None:
    with pytest.raises(InvalidRequest):
        value_from_text(text, kind, "f")


# --- laws ------------------------------------------------------------------------------------

documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
instants = st.builds(Timestamp, st.integers(-(2**37), 2**37), st.integers(0, 999_999_999))


@unhurried
@given(documents)
def test_documents_are_stored_as_they_are(document: Any) -> None:  # noqa: ANN401  # any document
    value = coerce(document, JSON, "f")
    assert unpack_value(pack_value(value, JSON), JSON) == value


@unhurried
@given(documents)
def test_documents_are_printed_as_json_reads_them(document: Any) -> None:  # noqa: ANN401  # any document
    value = coerce(document, JSON, "f")
    for pretty in (False, True):
        read = value_from_json(parse_json(dumps(value, pretty=pretty)), JSON, "f")
        assert read == value


@unhurried
@given(instants, st.integers(0, 9))
def test_instants_are_printed_as_they_are_read(instant: Timestamp, precision: int) -> None:
    rounded = instant.rounded(precision)
    assert Timestamp.parse(rounded.text(precision)) == rounded
    assert rounded.rounded(precision) == rounded
    assert len(rounded.text(precision).partition(".")[2]) == (precision + 1 if precision else 0)


@unhurried
@given(st.datetimes(timezones=st.just(UTC)))
def test_instants_and_datetimes_agree(moment: datetime) -> None:
    instant = Timestamp.from_datetime(moment)
    assert instant.to_datetime() == moment
    assert Timestamp.parse(instant.text()) == instant


@unhurried
@given(st.floats())
def test_doubles_are_printed_and_read(value: float) -> None:
    text = dumps(value_to_json(value, DOUBLE))
    assert repr(value_from_json(parse_json(text), DOUBLE, "f")) == repr(value)


@unhurried
@given(st.binary(max_size=9))
def test_bytes_are_printed_in_base64(value: bytes) -> None:
    assert value_from_json(value_to_json(value, BINARY), BINARY, "f") == value
