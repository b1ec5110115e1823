"""How far a long command has come, on the terminal."""

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from widerow.system import SystemClock

__all__ = ["RowBar", "progress_bar", "row_bar"]

_LINE_SECONDS: Final = 5  # between two lines where there is no terminal


class RowBar(Protocol):
    """What `row_bar` yields."""

    def __call__(self, behind: int, rows: int, rejected: int = 0) -> None:
        """Tell how much of the total is behind, how many rows are done, how many were bad."""
        ...


@contextmanager
def progress_bar(
    words: str, total: int, *, prints_rows: bool = False
) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, if that is a terminal; gone when the work is done.

    What it yields is told how much of `total` is behind; 0 is an end that nobody knows. There is no
    bar where standard output is a pipe, whose reader may write to the same terminal, or a terminal
    itself while the work `prints_rows`.
    """
    if not sys.stderr.isatty() or _shares_terminal(prints_rows=prints_rows):
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.progress import Progress  # noqa: PLC0415  # only to show something

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(words, total=total or None)
        yield lambda behind: bar.update(task, completed=behind)


@contextmanager
def row_bar(words: str, total: int = 0, *, prints_rows: bool = False) -> Iterator[RowBar]:
    """A bar with rows and their rate on stderr; where that is not a terminal, a line now and then.

    Work of less than five seconds is done without one. `total` 0 is an end that nobody knows.
    There is no bar where `progress_bar` draws none.
    """
    if not sys.stderr.isatty():
        yield _lines(words, total)
        return
    if _shares_terminal(prints_rows=prints_rows):
        yield lambda _behind, _rows, _rejected=0: None
        return
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.progress import (  # noqa: PLC0415  # only to show something
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rows]}"))
    clock = SystemClock()
    began, first = clock.monotonic_ns(), -1
    with Progress(
        *columns,
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(words, total=total or None, rows="")

        def tell(behind: int, rows: int, rejected: int = 0) -> None:
            nonlocal first
            first = rows if first < 0 else first
            seconds = (clock.monotonic_ns() - began) / 1e9
            bar.update(
                task, completed=behind, rows=_counted(rows, (rows - first) / seconds, rejected)
            )

        yield tell


def _shares_terminal(*, prints_rows: bool) -> bool:
    """Whether a bar could stand in the lines of what standard output is read by."""
    if sys.stdout.isatty():
        return prints_rows
    try:
        kind = os.fstat(sys.stdout.fileno()).st_mode
    except OSError:  # there is no file beneath it
        return False
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)


def _lines(words: str, total: int) -> RowBar:
    clock = SystemClock()
    began = last = clock.monotonic_ns()
    first = -1

    def tell(behind: int, rows: int, rejected: int = 0) -> None:
        nonlocal last, first
        first = rows if first < 0 else first
        now = clock.monotonic_ns()
        if now - last < _LINE_SECONDS * 1e9:
            return
        last = now
        part = f"{behind / total:.0%}, " if total else ""
        rate = (rows - first) / ((now - began) / 1e9)
        sys.stderr.write(f"{words}: {part}{_counted(rows, rate, rejected)}\n")

    return tell


def _counted(rows: int, rate: float, rejected: int) -> str:
    bad = f", {rejected:,} rejected" if rejected else ""
    return f"{rows:,} rows, {rate:,.0f} rows/s{bad}"
