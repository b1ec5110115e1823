"""Commands on tables, indexes and tunnels (ts-cli)."""

import json
from pathlib import Path
from typing import Final

from widerow.cli.command import CommandFailed
from widerow.cli.flags import listed
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.cli.tablestore.asking import read_file
from widerow.cli.tablestore.grid import Grid
from widerow.cli.tablestore.search_indexes import search_indexes_of
from widerow.cli.tablestore.tables import (
    change_table,
    describe_table,
    parse_seconds,
    send_drop,
    table_request,
)
from widerow.cli.tablestore.words import WordInvalid, shown_value
from widerow.cli.ts.command import TsCommand, TsUsage, int32_of
from widerow.cli.ts.json_rows import definition_json, definition_words, key_words
from widerow.cli.ts.session import TsSession
from widerow.cli.tunnels import tunnel_documents
from widerow.client.rows import decode_rows
from widerow.client.series import (
    change_series_table,
    create_series_table,
    drop_series_table,
    is_series_table,
    list_series_tables,
    series_table_document,
)
from widerow.client.tables import list_tables
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import tunnel_messages as t

__all__ = [
    "ALTER",
    "CREATE",
    "CREATE_INDEX",
    "CREATE_TUNNEL",
    "DESCRIBE",
    "DESCRIBE_TUNNEL",
    "DROP",
    "DROP_INDEX",
    "DROP_TUNNEL",
    "GET_SPLITS",
    "LIST",
    "LIST_TUNNEL",
    "USE",
]

_TABLE: Final = ShellFlag("--table", "TABLE", "the table", required=True, short="-t")
_TABLE_IN_USE: Final = ShellFlag("--table", "TABLE", "the table, if not the one in use", short="-t")
_NAME: Final = ShellFlag("--name", "NAME", "its name", required=True, short="-n")
_OPTIONS: Final = (
    ShellFlag("--ttl", "SECONDS", "how long values live; -1 for ever"),
    ShellFlag("--version", "N", "versions of each column that are kept"),
    ShellFlag("--read_cu", "N", "reserved read units"),
    ShellFlag("--write_cu", "N", "reserved write units"),
)
_INDEX_NUMBERS: Final = {"global": 0, "local": 1}
_TUNNEL_TYPES: Final = {"base_data_only": 1, "stream_data_only": 2, "base_and_stream": 3}
_WIDE_COLUMNS: Final = "widecolumn"
_SERIES: Final = "timeseries"


def _given(arguments: Arguments) -> dict[str, object]:
    return {
        "ttl": arguments.get("--ttl"),
        "max_versions": int32_of(arguments, "--version"),
        "reserved_read": int32_of(arguments, "--read_cu"),
        "reserved_write": int32_of(arguments, "--write_cu"),
    }


def _create(session: TsSession, given: Arguments) -> None:
    mode = given.get("--mode") or _WIDE_COLUMNS
    if mode == _SERIES:
        _create_series(session, given)
        return
    if mode != _WIDE_COLUMNS:
        raise TsUsage(f"--mode {mode}: it is {_WIDE_COLUMNS} or {_SERIES}")
    options = _given(given)
    if given.has("--input"):
        text = read_file(given.get("--input") or "").decode(errors="replace")
        name, key, told = definition_words(text)
        name = given.get("--table") or name
        options = {
            each: options[each] if options[each] is not None else told[each] for each in told
        }
    else:
        name, key = given.get("--table") or "", key_words(given.get("--pk") or "")
    if not name:
        raise TsUsage("create needs --table")
    request = table_request(name, key, options)
    session.client.call_once("CreateTable", request, m.CreateTableResponse)
    session.write(f"Created the table {name}.")


def _create_series(session: TsSession, given: Arguments) -> None:
    name = given.get("--table")
    if not name:
        raise TsUsage("create needs --table")
    _only_ttl(given, f"create -m {_SERIES}", ("--mode", "--table"))
    create_series_table(session.client, name, _ttl(given.get("--ttl") or "-1"))
    session.write(f"Created the table {name} of time series.")


