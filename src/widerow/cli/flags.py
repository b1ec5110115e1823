"""Flags of commands that have many: a table of them instead of a long list of parameters."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final, NamedTuple

from widerow.cli.connection import CONNECTION_FIELDS, PROFILE_VARIABLE

__all__ = [
    "ENCODING",
    "JSON_OUTPUT",
    "Flag",
    "listed",
    "server_flags",
    "with_flags",
]

_Command = Callable[..., None]
_CONNECTING: Final = {*(field.name for field in CONNECTION_FIELDS), "profile"}


class Flag(NamedTuple):
    """One flag. Without a default it must be given; a list may be given several times.

    `name`: how the command takes it; `as_` before it and `_` behind it, of names that Python has a
    use for, are not part of the flag. `variable`: the environment variable that is read where the
    flag is not given. `offered`: what Tab may end the beginning of a value with.
    """

    name: str
    kind: type[Any]
    help: str
    metavar: str | None = None
    default: Any = ...
    variable: str | None = None
    offered: Callable[[str], list[str]] | None = None

    @property
    def parameter(self) -> inspect.Parameter:
        """What typer makes a flag of."""
        import typer  # noqa: PLC0415  # only for what is read by it

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
            autocompletion=self.offered,
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
    """The flags that name a server and a key pair.

    `endpoint` and `instance` are the helps of these two flags. `with_flags` gives the command what
    the flags, the environment and the profile say together, so that it finds all of them set.
    """
    helps = {"endpoint": endpoint, "instance": instance}
    metavars = {"endpoint": "URL", "instance": "NAME", "access_key_id": "ID"}
    flags = [
        Flag(
            field.name,
            str,
            helps.get(field.name, field.help)
            + f" ({field.variables[0]}{', ' + field.default if field.default else ''})",
            metavars.get(field.name, "SECRET"),
            None,
        )
        for field in CONNECTION_FIELDS
    ]
    from widerow.cli.names import profile_names  # noqa: PLC0415  # it loads typer

    help_ = f"Which of `widerow profile list`; else {PROFILE_VARIABLE} or the one in use."
    return (*flags, Flag("profile", str, help_, "NAME", None, offered=profile_names))


def with_flags(*flags: Flag) -> Callable[[_Command], _Command]:
    """Give a command these flags, beside its own parameters; it takes them by name."""
    connects = {flag.name for flag in flags} >= _CONNECTING

    def give(command: _Command) -> _Command:
        own = [
            each
            for each in inspect.signature(command).parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        parameters = [*own, *(flag.parameter for flag in flags)]
        told = _connected(command) if connects else command
        told.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        told.__annotations__ = {each.name: each.annotation for each in parameters}
        return told

    return give


def _connected(command: _Command) -> _Command:
    """The command, which is given the connection that its flags ask for in place of them."""

    @functools.wraps(command)
    def connected(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
        from widerow.cli.profiles import asked_connection  # noqa: PLC0415  # only to ask

        flags = {field.name: given.pop(field.name) for field in CONNECTION_FIELDS}
        connection = asked_connection(flags, given.pop("profile"))
        command(**given, **connection.values)

    return connected


def listed(words: str | None) -> list[str]:
    """The names in a list that is separated by commas."""
    return [word.strip() for word in (words or "").split(",") if word.strip()]
