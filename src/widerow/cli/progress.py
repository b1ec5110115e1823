"""How far a long command has come, on the terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(words: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, if that is a terminal; gone when the work is done.

    What it yields is told how much of `total` is behind; 0 is an end that nobody knows.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.progress import Progress  # noqa: PLC0415  # same

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(words, total=total or None)
        yield lambda behind: bar.update(task, completed=behind)
