"""Bars on a terminal, and nothing where there is none."""

import io
import sys

import pytest

from widerow.cli.progress import progress_bar


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
