"""Commands and groups of `widerow`, made of tables: words, flags, examples, the function that runs.

A command takes its words in their order and then its flags, by name, in one mapping; it returns an
exit code, or None for 0. A group has a table of its commands; the table may have only the place of
a command, which is imported when it is looked up.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, NoReturn

import click

from widerow.cli.answers import tell_failure
from widerow.cli.connection import CONNECTION_FIELDS
from widerow.errors import WiderowError
from widerow.near_names import did_you_mean
from widerow.written_numbers import real_number, whole_number

__all__ = [
    "JSON_OUTPUT",
    "CliCommand",
    "CliGroup",
    "CommandFailed",
    "CommandPlace",
    "Flag",
    "Given",
    "Positional",
    "command",
    "group",
    "switch",
]


class CommandFailed(WiderowError):
    """A command cannot do what is asked; the message says why and what to do."""


Given = Mapping[str, Any]
"""The flags of a command by their names."""

Run = Callable[..., int | None]
Offered = Callable[[click.Context, str], list[str]]
"""What Tab offers for the beginning of a value."""

_ITS_OWN_WORDS: Final = {"allow_interspersed_args": False, "ignore_unknown_options": True}
_CONNECTING: Final = {*(field.name for field in CONNECTION_FIELDS), "profile"}
_INTERRUPTED: Final = 130  # as a shell reports a process that Ctrl-C has ended


class _Number(click.ParamType):  # type: ignore[type-arg]  # generic in later versions of click
    """Numbers in ASCII digits alone; `name`: what people call them."""

    def __init__(self, name: str, read: Callable[[str], Any], make: type[Any]) -> None:
        self.name = name
        self._read = read
        self._make = make

    def convert(
        self,
        value: Any,  # noqa: ANN401  # as click declares it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401  # as click declares it
        try:
            return self._read(value) if isinstance(value, str) else self._make(value)
        except ValueError:
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)


_KINDS: Final[dict[type[Any], Any]] = {
    int: _Number("integer", whole_number, int),
    float: _Number("float", real_number, float),
    Path: click.Path(path_type=Path),
}


class Flag(NamedTuple):
    """One flag. If its default is a list, it may be given several times.

    `name`: how the command takes it; `as_` before it and `_` behind it, of names that Python has a
    use for, are not part of the flag. `variable`: the environment variable that is read where the
    flag is not given. `spelled`: how it is typed, where that does not follow from its name.
    """

    name: str
    help: str
    metavar: str | None = None
    kind: type[Any] = str
    default: Any = None
    required: bool = False
    variable: str | None = None
    offered: Offered | None = None
    spelled: tuple[str, ...] = ()

    @property
    def parameter(self) -> click.Option:
        """What click makes a flag of."""
        plain = self.name.removeprefix("as_").removesuffix("_").replace("_", "-")
        many = isinstance(self.default, list)
        return click.Option(
            [self.name, *(self.spelled or (f"--{plain}",))],
            type=_KINDS.get(self.kind, self.kind),
            is_flag=self.kind is bool,
            default=self.default,
            required=self.required,
            multiple=many,
            help=self.help,
            metavar=self.metavar,
            show_default=not many and self.default not in (None, False),
            envvar=self.variable,
            show_envvar=self.variable is not None,
            shell_complete=_completing(self.offered),
        )


def switch(name: str, help_: str) -> Flag:
    """A flag without a value: False if it is not given."""
    return Flag(name, help_, kind=bool, default=False)


JSON_OUTPUT: Final = switch("as_json", "One JSON document on stdout.")
"""The flag of every command that has an answer (`answers.py`)."""


class Positional(NamedTuple):
    """A word of a command. `number`: one, or none (`?`), or some (`+`), or any number (`*`)."""

    name: str
    metavar: str
    help: str
    number: Literal["1", "?", "+", "*"] = "1"
    kind: type[Any] = str
    offered: Offered | None = None

    @property
    def parameter(self) -> click.Argument:
        """What click makes a word of."""
        return _WordArgument(
            [self.name],
            type=_KINDS.get(self.kind, self.kind),
            nargs=-1 if self.number in "+*" else 1,
            required=self.number in "1+",
            metavar=self.metavar,
            shell_complete=_completing(self.offered),
            told=self.help,
        )


def _completing(offered: Offered | None) -> Any:  # noqa: ANN401  # of click's own type
    if offered is None:
        return None

    def complete(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
        return offered(context, begun)

    return complete


class _WordArgument(click.Argument):
    """A word with a help. `told`: what help says of it."""

    def __init__(self, *given: Any, told: str, **more: Any) -> None:  # noqa: ANN401  # what click takes
        """A word."""
        super().__init__(*given, **more)
        self.told = told


class CliCommand(click.Command):
    """A command whose help is shown by `help.py`. `more`: what it says below the first line."""

    more = ""

    def get_help(self, ctx: click.Context) -> str:
        """The help, as wide as the terminal."""
        from widerow.cli.help import rendered_help  # noqa: PLC0415  # it loads rich

        return rendered_help(ctx)


class CommandPlace(NamedTuple):
    """Where a command of a group is: the constant `name` of `module`. `help`: what it does."""

    help: str
    module: str
    name: str


class CliGroup(click.Group):
    """A group of commands. `default`: the command that is meant where none is named."""

    table: Mapping[str, "CliCommand | CliGroup | CommandPlace"]
    default = ""
    more = ""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """The names, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        """The command of this name, imported now if it was not yet; None if there is none."""
        found = self.table.get(cmd_name)
        if isinstance(found, CommandPlace):
            made: CliCommand | CliGroup = getattr(import_module(found.module), found.name)
            made.help = found.help
            found = made
        if found is not None:
            found.name = cmd_name
        return found

    def get_help(self, ctx: click.Context) -> str:
        """The help, as wide as the terminal."""
        from widerow.cli.help import rendered_help  # noqa: PLC0415  # it loads rich

        return rendered_help(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words of a command; those of the default one if none is named."""
        if self.default and args and not args[0].startswith("-") and args[0] not in self.table:
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that words name. Raises: `click.UsageError` with names that are alike."""
        name = args[0]
        if name in self.table or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        raise click.UsageError(
            f"No such command {name!r}. {did_you_mean(name, self.table)}".rstrip(), ctx
        )

    def main(self, *given: Any, **more: Any) -> NoReturn:  # noqa: ANN401  # what click takes
        """Run a command line to its end; mistakes in it are told on stderr, with exit code 2."""
        try:
            sys.exit(super().main(*given, **{**more, "standalone_mode": False}))
        except click.ClickException as error:
            from widerow.cli.help import show_mistake  # noqa: PLC0415  # it loads rich

            tell_failure(error.format_message(), {}, partial(show_mistake, error))
            sys.exit(error.exit_code)
        except click.Abort:  # of Ctrl-C, or of input that ends where an answer is waited for
            sys.exit(_INTERRUPTED)


def command(
    run: Run,
    *parameters: Positional | Flag,
    examples: str,
    help: str = "",  # noqa: A002  # what everybody calls it
    more: str = "",
    own_words: bool = False,
) -> CliCommand:
    """A command.

    `run` gets what flags, environment and profile say together of the server, where its flags are
    those of `server_flags`. `examples`: below the help, each command on a line of its own between
    backticks, with exit codes if there are several. `help`: what it does, unless a `CommandPlace`
    says it; `more`: what else there is to say. `own_words`: what stands behind the command is for
    itself to read, flags too.
    """
    made = CliCommand(
        None,
        params=[each.parameter for each in parameters],
        callback=_called(run, parameters),
        help=help,
        epilog=_shown_examples(examples),
        context_settings=_ITS_OWN_WORDS if own_words else None,
    )
    made.more = more
    return made


def group(
    examples: str,
    table: Mapping[str, CliCommand | CliGroup | CommandPlace],
    *flags: Flag,
    run: Run | None = None,
    default: str = "",
    help: str = "",  # noqa: A002  # as in `command`
    more: str = "",
) -> CliGroup:
    """A group of commands. With `run`, which `flags` are for, it is a command by itself too."""
    made = CliGroup(
        None,
        params=[each.parameter for each in flags],
        help=help,
        epilog=_shown_examples(examples),
        no_args_is_help=run is None,
        invoke_without_command=run is not None,
        callback=None if run is None else _alone(_called(run, flags)),
    )
    made.table = table
    made.default = default
    made.more = more
    return made


def _shown_examples(examples: str) -> str:
    """Examples as help has them: each command, and what follows them, in a paragraph."""
    lines = re.sub(r"\n(?=`|Exit codes)", "\n\n", examples.strip())
    return f"Examples:\n\n{lines}" if examples.startswith("\n") else examples


def _called(run: Run, parameters: Sequence[Positional | Flag]) -> Callable[..., int | None]:
    """What click calls: by name, and without what it needs to know of servers and profiles."""
    names = [each.name for each in parameters if isinstance(each, Positional)]
    connects = {each.name for each in parameters} >= _CONNECTING

    def called(**given: Any) -> int | None:  # noqa: ANN401  # by name, as the table has them
        words = [given.pop(name) for name in names]
        if connects:
            from widerow.cli.profiles import asked_connection  # noqa: PLC0415  # only to ask

            flags = {field.name: given.pop(field.name) for field in CONNECTION_FIELDS}
            given.update(asked_connection(flags, given.pop("profile")).values)
        return run(*words, given)

    return called


def _alone(called: Callable[..., int | None]) -> Callable[..., int | None]:
    """A group's own command, which does not run before one of its commands."""

    def unless_another(**given: Any) -> int | None:  # noqa: ANN401  # by name, as the table has them
        another = click.get_current_context().invoked_subcommand
        return called(**given) if another is None else None

    return unless_another
