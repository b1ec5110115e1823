# Points that are measured: the requests say what they are to say, and each is sent once.

import pytest
from bench import builtin, points
from bench.points import BEGIN_US, POINTS, STEP_US, Template, fields, hall, source
from bench.series import Sizes, filled_points, series_of, steps_of
from bench.servers import echo_server
from bench.workloads import retarget
from tests.support.http import encode_request

from widerow.wire.tablestore import timeseries_messages as m
from widerow.wire.tablestore.flat_points import flat_points


def sent_points(request: bytes) -> list[tuple[str, str, int, tuple[object, ...]]]:
    body = m.PutTimeseriesDataRequest.FromString(request.partition(b"\r\n\r\n")[2])
    return [
        (
            each.series.source,
            dict(each.series.tags)["hall"],
            each.time_us,
            tuple(each.fields.values()),
        )
        for each in flat_points(body.rows_data.rows_data, tag_lists=True)
    ]


@pytest.mark.filterwarnings("ignore:numElems is deprecated:DeprecationWarning")  # of the SDK
def test_a_template_is_sent_with_the_times_it_is_given() -> None:
    template = Template.of("t", [3, 4])
    for times in ([5, 6], [2**40, 2**40]):
        wanted = [
            (source(n), hall(n), time_us, fields(at))
            for at, (n, time_us) in enumerate(zip([3, 4], times, strict=True))
        ]
        assert sent_points(template.at(times)) == wanted


@pytest.mark.parametrize("apart", [True, False])
def test_no_point_is_put_twice(apart: bool) -> None:  # noqa: FBT001  # of pytest
    put = [
        (number, step)
        for sent in range(250)
        for number in series_of(sent, apart=apart)
        for step in steps_of(sent, apart=apart)
    ]
    assert len(set(put)) == len(put) == 250 * POINTS


def test_a_filled_table_has_every_point_once() -> None:
    parts = list(filled_points(Sizes(0, 300, 2)))
    put = [each for part in parts for each in part]
    assert max(map(len, parts)) == POINTS
    assert len(set(put)) == len(put)
    assert {number for number, step in put if step < 2} == set(range(300))


def test_lines_of_other_engines_say_the_same() -> None:
    celsius, parts = fields(2)
    wanted = (
        f"machine,source={source(7)},hall=hall\\ 7 celsius={celsius},parts={parts}i "
        f"{BEGIN_US + 2 * STEP_US}"
    )
    assert list(points.lines([(7, 2)])) == [wanted]


def test_requests_are_sent_once_each() -> None:
    with echo_server() as echo:
        requests = [retarget(encode_request("/x", {}, b"body"), size) for size in range(1, 8)]
        took, _ = builtin.send_once(echo.endpoint, requests, 3)
        assert len(took) == len(requests)
        with pytest.raises(ConnectionError):
            builtin.send_once(echo.endpoint, [b"no request\r\n\r\n"], 1)
