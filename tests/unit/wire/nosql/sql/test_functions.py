"""Functions of Oracle NoSQL's SQL (ddl §4)."""

import math
from decimal import Context, Decimal
from typing import Any

import pytest

from widerow.limits import VALUE_BYTES_MAX
from widerow.model.typed.types import enum_of
from widerow.model.typed.values import JSON_NULL, Timestamp
from widerow.wire.nosql.moments import calendar_parts, instant_of, moment_of_text
from widerow.wire.nosql.sql.functions import FUNCTIONS
from widerow.wire.nosql.sql.functions.kinds import FunctionFault, FunctionRule
from widerow.wire.nosql.sql.functions.time import PARTS, part_of
from widerow.wire.nosql.sql.items import EnumItem, FloatItem, LongInt, is_long, stamp
from widerow.wire.nosql.sql.texts import item_type_name, text_of

EMPTY: tuple[Any, ...] = ()
SEVERAL = ("a", "b")
MARCH = stamp(Timestamp(1614834367, 89_000_000), 3)  # 2021-03-04T05:06:07.089


class Env:
    """A fixed moment, digits of a client, bytes that are known."""

    now_us = 1_614_834_367_089_123
    context = Context(prec=7)

    def random(self, count: int) -> bytes:
        return b"\xff" * count


def give(name: str, *arguments: Any) -> Any:  # noqa: ANN401  # any item
    """What a function gives for arguments, each an item or a tuple of items."""
    items = [each if type(each) is tuple else (each,) for each in arguments]
    given = FUNCTIONS[name].call(items, Env())
    assert len(given) == 1
    return given[0]


@pytest.mark.parametrize("name", ["upper", "length", "trim", "reverse"])
def test_no_text_is_null(name: str) -> None:
    assert [give(name, items) for items in (None, EMPTY, SEVERAL)] == [None] * 3


def test_functions_of_texts_cast_their_arguments() -> None:
    cases: list[tuple[str, tuple[Any, ...], Any]] = [
        ("upper", ("straße",), "STRASSE"),
        ("upper", (JSON_NULL,), "NULL"),
        ("upper", (MARCH,), "2021-03-04T05:06:07.089Z"),
        ("lower", ([3, "B"],), '[3,"b"]'),
        ("length", ("😀é",), 2),
        ("substring", (12345, 1, 2), "23"),
        ("substring", ("abc", 3), None),
        ("substring", ("abc", -1), None),
        ("substring", ("abc", 0, -1), ""),
        ("concat", ("a", 1, True, 2.5, EMPTY, None, JSON_NULL), "a1true2.5null"),
        ("concat", (EMPTY, None), None),
        ("concat", (SEVERAL,), "ab"),
        ("trim", ("xyabxy", "Both", "xy"), "yabxy"),
        ("trim", ("  ab ", "leading"), "ab "),
        ("ltrim", (" \tb",), "\tb"),
        ("contains", (12345, 34), True),
        ("contains", (EMPTY, "a"), False),
        ("starts_with", (None, "a"), None),
        ("ends_with", ("abc", ""), True),
        ("index_of", ("Hello World", "o", -5), 4),
        ("index_of", ("Hello World", "o", 100), -1),
        ("replace", ("Hello", "l"), "Heo"),
        ("replace", ("Hello", "", "x"), "Hello"),
        ("reverse", (123,), "321"),
    ]
    for name, arguments, expected in cases:
        assert give(name, *arguments) == expected, (name, arguments)


def test_patterns_match_whole_texts_in_a_subset() -> None:
    cases = [
        ("Hello World", "Hello.*", "", True),
        ("Hello World", "hello.*", "", False),
        ("Hello World", "hello.*", "i", True),
        ("Hello World", "Hello", "", False),
        ("a\nb", "a.b", "", False),
        ("a\nb", "a.b", "s", True),
        ("axb", "a.b", "l", False),
        ("a.b*", r"a\.b\*", "", True),
        ("a(b", r"a\Q(\Eb", "", True),
        ("a b", "a b # blank", "x", False),
        ("ab", "a b # blank", "x", True),
        (5, "5", "", True),
    ]
    for text, pattern, flags, expected in cases:
        assert give("regex_like", text, pattern, flags) is expected, (text, pattern)
    assert give("regex_like", None, "a") is None
    assert give("regex_like", EMPTY, "a") is False
    for pattern in ("[A-Z]", "(a|b)", r"\w", "a+", "*", "a**", "a?", "^a", "\\"):
        with pytest.raises(FunctionFault, match="contains an unsupported regular expression"):
            give("regex_like", "a", pattern)
    with pytest.raises(FunctionFault, match="flags parameter"):
        give("regex_like", "a", "a", "q")


