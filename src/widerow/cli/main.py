"""The `widerow` command: which commands there are, and their flags.

The flags of `serve` and `doctor` are made from the table of settings, so that a setting is a flag,
a variable and a key of the file by being in that table. Rich is loaded only to show something.
"""

import inspect
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from widerow.cli.credential_commands import credentials_app
from widerow.cli.design import SIMULATE_EXAMPLES, advise_app, keys_app, simulate_command
from widerow.cli.indexes import INDEXES_EXAMPLES, indexes
from widerow.cli.nodes import NODES_EXAMPLES, nodes
from widerow.cli.partitions import PARTITIONS_EXAMPLES, partitions
from widerow.cli.rows.row_commands import row_app
from widerow.cli.rows.settings_commands import (
    COMPLETION_EXAMPLES,
    ENV_EXAMPLES,
    completion,
    env,
    profile_app,
)
from widerow.cli.rows.table_commands import table_app
from widerow.cli.rows.ts_command import TS_EXAMPLES, ts
from widerow.cli.search import search_app
from widerow.cli.tail import TAIL_EXAMPLES, tail
from widerow.cli.transfer import (
    ARCHIVE_EXAMPLES,
    EXPORT_EXAMPLES,
    IMPORT_EXAMPLES,
    archive,
    export,
    import_,
)
from widerow.cli.tunnels import TUNNELS_EXAMPLES, tunnels
from widerow.errors import WiderowError
from widerow.server.settings import DESCRIPTIONS, PREFIX

__all__ = ["app", "main"]

