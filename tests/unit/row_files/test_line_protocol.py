"""InfluxDB's line protocol, read as its reference says (docs.influxdata.com, "Line protocol")."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.series import SeriesKey
from widerow.model.values import Value
from widerow.row_files.line_protocol import PRECISIONS, line_points, point_of_line
from widerow.row_files.source import FileInvalid

NOW_US = 1_700_000_000_000_000


def read(text: str, precision: str = "ns", source: str = "") -> list[tuple[int, Point]]:
    lines = text.encode().splitlines(keepends=True)
    return [(each.line, each.point) for each in line_points(lines, precision, NOW_US, source)]


def one(text: str) -> tuple[str, Mapping[str, str], Mapping[str, Value], int]:
    point = point_of_line(text, "ns", NOW_US)
    key = point.series
    return key.measurement, dict(key.tags), dict(point.fields), point.time_us


def test_lines_of_the_reference_are_read() -> None:
    for line, expected in (
        ("m value=1", ("m", {}, {"value": 1.0}, NOW_US)),
        (
            "m,b=2,a=1 v=1i 1556813561098000000",
            ("m", {"a": "1", "b": "2"}, {"v": 1}, 1556813561098000),
        ),
        ('m f="Launch 🚀" 1999', ("m", {}, {"f": "Launch 🚀"}, 1)),
        ("m x=t,y=False,z=TRUE", ("m", {}, {"x": True, "y": False, "z": True}, NOW_US)),
        (
            "m a=-1.234456e+78,b=1E-3,c=.5,d=+4",
            ("m", {}, {"a": -1.234456e78, "b": 0.001, "c": 0.5, "d": 4.0}, NOW_US),
        ),
        ("m a=12485903u,b=-3i", ("m", {}, {"a": 12485903, "b": -3}, NOW_US)),
        (
            r"my\ m\,x,tag\ Key1=tag\ Value1,t\=2=a\,b f\ k=1",
            ("my m,x", {"tag Key1": "tag Value1", "t=2": "a,b"}, {"f k": 1.0}, NOW_US),
        ),
        (r'm f="a \"quote\" and \\ and \n"', ("m", {}, {"f": 'a "quote" and \\ and \\n'}, NOW_US)),
        (r"m,path=C:\dir f=1", ("m", {"path": r"C:\dir"}, {"f": 1.0}, NOW_US)),
        ('a=b,t=x "q"=1', ("a=b", {"t": "x"}, {'"q"': 1.0}, NOW_US)),
        ('m f="x=1, y"', ("m", {}, {"f": "x=1, y"}, NOW_US)),
        ("  m   f=1   5000  ", ("m", {}, {"f": 1.0}, 5)),
        ("m f=1 -1500", ("m", {}, {"f": 1.0}, -2)),
    ):
        assert one(line) == expected, line


def test_texts_hold_line_feeds_and_lines_are_counted() -> None:
    text = '# comment\n\nm f="two\nlines" 1000\r\n  # another\nm,h=a f=2 2000'
    found = read(text, source="h")
    assert [line for line, _ in found] == [3, 6]
    assert found[0][1].fields == {"f": "two\nlines"}
    assert found[1][1].series == SeriesKey("m", "a", ())


def test_times_are_of_the_unit_that_the_caller_says() -> None:
    for precision, time_us in zip(PRECISIONS, (1, 1_500, 1_500_000, 1_500_000_000), strict=True):
        assert read("m f=1 1500", precision)[0][1].time_us == time_us


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (",t=1 f=1", "measurement is missing"),
        ("m,t f=1", "no '=' behind the tag 't'"),
        ("m,t= f=1", "value of the tag 't' is missing"),
        ("m,t=1,t=2 f=1", "the tag 't' stands twice"),
        ("m", "no fields"),
        ("m f", "no '=' behind the field 'f'"),
        ("m f=", "no value"),
        ("m f=1_000", "no value of line protocol: '1_000'"),
        ("m f=1e999", "no value of line protocol"),
        ("m f=NaN", "no value of line protocol"),
        ("m f=9223372036854775808i", "no value of line protocol"),
        ("m f=abc", "no value of line protocol"),
        ("m f=1 1.5", "time is not a whole number"),
        ("m f=1 5 6", "time is not a whole number"),
        ('m f="x"y', "time is not a whole number"),
    ],
)
def test_a_line_that_is_none_is_refused_with_its_number(line: str, message: str) -> None:
    with pytest.raises(FileInvalid, match=f"line 2: .*{re.escape(message)}"):
        read(f"m f=1\n{line}\n")


def test_a_quote_that_is_never_closed_is_found() -> None:
    with pytest.raises(FileInvalid, match="line 1: a text of a field has no closing quote"):
        read('m f="x\nm f=1\n')


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\\\n\r\0"), min_size=1)
VALUES = (
    st.integers(INT64_MIN, INT64_MAX)
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))
)


def written(value: Value) -> str:
    assert not isinstance(value, bytes), "line protocol has no bytes"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, float):
        return repr(value)
    return str(value) if isinstance(value, bool) else f"{value}i"


def escaped(text: str, *, equals: bool = True) -> str:
    return re.sub("([,= ])" if equals else "([, ])", r"\\\1", text)


@given(
    NAMES.filter(lambda name: name[0] != "#" and name == name.strip()),
    st.dictionaries(NAMES, NAMES, max_size=3),
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=3),
    st.integers(-(2**50), 2**50),
)
def test_what_is_written_is_read_back(
    measurement: str, tags: dict[str, str], fields: dict[str, Value], time_us: int
) -> None:
    head = "".join(f",{escaped(name)}={escaped(value)}" for name, value in tags.items())
    body = ",".join(f"{escaped(name)}={written(value)}" for name, value in fields.items())
    text = f"{escaped(measurement, equals=False)}{head} {body} {time_us * 1000}\n"
    ((_, found),) = [
        (each.line, each.point)
        for each in line_points(re.findall(rb"[^\n]*\n", text.encode()), "ns", NOW_US)
    ]
    assert found == Point(SeriesKey(measurement, "", tuple(sorted(tags.items()))), time_us, fields)
    assert [type(each) for each in found.fields.values()] == [type(v) for v in fields.values()]
