"""`widerow table`: make, list, show, change and drop tables."""

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from widerow.cli.answers import tell
from widerow.cli.command import (
    JSON_OUTPUT,
    CommandFailed,
    Flag,
    Given,
    Positional,
    command,
    group,
    switch,
)
from widerow.cli.flags import listed, server_flags
from widerow.cli.names import TABLE_NAME
from widerow.cli.tablestore.asking import open_client
from widerow.cli.tablestore.documents import described_table, table_lines
from widerow.cli.tablestore.output import confirmed, note
from widerow.cli.tablestore.search_indexes import drop_search_index, search_indexes_of
from widerow.cli.tablestore.words import WordInvalid
from widerow.client.connection import Client
from widerow.client.failures import Refused
from widerow.client.tables import NoSuchTable, about_table, known_table, list_tables
from widerow.limits import INT32_MAX
from widerow.transfer.columns import kind_named
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.errors.codes import OBJECT_ALREADY_EXIST

__all__ = [
    "TABLE_COMMANDS",
    "change_table",
    "describe_table",
    "parse_seconds",
    "send_drop",
    "table_request",
]

_KEY_TYPES: Final = {"integer": 1, "string": 2, "binary": 3}
_DEFINED_TYPES: Final = {"integer": 1, "double": 2, "boolean": 3, "string": 4, "binary": 7}
_AUTO: Final = "auto"
_FOR_EVER: Final = -1
_DURATION: Final = re.compile(r"(?P<number>[0-9]{1,10})(?P<unit>[smhd]?)")
_UNIT_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_TRUTHS: Final = {"true": True, "false": False}
_NO: Final = 1


# --- requests ------------------------------------------------------------------------------------


def table_request(name: str, key: Sequence[str], given: Given) -> m.CreateTableRequest:
    """The request that makes a table of these words. Raises: `WordInvalid`."""
    request = m.CreateTableRequest(
        table_meta=m.TableMeta(table_name=name, primary_key=[_key_column(word) for word in key]),
        reserved_throughput=m.ReservedThroughput(
            capacity_unit=m.CapacityUnit(
                read=given.get("reserved_read") or 0, write=given.get("reserved_write") or 0
            )
        ),
    )
    request.table_options.time_to_live = _FOR_EVER
    request.table_options.max_versions = 1
    for word in listed(given.get("define")):
        request.table_meta.defined_column.append(_defined_column(word))
    _put_options(request.table_options, given)
    if given.get("stream") is not None:
        request.stream_spec.CopyFrom(_stream(given["stream"]))
    return request


def _key_column(word: str) -> m.PrimaryKeySchema:
    name, _, kind = word.partition(":")
    kind, _, option = kind.partition(":")
    told = kind_named(kind)
    if not name or told not in _KEY_TYPES or option not in ("", _AUTO):
        raise WordInvalid(
            f"{word!r}: a key column is NAME:TYPE with string, integer or binary, and "
            "NAME:integer:auto where the server is to count up"
        )
    column = m.PrimaryKeySchema(name=name, type=_KEY_TYPES[told])
    if option:
        column.option = 1
    return column


def _defined_column(word: str) -> m.DefinedColumnSchema:
    name, _, kind = word.rpartition(":")
    told = kind_named(kind)
    if not name or told is None:
        raise WordInvalid(
            f"--define {word!r}: write NAME:TYPE; the types are {', '.join(_DEFINED_TYPES)}"
        )
    return m.DefinedColumnSchema(name=name, type=_DEFINED_TYPES[told])


def _put_options(options: m.TableOptions, given: Given) -> bool:
    """Set the options that are given; whether there was any. Raises: `WordInvalid`."""
    if given.get("ttl") is not None:
        options.time_to_live = parse_seconds("--ttl", given["ttl"])
    if given.get("max_versions") is not None:
        options.max_versions = given["max_versions"]
    if given.get("max_version_offset") is not None:
        offset = parse_seconds("--max-version-offset", given["max_version_offset"])
        options.deviation_cell_version_in_sec = offset
    if given.get("allow_update") is not None:
        truth = _TRUTHS.get(given["allow_update"].lower())
        if truth is None:
            raise WordInvalid(f"--allow-update {given['allow_update']}: write true or false")
        options.allow_update = truth
    names = ("ttl", "max_versions", "max_version_offset", "allow_update")
    return any(given.get(name) is not None for name in names)


def parse_seconds(flag: str, word: str) -> int:
    """Seconds of `90d`, `12h`, `30m`, `45s` or a number; -1 for never. Raises: `WordInvalid`."""
    if word.lower() in ("never", "-1"):
        return _FOR_EVER
    found = _DURATION.fullmatch(word)
    seconds = int(found["number"]) * _UNIT_SECONDS[found["unit"]] if found else INT32_MAX + 1
    if seconds > INT32_MAX:
        raise WordInvalid(f"{flag} {word}: write seconds, or 45s, 30m, 12h, 90d; never for no end")
    return seconds