def test_a_pattern_costs_time_linear_in_the_text() -> None:
    assert give("regex_like", "a" * 100_000 + "b", "a*" * 50 + "c") is False


def test_functions_of_numbers() -> None:
    cases: list[tuple[str, tuple[Any, ...], Any]] = [
        ("abs", (-(2**31),), -(2**31)),
        ("abs", (Decimal(-5),), Decimal(5)),
        ("ceil", (1.2,), 2.0),
        ("ceil", (Decimal("1.2"),), Decimal(2)),
        ("floor", (-1.2,), -2.0),
        ("floor", (5,), 5),
        ("round", (2.5,), 3.0),
        ("round", (-7.25, 1), -7.3),
        ("round", (15, -1), 20.0),
        ("round", (2.5, "1"), None),
        ("trunc", (-2.567, 1), -2.5),
        ("trunc", (1234.5, -2), 1200.0),
        ("sign", (-3,), -1.0),
        ("power", (2, -1), 0.5),
        ("power", (0, -1), math.inf),
        ("ln", (0,), -math.inf),
        ("log", (8, 2), 3.0),
        ("cot", (0,), math.inf),
        ("exp", (1000,), math.inf),
        ("rand", (), 1 - 2**-53),
        ("sqrt", ("4",), None),
        ("sqrt", (True,), None),
        ("abs", (EMPTY,), None),
    ]
    for name, arguments, expected in cases:
        assert give(name, *arguments) == expected, (name, arguments)
    for name, arguments in (("sqrt", (-1,)), ("asin", (2,)), ("ln", (-1,)), ("power", (-8, 0.3))):
        assert math.isnan(give(name, *arguments)), name
    assert is_long(give("abs", LongInt(-7)))
    assert type(give("floor", FloatItem(1.5))) is FloatItem


def test_parts_of_an_instant() -> None:
    parts = {name: part_of(name, (MARCH,))[0] for name in PARTS}
    assert parts == {
        "year": 2021,
        "month": 3,
        "day": 4,
        "hour": 5,
        "minute": 6,
        "second": 7,
        "millisecond": 89,
        "microsecond": 89_000,
        "nanosecond": 89_000_000,
        "week": 9,
        "isoweek": 9,
        "quarter": 1,
        "day_of_week": 4,
        "day_of_month": 4,
        "day_of_year": 63,
    }
    assert [give("isoweek", day) for day in ("2021-01-01", "2021-01-04", "2018-12-31")] == [
        53,
        1,
        1,
    ]
    assert [give("year", item) for item in (5, "nonsense", JSON_NULL, EMPTY)] == [1970, *[None] * 3]
    with pytest.raises(FunctionFault, match="Unrecognized unit: nosuch"):
        part_of("nosuch", (MARCH,))


def told(moment: Any) -> str:  # noqa: ANN401  # any item
    return text_of(moment)[:-1]


def test_instants_are_moved_and_rounded() -> None:
    cases: list[tuple[str, tuple[Any, ...], str]] = [
        ("timestamp_add", ("2020-01-31", "1 month"), "2020-02-29T00:00:00.000000000"),
        ("timestamp_add", ("2020-02-29", "1 year"), "2021-02-28T00:00:00.000000000"),
        ("timestamp_add", (MARCH, "-1 day 2 hours"), "2021-03-03T03:06:07.089000000"),
        ("timestamp_add", (MARCH, "5 nanoseconds"), "2021-03-04T05:06:07.089000005"),
        ("timestamp_floor", (MARCH, "week"), "2021-02-26T00:00:00"),
        ("timestamp_floor", (MARCH, "iweek"), "2021-03-01T00:00:00"),
        ("timestamp_floor", (MARCH, "iyear"), "2021-01-04T00:00:00"),
        ("timestamp_floor", (MARCH, "quarter"), "2021-01-01T00:00:00"),
        ("timestamp_ceil", (MARCH, "year"), "2022-01-01T00:00:00"),
        ("timestamp_ceil", ("2020-12-31", "week"), "2021-01-01T00:00:00"),
        ("timestamp_ceil", ("2021-03-04", "day"), "2021-03-04T00:00:00"),
        ("timestamp_round", ("2021-07-01", "year"), "2022-01-01T00:00:00"),
        ("timestamp_round", ("2021-03-15T23:59", "month"), "2021-03-01T00:00:00"),
        ("timestamp_round", ("2021-03-16", "month"), "2021-04-01T00:00:00"),
        ("timestamp_round", ("2021-02-16", "quarter"), "2021-04-01T00:00:00"),
        ("timestamp_round", ("2021-03-04T12:00",), "2021-03-05T00:00:00"),
        ("timestamp_trunc", (MARCH,), "2021-03-04T00:00:00"),
        ("timestamp_bucket", (MARCH, "1 hour"), "2021-03-04T05:00:00.000000000"),
        ("timestamp_bucket", (MARCH, "2 days", "2021-03-03"), "2021-03-03T00:00:00.000000000"),
        ("to_last_day_of_month", ("2020-02-10",), "2020-02-29T00:00:00"),
        ("current_time", (), "2021-03-04T05:06:07.089"),
    ]
    for name, arguments, expected in cases:
        assert told(give(name, *arguments)) == expected, (name, arguments)
    assert give("timestamp_diff", "2020-01-02", "2020-01-01") == 86_400_000
    assert give("current_time_millis") == 1_614_834_367_089


