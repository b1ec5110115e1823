"""Flags of commands that have many: a table of them instead of a long list of parameters."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final, NamedTuple

import typer

__all__ = ["ENCODING", "JSON_OUTPUT", "Flag", "listed", "server_flags", "with_flags"]

_Command = Callable[..., None]


class Flag(NamedTuple):
    """One flag. Without a default it must be given; a list may be given several times.

    `name`: how the command takes it; `as_` before it and `_` behind it, of names that Python has a
    use for, are not part of the flag. `variable`: the environment variable that is read where the
    flag is not given.
    """

    name: str
    kind: type[Any]
    help: str
    metavar: str | None = None
    default: Any = ...
    variable: str | None = None

    @property
    def parameter(self) -> inspect.Parameter:
        """What typer makes a flag of."""
        flag = "--" + self.name.removeprefix("as_").removesuffix("_").replace("_", "-")
        many = isinstance(self.default, list)
        shown = self.default not in (..., None, False, []) and not many
        option = typer.Option(
            flag,
            help=self.help,
            metavar=self.metavar,
            show_default=shown,
            envvar=self.variable,
            show_envvar=self.variable is not None,
        )
        kind: Any = list[self.kind] if many else self.kind  # type: ignore[name-defined]  # a value
        if self.default is None:
            kind = kind | None
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=self.default,
            annotation=Annotated[kind, option],
        )


JSON_OUTPUT: Final = Flag("as_json", bool, "One JSON document on stdout.", None, default=False)


ENCODING: Final = Flag(
    "encoding", str, "Encoding of a text file: utf-8, latin-1, cp1252, gb18030.", "NAME", "utf-8"
)


def server_flags(endpoint: str, instance: str = "The instance of the table.") -> tuple[Flag, ...]:
    """The flags that name a server and a key pair, each with its environment variable.

    `endpoint` and `instance` are the helps of these two flags.
    """
    return (
        Flag("endpoint", str, endpoint, "URL", "http://127.0.0.1:8087", "WIDEROW_ENDPOINT"),
        Flag("instance", str, instance, "NAME", "widerow", "WIDEROW_INSTANCE"),
        Flag("access_key_id", str, "Who asks.", "ID", "widerow", "WIDEROW_ACCESS_KEY_ID"),
        Flag(
            "access_key_secret",
            str,
            "The secret of the access key; the variable keeps it out of lists of processes.",
            "SECRET",
            "widerow",
            "WIDEROW_ACCESS_KEY_SECRET",
        ),
    )


def with_flags(*flags: Flag) -> Callable[[_Command], _Command]:
    """Give a command these flags, beside its own parameters; it takes them by name."""

    def give(command: _Command) -> _Command:
        own = [
            each
            for each in inspect.signature(command).parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        parameters = [*own, *(flag.parameter for flag in flags)]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return give


def listed(words: str | None) -> list[str]:
    """The names in a list that is separated by commas."""
    return [word.strip() for word in (words or "").split(",") if word.strip()]