def _only_ttl(given: Arguments, command: str, besides: tuple[str, ...]) -> None:
    """Refuse the flags that tables of time series have not."""
    for flag, _ in given.pairs:
        if flag not in ("--ttl", *besides):
            raise TsUsage(f"{command}: a table of time series has no {flag}")


def _ttl(word: str) -> int:
    return -1 if word == "-1" else parse_seconds("--ttl", word)


def _use(session: TsSession, given: Arguments) -> None:
    if given.has("--ts"):
        session.use(session.series(given.get("--table")), of_series=True)
        session.write(f"Using {session.table}, a table of time series.")
        return
    session.use(session.facts(given.get("--table")).name)
    session.write(f"Using {session.table}.")


def _list(session: TsSession, given: Arguments) -> None:
    one_kind = given.has("--wc") or given.has("--ts")
    names: list[str] = []
    if given.has("--wc") or given.has("--all") or not one_kind:
        names += list_tables(session.client)
    if given.has("--ts") or given.has("--all") or not one_kind:
        names += list_series_tables(session.client)
    if not names:
        session.write(f"No table in the instance {session.endpoint.instance}.")
        return
    grid = Grid(("TableName",), [[name] for name in sorted(names)])
    session.show(grid)


def _of_series(session: TsSession, named: str | None) -> bool:
    """Whether the table of this name, or the one in use, is one of time series."""
    if not named or named == session.table:
        return session.of_series
    return is_series_table(session.client, named)


def _describe(session: TsSession, given: Arguments) -> None:
    named = given.get("--table")
    if _of_series(session, named):
        document = series_table_document(session.client, named or session.table)
    else:
        name = session.facts(named).name
        document = definition_json(describe_table(session.client, name))
    text = json.dumps(document, ensure_ascii=False, indent=4)
    if not given.has("--output"):
        session.write(text)
        return
    path = given.get("--output") or ""
    try:
        Path(path).write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror or error}") from error
    session.write(f"Written to {path}.")


def _alter(session: TsSession, given: Arguments) -> None:
    named = given.get("--table")
    if _of_series(session, named):
        name = named or session.table
        _only_ttl(given, "alter", ("--table",))
        if not given.has("--ttl"):
            raise TsUsage("nothing to change: give --ttl")
        change_series_table(session.client, name, _ttl(given.get("--ttl") or ""))
        session.write(f"Changed the table {name}.")
        return
    name = named or session.facts().name
    if not change_table(session.client, name, _given(given)):
        raise TsUsage("nothing to change: give --ttl, --version, --read_cu or --write_cu")
    session.write(f"Changed the table {name}.")


def _drop(session: TsSession, given: Arguments) -> None:
    name = given.get("--table") or ""
    if not given.has("--yes"):
        if session.ask is None:
            raise TsUsage(f"drop {name} deletes all its rows; nobody can be asked here: give -y")
        if not _of_series(session, name):
            session.facts(name)  # nobody is asked about a table that is not there
        if session.ask(f"Drop the table {name} with all its rows? [y/N] ").lower() not in (
            "y",
            "yes",
        ):
            session.write("Nothing was dropped.")
            return
    if _of_series(session, name):
        drop_series_table(session.client, name)
    else:
        _drop_rows(session, name)
    if session.table == name:
        session.use("")
    session.write(f"Dropped the table {name}.")


def _drop_rows(session: TsSession, name: str) -> None:
    indexes = search_indexes_of(session.client, name)
    if indexes:
        raise CommandFailed(
            f"{name} has search indexes, which have to go first: "
            + "; ".join(f"drop_search_index -t {name} -n {each}" for each in indexes)
        )
    send_drop(session.client, name)