def test_durations_in_words() -> None:
    words = [give("get_duration", number) for number in (0, -90_061_001, 120_000)]
    assert words == ["0 second", "- 1 day 1 hour 1 minute 1 second 1 millisecond", "2 minutes"]


@pytest.mark.parametrize(
    ("name", "arguments", "text", "argument"),
    [
        ("timestamp_add", (MARCH, "1 week"), "Invalid interval string '1 week'", -1),
        ("timestamp_add", ("9999-12-31", "1 day"), "Timestamp should be in range", None),
        ("timestamp_add", (MARCH, "999999999999 years"), "Timestamp should be in range", None),
        ("timestamp_floor", (MARCH, "isoweek"), "Invalid unit 'isoweek'", -1),
        ("timestamp_bucket", (MARCH, "2 months"), "Invalid arbitrary interval '2 months'", -1),
        ("get_duration", (JSON_NULL,), "Cannot cast value \nnull\nof type \nAnyJsonAtomic", -1),
        ("substring", ("abc", 1.5), "Cannot promote item 1.5\nof type :\nDouble", 1),
        ("substring", ("abc", JSON_NULL), "Cannot promote item null\nof type :\nAnyJsonAtomic", 1),
        ("parse_json", (5,), "Cannot promote item 5\nof type :\nInteger\nto type :\nString", 0),
        ("parse_json", ("bad json",), "Failed to parse JSON input", None),
        ("parse_json", ("[" * 100_000,), "Failed to parse JSON input", None),
        ("parse_json", ("NaN",), "Failed to parse JSON input", None),
        ("size", (SEVERAL,), "more than one item", 0),
        ("size", (5,), '"type" : "INTEGER"', -1),
        ("seq_sum", (SEVERAL,), "Invalid input type for the seq_sumfunction:\nString", -1),
        ("geo_distance", ({}, {}), "not available in the Community Edition", None),
        ("replace", ("a" * 3000, "a", "b" * 3000), "has more than", -1),
        ("concat", ("a" * VALUE_BYTES_MAX, "b"), "has more than", -1),
        ("format_timestamp", (MARCH, "bogus {"), "Unknown pattern letter: b", None),
        ("format_timestamp", (MARCH, "yyyy", "Nowhere/City"), "Invalid timezone", None),
        ("format_timestamp", (MARCH, "'open"), "incomplete string literal", None),
        (
            "parse_to_timestamp",
            ("2020-05-06", "dd/MM/yyyy"),
            "could not be parsed at index 2",
            None,
        ),
        (
            "parse_to_timestamp",
            ("2020 PST", "yyyy zzz"),
            "Unsupported time zone symbols 'zzz'",
            None,
        ),
    ],
)
def test_a_fault_says_what_and_where(
    name: str, arguments: tuple[Any, ...], text: str, argument: int | None
) -> None:
    with pytest.raises(FunctionFault) as caught:
        give(name, *arguments)
    assert text in str(caught.value)
    assert caught.value.argument == argument
    assert isinstance(caught.value.rule, FunctionRule)


def test_instants_are_written_and_read_by_patterns() -> None:
    cases = [
        (("yyyy-MM-dd",), "2021-03-04"),
        (("MMM dd, uuuu HH:mm:ss.SSS",), "Mar 04, 2021 05:06:07.089"),
        (("EEE d MMMM yy, h a",), "Thu 4 March 21, 5 AM"),
        (("yyyy-MM-dd'T'HH:mm:ssXXX", "GMT+02:00"), "2021-03-04T07:06:07+02:00"),
        (("HH 'o''clock' VV", "America/New_York"), "00 o'clock America/New_York"),
        (("D Q X",), "63 1 Z"),
    ]
    for arguments, expected in cases:
        assert give("format_timestamp", MARCH, *arguments) == expected
    assert give("format_timestamp", MARCH) == "2021-03-04T05:06:07.089Z"
    read = [
        (("06/05/2020 07:08", "dd/MM/yyyy HH:mm"), "2020-05-06T07:08:00.000000000"),
        (("May 6, 2020 11 PM", "MMM d, yyyy h a"), "2020-05-06T23:00:00.000000000"),
        (("20200506070809.5", "yyyyMMddHHmmss.S"), "2020-05-06T07:08:09.500000000"),
        (("2020-060", "yyyy-DDD"), "2020-02-29T00:00:00.000000000"),
        (("2020-05-06 +02:00", "yyyy-MM-dd " + "X" * 3), "2020-05-05T22:00:00.000000000"),
        (("2020-05-06", "yyyy-MM-dd", "GMT+02:00"), "2020-05-05T22:00:00.000000000"),
        (("2020-05-06T07:08:09.123456789",), "2020-05-06T07:08:09.123456789"),
    ]
    for arguments, expected in read:
        assert told(give("parse_to_timestamp", *arguments)) == expected, arguments