def _stream(word: str) -> m.StreamSpecification:
    if word.lower() == "off":
        return m.StreamSpecification(enable_stream=False)
    if not (word.isascii() and word.isdigit() and len(word) < 6):
        raise WordInvalid(f"--stream {word}: write hours that changes are kept, or off")
    return m.StreamSpecification(enable_stream=True, expiration_time=int(word))


# --- what the commands do ------------------------------------------------------------------------


def _create(name: str, key: Sequence[str], given: Given) -> int:
    request = table_request(name, key, given)
    with open_client(given) as client:
        try:
            client.call_once("CreateTable", request, m.CreateTableResponse)
        except Refused as error:
            if error.code != OBJECT_ALREADY_EXIST or not given["if_not_exists"]:
                raise
            there = {"table": name, "created": False}
            tell(given, there, lambda: note(f"{name} is there already"))
            return 0
    tell(given, {"table": name, "created": True}, lambda: note(f"made the table {name}"))
    return 0


def _list(given: Given) -> int:
    with open_client(given) as client:
        names = list_tables(client)
    tell(given, {"tables": names}, lambda: _show_names(names, given))
    return 0


def _show_names(names: Sequence[str], given: Given) -> None:
    sys.stdout.write("".join(f"{name}\n" for name in names))
    if not names and sys.stdout.isatty():
        note(f"no table in the instance {given['instance']} at {given['endpoint']}")


def describe_table(client: Client, name: str) -> dict[str, Any]:
    """What is known of a table, as JSON has it. Raises: `NoSuchTable`, `RequestFailed`."""
    request = m.DescribeTableRequest(table_name=name)
    with about_table(client, name):
        return described_table(client.call("DescribeTable", request, m.DescribeTableResponse))


def _show(name: str, given: Given) -> int:
    with open_client(given) as client:
        document = describe_table(client, name)
    tell(given, document, lambda: _show_table(document))
    return 0


def _show_table(document: dict[str, Any]) -> None:
    lines = [("table", document["name"]), *table_lines(document)]
    width = max(len(heading) for heading, _ in lines)
    sys.stdout.write("".join(f"{heading:<{width}}  {value}\n" for heading, value in lines))


def _update(name: str, given: Given) -> int:
    with open_client(given) as client:
        if not change_table(client, name, given):
            raise WordInvalid("nothing to change: see `widerow table update --help`")
    tell(given, {"table": name, "changed": True}, lambda: note(f"changed {name}"))
    return 0


def change_table(client: Client, name: str, given: Given) -> bool:
    """Change what is given of a table; whether anything was.

    Raises: `WordInvalid`, `NoSuchTable`, `Refused`.
    """
    request = m.UpdateTableRequest(table_name=name)
    changed = _put_options(request.table_options, given)
    for kind in ("read", "write"):
        if given.get(f"reserved_{kind}") is not None:
            setattr(request.reserved_throughput.capacity_unit, kind, given[f"reserved_{kind}"])
            changed = True
    if given.get("stream") is not None:
        request.stream_spec.CopyFrom(_stream(given["stream"]))
        changed = True
    added = [_defined_column(word) for word in listed(given.get("define"))]
    removed = listed(given.get("undefine"))
    with about_table(client, name):
        if changed:
            client.call_once("UpdateTable", request, m.UpdateTableResponse)
        if added:
            more = m.AddDefinedColumnRequest(table_name=name, columns=added)
            client.call_once("AddDefinedColumn", more, m.AddDefinedColumnResponse)
        if removed:
            fewer = m.DeleteDefinedColumnRequest(table_name=name, columns=removed)
            client.call_once("DeleteDefinedColumn", fewer, m.DeleteDefinedColumnResponse)
    return bool(changed or added or removed)


def _drop(name: str, given: Given) -> int:
    """`widerow table drop`. Search indexes go first, which the question or a flag says."""
    with open_client(given) as client:
        try:
            return _dropped(client, name, given)
        except NoSuchTable:
            if not given["if_exists"]:
                raise
            document = {"table": name, "dropped": False, "search_indexes": []}
            tell(given, document, lambda: note(f"there is no table {name}"))
            return 0


