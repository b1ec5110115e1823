"""What commands show: tables and lines for people, one JSON document for programs."""

import json
import sys
from collections.abc import Collection, Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["print_document", "print_table", "print_text"]


def print_document(document: object) -> None:
    """Write a JSON document on a line of stdout."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")


def print_text(*lines: str, style: str = "", soft_wrap: bool = False) -> None:
    """Print lines, broken at the width of the terminal, or not if they are to be copied."""
    console = Console()
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=soft_wrap)


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    right: Collection[str] = (),
    styles: Iterable[str] = (),
) -> None:
    """Print a table as wide as the terminal at most; long cells go on in the next line.

    `right`: headings of numbers, which stand at the right and whole. `styles`: of the rows, in
    their order. Cells are texts: what looks like markup in them is shown.
    """
    table = Table(title=Text(title) if title else None)
    for heading in headings:
        number = heading in right
        table.add_column(
            Text(heading), overflow="fold", justify="right" if number else "left", no_wrap=number
        )
    style = iter(styles)
    for row in rows:
        table.add_row(*map(Text, row), style=next(style, None))
    Console().print(table)