def test_texts_that_are_instants() -> None:
    good = {
        "2020-2-9": "2020-02-09T00:00:00",
        "2020-02-29T23": "2020-02-29T23:00:00",
        "2020-02-29T01:00:00+02:00": "2020-02-28T23:00:00",
        "-0044-03-15": "-0044-03-15T00:00:00",
    }
    for text, expected in good.items():
        found = moment_of_text(text)
        assert found is not None
        assert found.text(0)[:-1] == expected
        assert instant_of(calendar_parts(found)) == found
    for text in (
        "2020",
        "2020-06",
        "2020-02-30",
        "2020-02-29 23:59",
        "2020-02-29T24:00",
        "12345-01-01",
    ):
        assert moment_of_text(text) is None, text


def test_functions_of_sequences() -> None:
    mixed = (1, "two", JSON_NULL, True, {"d": 2.5})
    assert give("size", [1, [2, 3]]) == 2
    assert [give("seq_count", items) for items in (mixed, EMPTY, None)] == [5, 0, None]
    assert is_long(give("seq_sum", (3, 1, 2, 3)))
    assert [give("seq_sum", items) for items in (mixed, EMPTY)] == [1, None]
    assert give("seq_sum", (2**63 - 1, 1)) == -(2**63)
    assert give("seq_sum", (Decimal(9000000000), Decimal("123.456"))) == Decimal("9E+9")
    assert give("seq_avg", (3, 1, 2, 3)) == 2.25
    assert [give("seq_max", mixed), give("seq_min", mixed)] == [True, 1]
    call = FUNCTIONS["seq_distinct"].call
    assert list(call([(1, 1.0, "a", "a", JSON_NULL, {"b": [1]}, {"b": [1]})], Env())) == [
        *(1, "a", JSON_NULL),
        {"b": [1]},
    ]
    assert list(FUNCTIONS["seq_concat"].call([(1, 2), EMPTY, ("a",)], Env())) == [1, 2, "a"]
    assert list(FUNCTIONS["seq_sort"].call([([1], "b", 3, True, "a")], Env())) == [
        *(3, "a", "b", True),
        [1],
    ]


def test_json_and_uuids() -> None:
    assert give("parse_json", '{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
    assert give("parse_json", "null") is JSON_NULL
    assert give("parse_json", "1" + "0" * 30) == Decimal(10**30)
    assert give("parse_json", "1e999") == Decimal("1E+999")
    assert give("random_uuid") == "ffffffff-ffff-4fff-bfff-ffffffffffff"


def test_items_as_texts_and_their_types() -> None:
    colour = EnumItem("red", enum_of(("red", "green")))
    cases: list[tuple[Any, str, str]] = [
        (1e20, "1.0E20", "Double"),
        (1e-7, "1.0E-7", "Double"),
        (5e-324, "4.9E-324", "Double"),
        (0.001, "0.001", "Double"),
        (1234567.0, "1234567.0", "Double"),
        (-0.0, "-0.0", "Double"),
        (math.inf, "Infinity", "Double"),
        (FloatItem(3.4028234663852886e38), "3.4028235E38", "Float"),
        (FloatItem(1.401298464324817e-45), "1.4E-45", "Float"),
        (Decimal("1.50"), "1.5", "Number"),
        (Decimal(10), "1E+1", "Number"),
        (LongInt(7), "7", "Long"),
        (b"\x01\x02\x03", "AQID", "Binary"),
        (colour, "red", 'Enum("red", "green")'),
        (JSON_NULL, "null", "AnyJsonAtomic"),
        (
            {"b": [None, "x"], "a": MARCH},
            '{"a":"2021-03-04T05:06:07.089Z","b":[null,"x"]}',
            "Map(Json)",
        ),
    ]
    for item, text, name in cases:
        assert (text_of(item), item_type_name(item)) == (text, name)
