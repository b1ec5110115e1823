"""Commands about the shell itself, and those of the vendor's that have nothing to do here."""

from typing import Final

from widerow.cli.command import CommandFailed
from widerow.cli.connection import endpoint_of
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.cli.ts.command import TsCommand, TsUsage, known_command
from widerow.cli.ts.session import TsSession

__all__ = ["CLEAR", "CONFIG", "ELSEWHERE", "EXIT_TS", "TS_HELP"]

_PARTS: Final = {
    "--endpoint": "endpoint",
    "--instance": "instance",
    "--id": "access_key_id",
    "--key": "access_key_secret",
    "--token": "security_token",
}
_CLEAR_SCREEN: Final = "\x1b[2J\x1b[H"


def _help(session: TsSession, given: Arguments) -> str:
    commands = session.commands
    if given.words:
        return known_command(given.words[0], commands).usage
    width = max(len(each.name) for each in commands)
    lines = [f"{each.name:<{width}}  {each.description}" for each in commands]
    return "\n".join([*lines, "`help COMMAND` or `COMMAND help` says more of one."])


TS_HELP: Final = TsCommand("help", "Lists the commands, or says more of one.", _help, takes=(0, 1))


def _config(session: TsSession, given: Arguments) -> str:
    told = {part: given.get(flag) or "" for flag, part in _PARTS.items() if given.has(flag)}
    if not told:
        endpoint = session.endpoint
        return (
            f"endpoint {endpoint.url}\ninstance {endpoint.instance}\n"
            f"id       {endpoint.access_key_id}"
        )
    if "access_key_id" in told and "access_key_secret" not in told:
        raise TsUsage("config --id needs --key too")
    kept = {**session.kept, **told}
    if "access_key_id" in told:
        kept["security_token"] = told.get("security_token", "")
    session.connect(endpoint_of(kept), kept)
    return f"Kept as the profile {session.keep(kept)}, which is used from now on."


CONFIG: Final = TsCommand(
    "config",
    "Says where the shell is connected, or connects elsewhere and keeps that.",
    _config,
    (
        ShellFlag("--endpoint", "URL", "the server"),
        ShellFlag("--instance", "NAME", "the instance"),
        ShellFlag("--id", "ID", "the access key"),
        ShellFlag("--key", "SECRET", "its secret"),
        ShellFlag("--token", "TOKEN", "the security token of a temporary key"),
    ),
    example="config --endpoint http://db:8087 --instance shop --id reporting --key SECRET",
)


def _clear(session: TsSession, _: Arguments) -> str | None:
    return None if session.ask is None else _CLEAR_SCREEN


def _exit(session: TsSession, _: Arguments) -> None:
    session.finished = True


CLEAR: Final = TsCommand("clear", "Clears the screen.", _clear)
EXIT_TS: Final = TsCommand("exit", "Leaves the shell; so does Control-D.", _exit, aliases=("quit",))

_WHY: Final = {
    "enable_service": "the service is enabled where widerow runs",
    "create_instance": "an instance of widerow is made by its first table",
    "describe_instance": "instances belong to the vendor's console; `list` shows the tables of one",
    "list_instance": "instances belong to the vendor's console; `list` shows the tables of one",
    "press_input": "loads are made with `widerow import`",
    "press_check": "loads are checked with `widerow export`, which prints a checksum",
    "consume_tunnel": "tunnels are consumed with an SDK; `widerow tail` follows a table",
    "create_search_index": "search indexes are made with an SDK (docs/guide/search.md)",
    "search": "there is no editor here; `widerow search TABLE INDEX QUERY` asks a search index",
}


_SEARCH_FLAGS: Final = (
    ShellFlag("--table", "TABLE", "the table", short="-t"),
    ShellFlag("--name", "NAME", "the index", short="-n"),
)


def _elsewhere(name: str, why: str) -> TsCommand:
    def refuse(_: TsSession, __: Arguments) -> None:
        raise CommandFailed(f"{name}: {why}")

    flags = _SEARCH_FLAGS if "search" in name else ()
    return TsCommand(name, f"Not here: {why}.", refuse, flags, takes=(0, 1 << 10))


ELSEWHERE: Final = tuple(_elsewhere(name, why) for name, why in _WHY.items())
"""The vendor's commands that are refused, each with the reason and what to do."""
