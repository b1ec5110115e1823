"""`widerow`: the table of its commands, and where a process begins and ends.

A command costs nothing until it is run, asked for help or completed: its module is imported when
its name is looked up. Rich is loaded only to show something.
"""

import sys
from typing import Final

import click

from widerow import __version__
from widerow.cli.answers import tell_error
from widerow.cli.collector import collect_rarely
from widerow.cli.command import CommandPlace, group
from widerow.cli.shells import COMPLETE_VARIABLE, PROGRAM_NAME
from widerow.cli.standard_output import OutputFailed, drop_output, watch_output
from widerow.errors import WiderowError

__all__ = ["app", "run_program"]

_ADVISE: Final = group(
    "Example: `widerow advise keys --table purchases`",
    {
        "keys": CommandPlace(
            "Rank partition keys by how data and accesses are spread, and say why.",
            "widerow.cli.advise",
            "ADVISE_KEYS",
        ),
        "ttl": CommandPlace(
            "Sample tables and say what expiry and fewer versions would give back.",
            "widerow.cli.advise_expiry",
            "ADVISE_TTL",
        ),
        "cost": CommandPlace(
            "Add up the capacity units of a workload, by table, action and second.",
            "widerow.cli.advise_cost",
            "ADVISE_COST",
        ),
    },
    help="Say what would make a table better or cheaper: its key, its expiry, its requests.",
)
app: Final = group(
    "Start with: widerow serve --memory",
    {
        "serve": CommandPlace(
            "Serve a store until SIGTERM or SIGINT.", "widerow.cli.serve", "SERVE"
        ),
        "ping": CommandPlace(
            "Ask a server whether it is ready: for health checks, and for scripts that wait.",
            "widerow.cli.ping",
            "PING",
        ),
        "doctor": CommandPlace(
            "Verify every record of a store that no server has open. Exit code 1 on findings.",
            "widerow.cli.doctor",
            "DOCTOR",
        ),
        "backup": CommandPlace(
            "Copy a store, whether a server has it open or not: everything acknowledged until now.",
            "widerow.cli.backup",
            "BACKUP",
        ),
        "restore": CommandPlace(
            "Make a store from a backup, verified byte by byte and record by record.",
            "widerow.cli.backup",
            "RESTORE",
        ),
        "version": CommandPlace(
            "Show what is running: widerow, Python and the libraries underneath.",
            "widerow.cli.version",
            "VERSION",
        ),
        "man": CommandPlace(
            "Print the manual page of this program, for `man` and for packages.",
            "widerow.cli.man",
            "MAN",
        ),
        "compat": CommandPlace(
            "Show which actions of the protocol this version serves.",
            "widerow.cli.compat",
            "COMPAT",
        ),
        "kv": CommandPlace(
            "Work on typed tables (Oracle NoSQL's model) with the commands of its admin shell.",
            "widerow.cli.kv.start",
            "KV",
        ),
        "import": CommandPlace(
            "Load a file into a table, spread over its partition keys. A kill loses nothing.",
            "widerow.cli.transfer",
            "IMPORT",
        ),
        "export": CommandPlace(
            "Write every row of a table to a file, with all versions and types.",
            "widerow.cli.transfer",
            "EXPORT",
        ),
        "archive": CommandPlace(
            "Move cold rows to a Parquet file: write it, verify it, and only then delete them.",
            "widerow.cli.transfer",
            "ARCHIVE",
        ),
        "partitions": CommandPlace(
            "Show the partitions of a table: ranges, sizes, load, and keys that no split can help.",
            "widerow.cli.partitions",
            "PARTITIONS",
        ),
        "indexes": CommandPlace(
            "Show the secondary indexes of a table: type, columns, and whether they are built.",
            "widerow.cli.indexes",
            "INDEXES",
        ),
        "nodes": CommandPlace(
            "Show the servers that share a store: who serves, whose clock is off, who looks after "
            "it.",
            "widerow.cli.nodes",
            "NODES",
        ),
        "tail": CommandPlace(
            "Follow the changes of a table: puts, updates and deletes of all its shards.",
            "widerow.cli.tail",
            "TAIL_COMMAND",
        ),
        "tunnels": CommandPlace(
            "Show tunnels: how far they are, who consumes them, how far behind the changes they "
            "are.",
            "widerow.cli.tunnels",
            "TUNNELS",
        ),
        "simulate": CommandPlace(
            "Replay a load on nodes: skew, splits, merges and moves over time.",
            "widerow.cli.simulate",
            "SIMULATE",
        ),
        "env": CommandPlace(
            "Show all environment variables that count, what each does, and the connection they "
            "make.",
            "widerow.cli.environment",
            "ENV",
        ),
        "completion": CommandPlace(
            "Print the script that completes commands and flags of widerow in a shell.",
            "widerow.cli.shells",
            "COMPLETION",
        ),
        "sql": CommandPlace(
            "Run statements of SQL: one, a file of them, or in a conversation.",
            "widerow.cli.sql",
            "SQL",
        ),
        "ts": CommandPlace(
            "Work on tables and rows with the commands of the vendor's command line.",
            "widerow.cli.ts.start",
            "TS",
        ),
        "table": CommandPlace(
            "Make, show, change and drop tables, of any server that speaks Tablestore.",
            "widerow.cli.tablestore.tables",
            "TABLE_COMMANDS",
        ),
        "row": CommandPlace(
            "Read and write rows of a table, of any server that speaks Tablestore.",
            "widerow.cli.tablestore.rows",
            "ROW",
        ),
        "profile": CommandPlace(
            "Named connections: a server, an instance and a key, kept in a file of yours.",
            "widerow.cli.profile_commands",
            "PROFILE",
        ),
        "search": CommandPlace(
            "Ask search indexes, and why they find a row or do not.", "widerow.cli.search", "SEARCH"
        ),
        "proxy": CommandPlace(
            "Stand between clients and a server: record what they say, or compare two servers.",
            "widerow.cli.proxy",
            "PROXY",
        ),
        "keys": CommandPlace(
            "Build partition keys from several columns, and take them apart again.",
            "widerow.cli.keys",
            "KEYS_COMMANDS",
        ),
        "credentials": CommandPlace(
            "Make and revoke temporary keys and API keys in a credentials file.",
            "widerow.cli.credentials",
            "CREDENTIALS",
        ),
        "advise": _ADVISE,
        "dev": CommandPlace(
            "Command a server that was started with `--dev`: its clock, faults, instances.",
            "widerow.cli.dev",
            "DEV",
        ),
    },
    help="A self-hosted wide-column table store that speaks the Alibaba Tablestore protocol.",
)
"""The program; its commands in the order of `widerow --help`."""
app.name = PROGRAM_NAME


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001  # as click hands it over
    if asked:
        click.echo(f"{PROGRAM_NAME} {__version__}")
        ctx.exit()


app.params.append(
    click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_version,
        help="Show the version and exit. The command `version` shows more.",
    )
)


def run_program() -> None:
    """Run the command line of this process to its end. An error is one line, and exit code 2.

    Where standard output takes no more the exit code is 1: with a line that says why, except for a
    pipe that its reader has closed.
    """
    collect_rarely()
    watch_output()
    code = 2
    try:
        try:
            app.main(prog_name=PROGRAM_NAME, complete_var=COMPLETE_VARIABLE)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except (OutputFailed, BrokenPipeError) as error:
        drop_output()
        code = 1
        if isinstance(error, OutputFailed):
            tell_error(error)
    except WiderowError as error:
        tell_error(error)
    except UnicodeEncodeError:
        tell_error("a text that was given is not Unicode; tables store no other")
    sys.exit(code)
