"""Times as files have them."""

from datetime import UTC, date, datetime

import pytest

from widerow.row_files.values import seconds

MOMENT = datetime(2017, 8, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2017-08-01T12:00:00Z",
        "2017-08-01 14:00:00+02:00",
        "2017-08-01 12:00:00",
        "1501588800",
        1501588800,
        1501588800.0,
        1501588800_000,
        1501588800_000_000,
        "1501588800000000000",
        MOMENT,
        MOMENT.replace(tzinfo=None),
    ],
)
def test_a_time_is_told_in_any_usual_way(value: object) -> None:
    assert seconds("t", value) == MOMENT.timestamp()


def test_a_day_is_a_time() -> None:
    assert seconds("t", date(2017, 8, 1)) == datetime(2017, 8, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("value", ["soon", "", "nan", "inf", None, True, [1]])
def test_what_is_no_time_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="t is not a time"):
        seconds("t", value)
