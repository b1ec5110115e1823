"""One line for each event, as text or JSON."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from widerow.logging import configure_logging


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in ("widerow", "asyncio")]
    before = [(each.handlers[:], each.level, each.propagate) for each in loggers]
    yield
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers[:] = handlers
        logger.setLevel(level)
        logger.propagate = propagate


def logged(form: str, level: str = "info", **facts: object) -> str:
    stream = io.StringIO()
    configure_logging(form, level, stream)
    logging.getLogger("widerow.server").warning("it happened", extra={"facts": facts})
    return stream.getvalue()


def test_json_lines_hold_time_level_event_and_facts() -> None:
    line = json.loads(logged("json", action="GetRow", us=12))
    assert line.pop("time").endswith("Z")
    assert line == {"level": "warning", "event": "it happened", "action": "GetRow", "us": 12}


def test_text_lines_read_well() -> None:
    line = logged("text", action="GetRow", reason="no such thing")
    assert line.split(" ", 1)[1] == 'warning  it happened action=GetRow reason="no such thing"\n'


def test_what_is_said_of_the_process_stands_on_each_line() -> None:
    stream = io.StringIO()
    configure_logging("text", "info", stream, facts={"worker": 2})
    logging.getLogger("widerow.server").info("it happened", extra={"facts": {"us": 12}})
    logging.getLogger("widerow.server").info("again")
    lines = [line.split(" ", 1)[1] for line in stream.getvalue().splitlines()]
    assert lines == ["info     it happened worker=2 us=12", "info     again worker=2"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_fact_cannot_begin_a_line_of_its_own(form: str) -> None:
    assert logged(form, reason="a\n2026-01-01 critical forged\x1b[31m").count("\n") == 1
    assert "\x1b" not in logged(form, reason="\x1b[31m")


def test_levels_below_the_chosen_one_are_dropped() -> None:
    assert logged("text", "error") == ""


def test_configuring_again_replaces_the_handler() -> None:
    logged("text")
    assert logged("text").count("\n") == 1


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_exception_keeps_its_frames(form: str) -> None:
    stream = io.StringIO()
    configure_logging(form, "info", stream)
    try:
        raise ValueError  # noqa: TRY301  # there has to be one
    except ValueError:
        logging.getLogger("widerow").exception("broken")
    assert "test_an_exception_keeps_its_frames" in stream.getvalue()