app: Final = typer.Typer(
    name="widerow",
    help="A self-hosted wide-column table store that speaks the Alibaba Tablestore protocol.",
    epilog="Start with: widerow serve --memory",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

_SERVE_EXAMPLES: Final = """Examples:

`widerow serve` — data in ./widerow-data, on 127.0.0.1:8087

`widerow serve --memory --port 0` — for a test run; the ready line names the port

`widerow serve --path /srv/widerow --credentials keys.toml --instances shop,audit`
"""
_DOCTOR_EXAMPLES: Final = """Examples:

`widerow doctor --path /srv/widerow` — stop the server first

`widerow doctor --path /srv/widerow --json`
"""
_BACKUP_EXAMPLES: Final = """Examples:

`widerow backup /backups/monday --path /srv/widerow` — the server may go on

`widerow backup /backups/monday --path /srv/widerow --json`
"""
_RESTORE_EXAMPLES: Final = """Examples:

`widerow restore /backups/monday --path /srv/widerow` — into a directory that does not exist

`widerow restore /backups/monday --check` — verify a backup, keep nothing
"""
_COMPAT_EXAMPLES: Final = """Examples:

`widerow compat --supported`

`widerow compat --json`
"""
_KV_EXAMPLES: Final = """Examples:

`widerow kv --path ./products --create` — a conversation, in a new store; `help` lists the commands

`widerow kv --path ./products show tables` — one command

`widerow kv --path ./products load -file create-tables.kv` — a script, until a command fails

`widerow kv --path ./products < create-tables.kv` — a script, to its end

Exit codes: 0 done, 1 the command failed, 64 wrong usage, 65 wrong argument or unreadable file.
"""
_COMPLETE: Final = "_WIDEROW_COMPLETE"
_CONFIG_HELP: Final = "TOML file with these settings; widerow.toml is read if it is there."
_STORE_SETTINGS: Final = ("path", "store", "cache_mb")
_ON_IF_NOT_SET: Final = ("console",)  # flags that come with one that says no
_METAVARS: Final = {
    "host": "ADDRESS",
    "port": "NUMBER",
    "path": "DIR",
    "store": "URL",
    "credentials": "FILE",
    "tls_cert": "FILE",
    "tls_key": "FILE",
    "instances": "A,B",
    "log_format": "FORMAT",
    "log_level": "LEVEL",
    "column_names": "RULE",
    "cache_mb": "MIB",
    "max_tables_per_instance": "NUMBER",
    "partition_split_mb": "MIB",
    "partition_split_units": "NUMBER",
    "partition_hot_seconds": "SECONDS",
    "partition_cold_seconds": "SECONDS",
    "partition_key_mb": "MIB",
    "partitions_max": "NUMBER",
    "local_transactions_default": "BOOLEAN",
    "index_lag": "SECONDS",
    "search_lag": "SECONDS",
    "delivery_root": "DIR",
    "delivery_seconds": "SECONDS",
    "node_name": "NAME",
}

_Command = Callable[..., None]


def _with_settings(names: Iterable[str]) -> Callable[[_Command], _Command]:
    """Give a command the flags of these settings, and `--config`."""

    def give(command: _Command) -> _Command:
        own = [
            each
            for each in inspect.signature(command).parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        flags = [
            _parameter(name, f"{DESCRIPTIONS[name]} ({PREFIX}{name.upper()})") for name in names
        ]
        config = _parameter("config", f"{_CONFIG_HELP} ({PREFIX}CONFIG)", "FILE")
        parameters = sorted([*flags, config, *own], key=lambda each: each.kind)
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return give


def _parameter(name: str, text: str, metavar: str | None = None) -> inspect.Parameter:
    flag = "--" + name.replace("_", "-")
    if name in _ON_IF_NOT_SET:
        flag += f"/--no-{name}"
    if name in _METAVARS:
        metavar = _METAVARS[name]
    option = typer.Option(flag, help=text, metavar=metavar, show_default=False)
    kind = str if metavar else bool
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )


@app.command(epilog=_SERVE_EXAMPLES)
@_with_settings(DESCRIPTIONS)
def serve(**flags: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Serve a store until SIGTERM or SIGINT."""
    from widerow.cli.serve import run_server  # noqa: PLC0415  # the other commands need no server

    raise typer.Exit(run_server(flags))


@app.command(epilog=_DOCTOR_EXAMPLES)
@_with_settings(_STORE_SETTINGS)
def doctor(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    digest: Annotated[
        bool, typer.Option("--digest", help="Sum up everything: equal for equal stores.")
    ] = False,
    **flags: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Verify every record of a store that no server has open. Exit code 1 on findings."""
    from widerow.cli.doctor import examine  # noqa: PLC0415  # only this command

    raise typer.Exit(examine(flags, as_json=as_json, digest=digest))


@app.command(epilog=_BACKUP_EXAMPLES)
@_with_settings(_STORE_SETTINGS)
def backup(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="New directory for the backup.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    **flags: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Copy a store, whether a server has it open or not: everything acknowledged until now."""
    from widerow.cli.backup import backup_store  # noqa: PLC0415  # only this command

    raise typer.Exit(backup_store(flags, target, as_json=as_json))


@app.command(epilog=_RESTORE_EXAMPLES)
@_with_settings(_STORE_SETTINGS)
def restore(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of the backup.")],
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Verify the backup and keep nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    **flags: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Make a store from a backup, verified byte by byte and record by record."""
    from widerow.cli.backup import restore_store  # noqa: PLC0415  # only this command

    raise typer.Exit(restore_store(flags, source, check=check, as_json=as_json))


@app.command()
def version(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Show what is running: widerow, Python and the libraries underneath."""
    from widerow.cli.version import show_version  # noqa: PLC0415  # only this command

    show_version(as_json=as_json)


@app.command(epilog=_COMPAT_EXAMPLES)
def compat(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    supported: Annotated[
        bool, typer.Option("--supported", help="Only the actions that are served.")
    ] = False,
) -> None:
    """Show which actions of the protocol this version serves."""
    from widerow.cli.compat import show_compatibility  # noqa: PLC0415  # only this command

    show_compatibility(as_json=as_json, supported=supported)


@app.command(
    epilog=_KV_EXAMPLES,
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)
def kv(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND]...", help="One command of the shell.", show_default=False
        ),
    ] = None,
    *,
    path: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="The store, which no server may have open; widerow-data if left out.",
            show_default=False,
        ),
    ] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Make the store if it is not there.")
    ] = False,
    endpoint: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A server to work through. Not possible yet: no server speaks a NoSQL protocol.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Work on typed tables (Oracle NoSQL's model) with the commands of its admin shell."""
    from widerow.cli.kv.start import run_shell  # noqa: PLC0415  # only this command

    raise typer.Exit(run_shell(path, endpoint, words or (), create=create))


app.command("import", epilog=IMPORT_EXAMPLES)(import_)
app.command(epilog=EXPORT_EXAMPLES)(export)
app.command(epilog=ARCHIVE_EXAMPLES)(archive)
app.command(epilog=PARTITIONS_EXAMPLES)(partitions)
app.command(epilog=INDEXES_EXAMPLES)(indexes)
app.command(epilog=NODES_EXAMPLES)(nodes)
app.command(epilog=TAIL_EXAMPLES)(tail)
app.command(epilog=TUNNELS_EXAMPLES)(tunnels)
app.command("simulate", epilog=SIMULATE_EXAMPLES)(simulate_command)
app.command(epilog=ENV_EXAMPLES)(env)
app.command(epilog=COMPLETION_EXAMPLES)(completion)
app.command(
    epilog=TS_EXAMPLES,
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)(ts)
app.add_typer(table_app, name="table")
app.add_typer(row_app, name="row")
app.add_typer(profile_app, name="profile")
app.add_typer(search_app, name="search")
app.add_typer(keys_app, name="keys")
app.add_typer(credentials_app, name="credentials")
app.add_typer(advise_app, name="advise")


def main() -> None:
    """The entry point, by any way of starting. An error is told in one line, with exit code 2."""
    if _COMPLETE in os.environ:  # a shell asks what may stand at its cursor
        from typer.completion import get_completion_inspect_parameters  # noqa: PLC0415  # only then

        get_completion_inspect_parameters()  # makes typer know the shells
    try:
        app(prog_name="widerow")
    except WiderowError as error:
        request = getattr(error, "request_id", "")  # of errors that a server has answered
        sys.stderr.write(f"widerow: {error}{f' [request {request}]' if request else ''}\n")
        sys.exit(2)
    except UnicodeEncodeError:
        sys.stderr.write("widerow: a text that was given is not Unicode; tables store no other\n")
        sys.exit(2)
