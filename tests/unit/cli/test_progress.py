"""Bars on a terminal, and nothing where there is none."""

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from widerow.cli.progress import progress_bar, row_bar
from widerow.system import SystemClock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("total", [100, 0])
def test_a_terminal_shows_what_is_done_and_is_clean_afterwards(
    total: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_bar("reading rows.csv", total) as progress:
        for behind in range(100):
            progress(behind)
    shown = terminal.getvalue()
    assert "reading rows.csv" in shown
    assert shown.rstrip().endswith("\x1b[2K")  # the line is erased


def test_a_file_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with progress_bar("reading rows.csv", 100) as progress:
        progress(50)
    assert file.getvalue() == ""


@pytest.mark.parametrize("prints_rows", [True, False])
@pytest.mark.parametrize("draw", [progress_bar, row_bar])
def test_no_bar_stands_in_the_lines_of_a_pipe_or_between_rows_on_the_terminal(
    draw: Callable[..., Any],
    prints_rows: bool,  # noqa: FBT001  # as pytest hands it over
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("TERM", "xterm")

    def drawn(output: IO[str]) -> bool:
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(sys, "stdout", output)
        with draw("reading t", 100, prints_rows=prints_rows) as tell:
            tell(*([50] if draw is progress_bar else [50, 50]))
        return terminal.getvalue() != ""

    reading, writing = os.pipe()
    with open(reading), open(writing, "w") as pipe, (tmp_path / "rows").open("w") as file:  # noqa: PTH123  # descriptors
        assert not drawn(pipe)
        assert drawn(file)
    assert drawn(Terminal()) != prints_rows


class SteppingClock(SystemClock):
    """Two seconds later whenever it is asked."""

    def __init__(self) -> None:
        self._ns = 0

    def monotonic_ns(self) -> int:
        self._ns += 2_000_000_000
        return self._ns


def test_rows_are_shown_with_their_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("widerow.cli.progress.SystemClock", SteppingClock)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with row_bar("importing rows.csv", 100) as tell:
        tell(10, 5000)  # stored by a run before
        tell(50, 9000, 3)
    assert "9,000 rows, 1,000 rows/s, 3 rejected" in terminal.getvalue()


def test_without_a_terminal_rows_are_told_every_five_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("widerow.cli.progress.SystemClock", SteppingClock)
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with row_bar("importing rows.csv", 100) as tell:
        for step in range(7):  # two seconds each
            tell(step, step * 100)
    assert file.getvalue().splitlines() == [
        "importing rows.csv: 2%, 200 rows, 33 rows/s",
        "importing rows.csv: 5%, 500 rows, 42 rows/s",
    ]
