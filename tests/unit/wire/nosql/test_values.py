"""Values of requests become those of columns, or are refused in the vendor's words
(nosql-wire §8)."""

from decimal import Decimal
from typing import Any, Final

import pytest

from widerow.errors import InvalidRequest
from widerow.model.typed import types as t
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.values import JSON_NULL, Timestamp
from widerow.wire.nosql.convert import column_value, row_columns
from widerow.wire.nosql.nson import EMPTY_VALUE, TimestampText

INFINITE: Final = float("inf")
TAKEN: Final[tuple[tuple[t.FieldType, Any, Any], ...]] = (
    (t.INTEGER, 5, 5),
    (t.INTEGER, 3.0, 3),
    (t.INTEGER, Decimal(7), 7),
    (t.INTEGER, "12", 12),
    (t.INTEGER, "-12", -12),
    (t.INTEGER, JSON_NULL, None),
    (t.LONG, 5_000_000_000, 5_000_000_000),
    (t.LONG, "5000000000", 5_000_000_000),
    (t.FLOAT, 1.1, 1.100000023841858),
    (t.FLOAT, 16_777_216, 16_777_216.0),
    (t.DOUBLE, 5, 5.0),
    (t.DOUBLE, Decimal("7.25"), 7.25),
    (t.DOUBLE, Decimal("1E+400"), INFINITE),
    (t.DOUBLE, "12", 12.0),
    (t.DOUBLE, "Infinity", INFINITE),
    (t.NUMBER, "5.10", Decimal("5.1")),
    (t.NUMBER, 2.5, Decimal("2.5")),
    (t.BOOLEAN, "TRUE", True),
    (t.BOOLEAN, "12", False),
    (t.STRING, "", ""),
    (t.BINARY, "AQI=", b"\1\2"),
    (t.fixed_binary(2), b"\1\2", b"\1\2"),
    (t.timestamp(0), "2020-01-02T03:04:05.999999", Timestamp(1_577_934_246)),
    (t.timestamp(3), "2020-1-2", Timestamp(1_577_923_200)),
    (t.timestamp(3), "2020-01-02T03:04:05+01:00", Timestamp(1_577_930_645)),
    (t.timestamp(3), TimestampText("2020-01-02T00:00:00Z"), Timestamp(1_577_923_200)),
    (t.timestamp(3), 1_577_923_200_001, Timestamp(1_577_923_200, 1_000_000)),
    (t.timestamp(3), "9999-12-31T23:59:59.9999", Timestamp(253_402_300_799, 999_000_000)),
    (t.array_of(t.INTEGER), ["1", 2.0], [1, 2]),
    (t.map_of(t.LONG), {"a": "1"}, {"a": 1}),
    (t.record_of(t.Field("x", t.INTEGER)), {"X": "1", "other": 2}, {"x": 1}),
    (t.record_of(t.Field("x", t.INTEGER)), [1], {"x": 1}),
    (t.JSON, None, JSON_NULL),
    (t.JSON, {"a": [JSON_NULL, b"\1\2", TimestampText("2020Z")]}, {"a": [None, "AQI=", "2020Z"]}),
)
REFUSED: Final[tuple[tuple[t.FieldType, Any, str], ...]] = (
    (t.INTEGER, 5_000_000_000, "Int overflow: 5000000000"),
    (t.INTEGER, Decimal("7.25"), "Int overflow: 7.25"),
    (t.INTEGER, 1.5, "Converting double to int loses information: 1.5"),
    (t.INTEGER, "abc", "Invalid string for Integer: abc"),
    (t.INTEGER, True, "Invalid driver type for Integer: BOOLEAN"),
    (t.INTEGER, EMPTY_VALUE, "Invalid driver type for Integer: EMPTY"),
    (t.LONG, 2.5, "Converting double to long loses information: 2.5"),
    (t.LONG, Decimal("1E30"), "Long overflow: 1E+30"),
    (t.FLOAT, 16_777_217, "Converting long to float loses information: 16777217"),
    (t.FLOAT, 1e300, "Converting double to float loses information: 1.0E300"),
    (
        t.DOUBLE,
        9_007_199_254_740_993,
        "Converting long to double loses information: 9007199254740993",
    ),
    (t.NUMBER, "abc", "Invalid string for Decimal: abc"),
    (t.BOOLEAN, 5, "Invalid driver type for Boolean: INTEGER"),
    (t.STRING, 5, "Type mismatch on input. Expected STRING, got INTEGER"),
    (t.STRING, 2**40, "Type mismatch on input. Expected STRING, got LONG"),
    (t.STRING, TimestampText("2020Z"), "Type mismatch on input. Expected STRING, got TIMESTAMP"),
    (t.BINARY, "YW", "Invalid string for binary value: YW is not padded base64 string"),
    (t.BINARY, "", "Invalid string for binary value:  is not padded base64 string"),
    (t.BINARY, "a-bc", "Invalid string for binary value: Illegal base64 character 2d"),
    (
        t.fixed_binary(4),
        b"abc",
        "Invalid length for FixedBinary array, it must be 4, and it is 3",
    ),
    (
        t.timestamp(3),
        "2020-13-01",
        "Invalid month, it should be in range from 1 to 12: 13",
    ),
    (
        t.timestamp(3),
        "12345-01-01",
        "Invalid year, it should be in range from -6383 to 9999: 12345",
    ),
    (t.timestamp(3), 2.5, "Invalid driver type for Timestamp: DOUBLE"),
    (t.array_of(t.INTEGER), 5, "Type mismatch on input. Expected ARRAY, got INTEGER"),
    (t.array_of(t.INTEGER), [None], "Invalid driver type for Integer: NULL"),
    (t.map_of(t.STRING), [1], "Type mismatch on input. Expected MAP, got ARRAY"),
    (
        t.record_of(t.Field("x", t.INTEGER)),
        5,
        "Type mismatch on input. Expected MAP or ARRAY, but got INTEGER",
    ),
    (t.JSON, [EMPTY_VALUE], "Unsupported type:12"),
)


def test_values_are_converted() -> None:
    for kind, given, wanted in TAKEN:
        made = column_value(given, kind)
        assert (made, type(made)) == (wanted, type(wanted)), (kind.kind, given)


def test_values_that_do_not_fit_are_refused_in_the_vendors_words() -> None:
    for kind, given, text in REFUSED:
        with pytest.raises(InvalidRequest) as caught:
            column_value(given, kind)
        assert str(caught.value) == text, (kind.kind, given)


def test_names_that_no_column_has_are_dropped_or_refused() -> None:
    """nosql-wire §8: with an exact match, in records too."""
    builder = TableBuilder("t").add_field("id", t.INTEGER)
    builder.add_field("r", t.record_of(t.Field("x", t.INTEGER)))
    table = builder.primary_key("id").build()
    given = {"ID": 1, "r": {"x": 1, "nosuch": 2}}
    assert row_columns(table, given, exact=False) == {"id": 1, "r": {"x": 1}}
    assert row_columns(table, [1, [5]], exact=True) == {"id": 1, "r": {"x": 5}}
    for wrong, name in ((given, "nosuch"), ({"id": 1, "zz": 1}, "zz")):
        with pytest.raises(InvalidRequest, match=f"There is no field with name {name}"):
            row_columns(table, wrong, exact=True)