def _dropped(client: Client, name: str, given: Given) -> int:
    """Drop a table, if who is asked says so. Raises: `NoSuchTable`, before anybody is asked."""
    if not given["yes"]:
        with suppress(Refused):  # who may not look may drop
            known_table(client, name)
    indexes = search_indexes_of(client, name)
    listing = ", ".join(indexes)
    if indexes and given["yes"] and not given["with_indexes"]:
        raise CommandFailed(
            f"the table {name} has search indexes, which have to go first: {listing}; "
            f"`widerow table drop {name} --with-indexes` drops them too"
        )
    besides = f" and its search indexes {listing}" if indexes else ""
    question = (
        f"Drop the table {name} of the instance {given['instance']} at {given['endpoint']}, "
        f"with all its rows{besides}?"
    )
    document: dict[str, Any] = {"table": name, "dropped": False, "search_indexes": []}
    if not confirmed(question, yes=given["yes"]):
        tell(given, document, lambda: note("nothing was dropped"))
        return _NO
    for each in indexes:
        drop_search_index(client, name, each)
        document["search_indexes"].append(each)
        note(f"dropped the search index {each}")
    send_drop(client, name)
    document["dropped"] = True
    tell(given, document, lambda: note(f"dropped the table {name}"))
    return 0


def send_drop(client: Client, name: str) -> None:
    """Drop a table with all its rows. Raises: `NoSuchTable`, `Refused`."""
    with about_table(client, name):
        client.call_once(
            "DeleteTable", m.DeleteTableRequest(table_name=name), m.DeleteTableResponse
        )


# --- the commands --------------------------------------------------------------------------------

_SERVER: Final = server_flags("The server; any that speaks Tablestore.")
_OPTIONS: Final = (
    Flag("ttl", "How long values live: 90d, 12h, seconds, or never.", "TIME"),
    Flag("max_versions", "Versions of each column that are kept.", "NUMBER", int),
    Flag(
        "max_version_offset",
        "How far a version may be from the server's time: 1d, or seconds.",
        "TIME",
    ),
    Flag("allow_update", "Whether rows may be updated in place: true or false.", "BOOL"),
    Flag("reserved_read", "Reserved read units.", "NUMBER", int),
    Flag("reserved_write", "Reserved write units.", "NUMBER", int),
    Flag("stream", "Keep changes for so many hours, or off.", "HOURS"),
    Flag("define", "Columns with a type, for indexes and defaults.", "A:TYPE,B:TYPE"),
)
_CREATE: Final = command(
    _create,
    TABLE_NAME,
    Positional(
        "key",
        "NAME:TYPE...",
        "Key columns in order: string, integer, binary; integer:auto counts up.",
        "+",
    ),
    *_OPTIONS,
    JSON_OUTPUT,
    switch("if_not_exists", "Be content with a table that is there."),
    *_SERVER,
    help="Make a table. Without options its rows live for ever, in one version.",
    examples="""
`widerow table create cards CardID:string OrderNumber:integer`
`widerow table create log host:string id:integer:auto --ttl 90d --max-versions 3`
`widerow table create people id:integer --define name:string,age:integer --stream 24`
Exit codes: 0 done, 2 it failed.
""",
)
_LIST: Final = command(
    _list,
    JSON_OUTPUT,
    *_SERVER,
    help="Show the names of the tables of an instance.",
    examples="""
`widerow table list` — one name on each line
`widerow table list --endpoint http://db:8087 --instance shop --json`
""",
)
_SHOW: Final = command(
    _show,
    TABLE_NAME,
    JSON_OUTPUT,
    *_SERVER,
    help="Show a table's key, columns, options and indexes.",
    examples="""
`widerow table show cards`
`widerow table show cards --json`
""",
)
_UPDATE: Final = command(
    _update,
    TABLE_NAME,
    *_OPTIONS,
    JSON_OUTPUT,
    Flag("undefine", "Columns that lose their type; their values stay.", "A,B"),
    *_SERVER,
    help="Change a table's options, stream, reserved units or defined columns.",
    examples="""
`widerow table update cards --ttl 365d --max-versions 5`
`widerow table update cards --define city:string --stream off`
""",
)
_DROP: Final = command(
    _drop,
    TABLE_NAME,
    switch("yes", "Do not ask."),
    JSON_OUTPUT,
    switch("if_exists", "Be content where there is no such table."),
    switch("with_indexes", "Drop its search indexes too, which have to go first."),
    *_SERVER,
    help="Drop a table with all its rows. Asks first on a terminal.",
    examples="""
`widerow table drop cards` — asks first
`widerow table drop cards --yes --if-exists` — for a script
`widerow table drop items --with-indexes --yes` — with its search indexes, which have to go first
Exit codes: 0 done, 1 the answer was no, 2 it failed.
""",
)
TABLE_COMMANDS: Final = group(
    "Example: `widerow table create cards CardID:string OrderNumber:integer`",
    {"create": _CREATE, "list": _LIST, "show": _SHOW, "update": _UPDATE, "drop": _DROP},
)