def _splits(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    request = m.ComputeSplitPointsBySizeRequest(
        table_name=table.name, split_size=int32_of(given, "--size") or 1
    )
    answer = session.client.call(
        "ComputeSplitPointsBySize", request, m.ComputeSplitPointsBySizeResponse
    )
    points = [shown_value(decode_rows(each)[0].key[0][1]) for each in answer.split_points]
    bounds = ["-inf", *points, "+inf"]
    places = [str(each.location) for each in answer.locations for _ in range(each.repeat)]
    places += [""] * (len(bounds) - 1 - len(places))
    lines = [
        [begin, end, place] for begin, end, place in zip(bounds, bounds[1:], places, strict=False)
    ]
    grid = Grid((f"{table.key[0].name} from", "to", "location"), lines)
    session.show(grid)


def _names(text: str | None) -> list[str]:
    """Names of columns, with commas between them or as a JSON list."""
    if not (text or "").startswith("["):
        return listed(text)
    try:
        names = json.loads(text or "")
    except ValueError as error:
        raise WordInvalid(f"{text} is not a JSON list of names: {error}") from error
    return [str(name) for name in names]


def _create_index(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    kind = (given.get("--index_type") or "global").lower()
    if kind not in _INDEX_NUMBERS:
        raise TsUsage(f"--index_type {kind}: it is global or local")
    number = _INDEX_NUMBERS[kind]
    index = m.IndexMeta(
        name=given.get("--name"),
        primary_key=_names(given.get("--pk")),
        defined_column=_names(given.get("--attr")),
        index_update_mode=number,
        index_type=number,
    )
    request = m.CreateIndexRequest(
        main_table_name=table.name, index_meta=index, include_base_data=True
    )
    session.client.call_once("CreateIndex", request, m.CreateIndexResponse)
    session.write(f"Created the index {given.get('--name')} of {table.name}.")


def _drop_index(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    request = m.DropIndexRequest(main_table_name=table.name, index_name=given.get("--name"))
    session.client.call_once("DropIndex", request, m.DropIndexResponse)
    session.write(f"Dropped the index {given.get('--name')} of {table.name}.")


# --- tunnels -------------------------------------------------------------------------------------


def _create_tunnel(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    mode = (given.get("--mode") or "").lower()
    if mode not in _TUNNEL_TYPES:
        raise TsUsage(f"--mode {mode}: it is one of {', '.join(_TUNNEL_TYPES)}")
    tunnel = t.Tunnel(
        table_name=table.name, tunnel_name=given.get("--name"), tunnel_type=_TUNNEL_TYPES[mode]
    )
    answer = session.client.call_once(
        "tunnel/create", t.CreateTunnelRequest(tunnel=tunnel), t.CreateTunnelResponse
    )
    session.write(f"Created the tunnel {given.get('--name')}: {answer.tunnel_id!s}")


def _list_tunnels(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    found = tunnel_documents(session.client, table.name)
    if not found:
        session.write(f"No tunnel of {table.name}.")
        return
    lines = [[each["name"], each["id"], each["type"], each["stage"]] for each in found]
    grid = Grid(("TunnelName", "TunnelId", "TunnelType", "Stage"), lines)
    session.show(grid)


def _describe_tunnel(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    wanted = given.get("--name")
    for each in tunnel_documents(session.client, table.name):
        if each["name"] == wanted:
            session.write(json.dumps(each, ensure_ascii=False, indent=4))
            return
    raise CommandFailed(f"{table.name} has no tunnel {wanted}; `list_tunnel` shows those it has")


def _drop_tunnel(session: TsSession, given: Arguments) -> None:
    table = session.facts(given.get("--table"))
    request = t.DeleteTunnelRequest(table_name=table.name, tunnel_name=given.get("--name"))
    session.client.call_once("tunnel/delete", request, t.DeleteTunnelResponse)
    session.write(f"Dropped the tunnel {given.get('--name')}.")


CREATE: Final = TsCommand(
    name="create",
    description="Makes a table.",
    run=_create,
    flags=(
        ShellFlag("--table", "NAME", "its name", short="-t"),
        ShellFlag(
            "--pk",
            "JSON",
            '[{"c":"uid","t":"string"},{"c":"n","t":"integer","opt":"auto"}]',
            short="-k",
        ),
        *_OPTIONS,
        ShellFlag("--input", "FILE", "a file with the definition, as desc writes it", short="-i"),
        ShellFlag("--mode", "widecolumn|timeseries", "widecolumn if not given", short="-m"),
    ),
    example="""create -t people -k '[{"c":"uid","t":"string"},{"c":"pid","t":"integer"}]'""",
)
USE: Final = TsCommand(
    name="use",
    description="Uses a table: commands on rows are about it.",
    run=_use,
    flags=(
        _TABLE,
        ShellFlag("--wc", "", "a table of wide columns, as without it"),
        ShellFlag("--ts", "", "a table of time series"),
    ),
    example="use -t mytable",
)
LIST: Final = TsCommand(
    name="list",
    description="Shows the names of all tables.",
    run=_list,
    flags=(
        ShellFlag("--all", "", "all tables, as without it", short="-a"),
        ShellFlag("--wc", "", "tables of wide columns", short="-w"),
        ShellFlag("--ts", "", "tables of time series", short="-t"),
    ),
    aliases=("lt",),
)
DESCRIBE: Final = TsCommand(
    name="desc",
    description="Shows the definition of a table as JSON, which create -i reads.",
    run=_describe,
    flags=(_TABLE_IN_USE, ShellFlag("--output", "FILE", "write it to a file", short="-o")),
    example="desc -t mytable -o mytable.json",
)
ALTER: Final = TsCommand(
    name="alter",
    description="Changes the options of a table.",
    run=_alter,
    flags=(_TABLE_IN_USE, *_OPTIONS),
    example="alter -t mytable --ttl 86400 --version 3",
)
DROP: Final = TsCommand(
    name="drop",
    description="Drops a table with all its rows.",
    run=_drop,
    flags=(_TABLE, ShellFlag("--yes", "", "do not ask", short="-y")),
    example="drop -t mytable -y",
)
GET_SPLITS: Final = TsCommand(
    name="get_splits",
    description="Shows between which values of the partition key so many bytes lie.",
    run=_splits,
    flags=(ShellFlag("--size", "N", "hundreds of MB; 1 if not given", short="-s"), _TABLE_IN_USE),
    aliases=("points",),
)
CREATE_INDEX: Final = TsCommand(
    name="create_index",
    description="Makes a secondary index, built from the rows that are there.",
    run=_create_index,
    flags=(
        _TABLE_IN_USE,
        _NAME,
        ShellFlag("--index_type", "global|local", "global if not given", short="-i"),
        ShellFlag("--pk", "A,B", "its columns, in order", required=True, short="-k"),
        ShellFlag("--attr", "A,B", "columns that it has besides", short="-a"),
    ),
    example="create_index -n by_city -k city -a name",
)
DROP_INDEX: Final = TsCommand(
    name="drop_index",
    description="Drops a secondary index.",
    run=_drop_index,
    flags=(_TABLE_IN_USE, _NAME),
)
CREATE_TUNNEL: Final = TsCommand(
    name="create_tunnel",
    description="Makes a tunnel.",
    run=_create_tunnel,
    flags=(
        _TABLE_IN_USE,
        _NAME,
        ShellFlag("--mode", "|".join(_TUNNEL_TYPES), "what it delivers", required=True, short="-m"),
    ),
    example="create_tunnel -t mytable -n audit -m base_and_stream",
)
LIST_TUNNEL: Final = TsCommand(
    name="list_tunnel",
    description="Shows the tunnels of a table.",
    run=_list_tunnels,
    flags=(_TABLE_IN_USE,),
)
DESCRIBE_TUNNEL: Final = TsCommand(
    name="describe_tunnel",
    description="Shows a tunnel and its channels as JSON.",
    run=_describe_tunnel,
    flags=(_TABLE_IN_USE, _NAME),
)
DROP_TUNNEL: Final = TsCommand(
    name="drop_tunnel",
    description="Drops a tunnel.",
    run=_drop_tunnel,
    flags=(_TABLE_IN_USE, _NAME),
)
