"""The forms of event times, by their documents' own examples and what is near (change §D3)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.tablestore.delivery.times import event_time_us
from widerow.model.tablestore.delivery import EventTimeFormat as Form
from widerow.model.values import Value


def _us(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("form", "value", "time"),
    [
        (Form.RFC822, "02 Jan 06 15:04 MST", "2006-01-02T22:04:00Z"),
        (Form.RFC822, "Sun, 06 Nov 94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        (Form.RFC822, "2 Jan 06 15:04 +0800", "2006-01-02T07:04:00Z"),
        (Form.RFC850, "Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        (Form.RFC1123, "Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        (Form.RFC1123, "Mon, 02 Jan 2006 15:04:05 -0700", "2006-01-02T22:04:05Z"),
        (Form.RFC3339, "1985-04-12T23:20:50Z", "1985-04-12T23:20:50Z"),
        (Form.RFC3339, "1996-12-19t16:39:57-08:00", "1996-12-20T00:39:57Z"),
        (Form.UNIX, 1_000_000_000, "2001-09-09T01:46:40Z"),
        (Form.UNIX, "1000000000", "2001-09-09T01:46:40Z"),
        (Form.UNIX, -1, "1969-12-31T23:59:59Z"),
    ],
)
def test_times_in_their_forms(form: Form, value: Value, time: str) -> None:
    assert event_time_us(form, value) == _us(time)


def test_parts_of_a_second_are_kept_to_the_microsecond() -> None:
    found = event_time_us(Form.RFC3339, "1985-04-12T23:20:50.123456789Z")
    assert found == _us("1985-04-12T23:20:50Z") + 123_456


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (Form.RFC822, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (Form.RFC822, "06 Foo 94 08:49 GMT"),
        (Form.RFC822, "06 Nov 94 08:49 XYZ"),
        (Form.RFC822, "31 Feb 94 08:49 GMT"),
        (Form.RFC850, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (Form.RFC1123, "06 Nov 94 08:49 GMT"),
        (Form.RFC1123, "Sun, 06 Nov 1994 24:49:37 GMT"),
        (Form.RFC1123, "Sun, 06 Nov 1994 08:49:37 +9900"),
        (Form.RFC3339, "1985-04-12"),
        (Form.RFC3339, "1985-04-12T23:20:50"),
        (Form.RFC3339, "1985-13-12T23:20:50Z"),
        (Form.RFC3339, 5),
        (Form.RFC3339, ""),
        (Form.UNIX, 1.5),
        (Form.UNIX, True),
        (Form.UNIX, b"1"),
        (Form.UNIX, "1.5"),
        (Form.UNIX, 1_700_000_000_000),  # milliseconds
        (Form.UNIX, 2**63 - 1),
    ],
)
def test_what_says_no_time_in_its_form(form: Form, value: Value) -> None:
    assert event_time_us(form, value) is None


@given(
    time=st.datetimes(datetime(1969, 1, 1), datetime(2068, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001  # hypothesis adds the zone
    form=st.sampled_from(Form),
)
def test_a_time_that_is_written_in_a_form_is_read_back(time: datetime, form: Form) -> None:
    time = time.replace(microsecond=0, second=0)
    year, two = f"{time.year:04}", f"{time.year % 100:02}"
    months = " Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
    day, month, clock = f"{time.day:02}", months[4 * time.month - 3 :][:3], f"{time:%H:%M}"
    written: dict[Form, Value] = {
        Form.RFC822: f"{day} {month} {two} {clock} UTC",
        Form.RFC850: f"{day}-{month}-{two} {clock}:00 GMT",
        Form.RFC1123: f"{day} {month} {year} {clock}:00 +0000",
        Form.RFC3339: time.isoformat(),
        Form.UNIX: int(time.timestamp()),
    }
    assert event_time_us(form, written[form]) == int(time.timestamp()) * 1_000_000


@given(form=st.sampled_from(Form), value=st.text(max_size=40) | st.binary() | st.floats())
def test_no_value_makes_it_fail(form: Form, value: Value) -> None:
    found = event_time_us(form, value)
    assert found is None or isinstance(found, int)
