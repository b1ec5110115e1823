"""Help of commands, and mistakes in command lines, as people see them on a terminal.

Rich is loaded only to show something.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

__all__ = ["rendered_help", "show_mistake"]

_Row = tuple[RenderableType, ...]


def rendered_help(ctx: click.Context) -> str:
    """What a command does, its words and flags or its commands, and examples."""
    command = ctx.command
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    parts: list[RenderableType] = [
        Text(),
        Text.assemble(" ", ("Usage:", "yellow"), f" {usage}", style="bold"),
        Text(),
        *_paragraphs(command.help or ""),
        *_paragraphs(getattr(command, "more", "")),
    ]
    params = command.get_params(ctx)
    words = [each for each in params if isinstance(each, click.Argument)]
    parts += _panel("Arguments", map(_word_row, words))
    flags = [each for each in params if isinstance(each, click.Option) and not each.hidden]
    parts += _panel("Options", map(_flag_row, flags))
    table: Mapping[str, Any] = getattr(command, "table", {})  # of a group (`command.py`)
    rows = ((Text(name, "bold cyan"), _prose(each.help)) for name, each in table.items())
    parts += _panel("Commands", rows)
    parts += [Text(), *_paragraphs(command.epilog or "")]
    console = Console()
    with console.capture() as shown:
        console.print(Group(*parts))
    return shown.get()


def show_mistake(error: click.ClickException) -> None:
    """Say on stderr what is wrong with a command line."""
    console = Console(stderr=True)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        path = error.ctx.command_path
        console.print(Text(error.ctx.get_usage()))
        console.print(Text(f"Try '{path} --help' for help."))
    told = Text(error.format_message())
    console.print(Panel(told, title="Error", title_align="left", border_style="red"))


def _panel(title: str, rows: Iterable[_Row]) -> Iterator[Panel]:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1), highlight=False)
    for row in rows:
        if not table.columns:
            for number in range(len(row)):
                table.add_column(no_wrap=number == 0, overflow="fold")
        table.add_row(*row)
    if table.row_count:
        yield Panel(table, title=title, title_align="left", border_style="dim")


def _word_row(word: click.Argument) -> _Row:
    required = ("\n[required]", "dim red") if word.required else ""
    told = _prose(getattr(word, "told", ""))
    return Text(word.metavar or "", "bold cyan"), Text.assemble(told, required)


def _flag_row(flag: click.Option) -> _Row:
    names = " / ".join([", ".join(flag.opts), *flag.secondary_opts])
    marks = [f"env var: {flag.envvar}"] if flag.show_envvar else []
    marks += [f"default: {flag.default}"] if flag.show_default else []
    marks += ["required"] if flag.required else []
    told = _prose(flag.help or "")
    for mark in marks:
        told.append(f" [{mark}]", "dim")
    metavar = "" if flag.is_flag else flag.metavar or flag.type.name.upper()
    return Text(names, "bold cyan"), Text(metavar, "yellow"), told


def _paragraphs(text: str) -> Iterator[RenderableType]:
    for part in filter(None, text.split("\n\n")):
        yield Padding(_prose(" ".join(part.split("\n"))), (0, 1, 1, 1))


def _prose(text: str) -> Text:
    """A text in which commands stand between backticks."""
    parts = text.split("`")
    return Text.assemble(*((part, "bold cyan" if at % 2 else "") for at, part in enumerate(parts)))
