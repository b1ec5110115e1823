"""Commands about the shell itself, and those of the vendor's that have nothing to do here."""

from collections.abc import Callable, Mapping
from typing import Final

from widerow.cli.connection import endpoint_of
from widerow.cli.ending import CommandFailed
from widerow.cli.ts.command import TsArguments, TsCommand, TsFlag
from widerow.cli.ts.faults import TsUsage
from widerow.cli.ts.session import TsSession

__all__ = ["CLEAR", "CONFIG", "ELSEWHERE", "EXIT_TS", "config_command"]

_PARTS: Final = {
    "endpoint": "endpoint",
    "instance": "instance",
    "id": "access_key_id",
    "key": "access_key_secret",
    "token": "security_token",
}
_CLEAR_SCREEN: Final = "\x1b[2J\x1b[H"

Keep = Callable[[Mapping[str, str]], str]
"""Keeps a connection as a profile; returns the profile's name."""


def config_command(keep: Keep) -> TsCommand:
    """`config`, which keeps what it is given by `keep`."""

    def config(session: TsSession, given: TsArguments) -> None:
        told = {part: given.get(flag) or "" for flag, part in _PARTS.items() if given.has(flag)}
        if not told:
            session.write(f"endpoint {session.endpoint.url}")
            session.write(f"instance {session.endpoint.instance}")
            session.write(f"id       {session.endpoint.access_key_id}")
            return
        if "access_key_id" in told and "access_key_secret" not in told:
            raise TsUsage("config --id needs --key too")
        kept = {**session.kept, **told}
        if "access_key_id" in told:
            kept["security_token"] = told.get("security_token", "")
        session.connect(endpoint_of(kept), kept)
        session.write(f"Kept as the profile {keep(kept)}, which is used from now on.")

    return TsCommand(
        name="config",
        help="Says where the shell is connected, or connects elsewhere and keeps that.",
        run=config,
        flags=(
            TsFlag(("--endpoint",), "URL", "the server"),
            TsFlag(("--instance",), "NAME", "the instance"),
            TsFlag(("--id",), "ID", "the access key"),
            TsFlag(("--key",), "SECRET", "its secret"),
            TsFlag(("--token",), "TOKEN", "the security token of a temporary key"),
        ),
        example="config --endpoint http://db:8087 --instance shop --id reporting --key SECRET",
    )


CONFIG: Final = config_command(lambda _: "")
"""`config` for usages and completion; the one that runs is made with a place to keep things."""


def _clear(session: TsSession, _: TsArguments) -> None:
    if session.ask is not None:
        session.write(_CLEAR_SCREEN)


def _exit(session: TsSession, _: TsArguments) -> None:
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
    "sql": "this version of widerow has no SQL; `scan --where` filters rows",
    "putts": "this version of widerow has no tables of time series",
    "getts": "this version of widerow has no tables of time series",
    "qtm": "this version of widerow has no tables of time series",
    "import_timeseries": "this version of widerow has no tables of time series",
}


_SEARCH_FLAGS: Final = (
    TsFlag(("-t", "--table"), "TABLE", "the table", tables=True),
    TsFlag(("-n", "--name"), "NAME", "the index"),
)


def _elsewhere(name: str, why: str) -> TsCommand:
    def refuse(_: TsSession, __: TsArguments) -> None:
        raise CommandFailed(f"{name}: {why}")

    flags = _SEARCH_FLAGS if "search" in name else ()
    return TsCommand(name, f"Not here: {why}.", refuse, flags, takes=1 << 10)


ELSEWHERE: Final = tuple(_elsewhere(name, why) for name, why in _WHY.items())
"""The vendor's commands that are refused, each with the reason and what to do."""
