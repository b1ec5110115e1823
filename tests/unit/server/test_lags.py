"""How far indexes and streams are behind: numbers for Prometheus, and lines of the log."""

import logging

import pytest

from widerow.engine.lag import Lag
from widerow.limits import LAG_TOLD_SECONDS
from widerow.server.lags import SERIES_MAX, LagWatch, lag_lines
from widerow.testing.clock import FakeClock


class Behind:
    """An engine, as far as it is asked here."""

    def __init__(self, *indexes: Lag, logs: tuple[Lag, ...] = ()) -> None:
        self.indexes, self.logs = list(indexes), list(logs)

    def index_lags(self) -> list[Lag]:
        return list(self.indexes)

    def log_lags(self) -> list[Lag]:
        return list(self.logs)


def test_each_index_and_log_has_its_lag_and_all_of_them_the_largest() -> None:
    engine = Behind(
        Lag("i/t", "near", 0.02), Lag("i/t", "far", 7.5), logs=(Lag("i/t", "stream", 0.25),)
    )
    lines = [each for each in lag_lines(engine, lambda _: True) if not each.startswith("#")]  # type: ignore[arg-type]  # has all that is asked of an engine
    assert lines == [
        'widerow_index_lag_seconds{table="i/t",index="far"} 7.500',
        'widerow_index_lag_seconds{table="i/t",index="near"} 0.020',
        "widerow_index_lag_seconds_max 7.500",
        'widerow_stream_lag_seconds{table="i/t",log="stream"} 0.250',
        "widerow_stream_lag_seconds_max 0.250",
    ]


def test_the_number_of_series_is_bounded_and_the_furthest_behind_have_them() -> None:
    engine = Behind(*[Lag("i/t", f"x{number}", number) for number in range(3 * SERIES_MAX)])
    page = lag_lines(engine, lambda _: True)  # type: ignore[arg-type]  # has all that is asked of an engine
    lines = [each for each in page if each.startswith("widerow_index_lag_seconds{")]
    assert len(lines) == SERIES_MAX
    assert f'index="x{3 * SERIES_MAX - 1}"' in lines[0]


def test_an_index_that_is_far_behind_is_told_now_and_then_and_when_it_follows_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    clock, engine = FakeClock(), Behind(Lag("i/t", "x", LAG_TOLD_SECONDS - 1))
    watch = LagWatch(engine, clock, held_back=0)  # type: ignore[arg-type]  # has all that is asked of an engine
    watch.look()
    assert caplog.messages == []
    engine.indexes = [Lag("i/t", "x", LAG_TOLD_SECONDS + 1)]
    for _ in range(400):
        clock.advance(1)
        watch.look()
    assert caplog.messages == ["a global index is behind its table"] * 2
    assert caplog.records[0].__dict__["facts"] == {
        "table": "i/t",
        "index": "x",
        "seconds": LAG_TOLD_SECONDS + 1,
    }
    engine.indexes = [Lag("i/t", "x", 0.0)]
    for _ in range(2):
        watch.look()
    assert caplog.messages[2:] == ["a global index follows its table again"]


def test_what_is_held_back_on_purpose_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    """--index-lag: entries follow so much later."""
    engine = Behind(Lag("i/t", "x", LAG_TOLD_SECONDS + 3))
    LagWatch(engine, FakeClock(), held_back=5).look()  # type: ignore[arg-type]  # has all that is asked of an engine
    assert caplog.messages == []


def test_a_dropped_index_is_forgotten_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    engine = Behind(logs=(Lag("i/t", "stream", 2.0 * LAG_TOLD_SECONDS),))
    watch = LagWatch(engine, FakeClock(), held_back=0)  # type: ignore[arg-type]  # has all that is asked of an engine
    watch.look()
    engine.logs = []
    watch.look()
    assert caplog.messages == ["a stream or journal is behind its table"]
