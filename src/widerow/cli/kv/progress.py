"""How far a long command is, for a person who watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from widerow.cli.kv.session import Session

__all__ = ["counting"]


@contextmanager
def counting(session: Session, what: str) -> Iterator[Callable[[int], None]]:
    """A counter on the terminal that is told how many there were; elsewhere nothing is shown."""
    if session.screen is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.progress import Progress, SpinnerColumn, TextColumn  # noqa: PLC0415  # same

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} " + what))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda count: bar.update(task, completed=count)
