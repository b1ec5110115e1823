"""`widerow partitions`: the partitions of a table, what they carry and what no split can help.

Of a running server by a signed request, of a store that nobody has open by reading it.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from widerow.cli.answers import print_document, tell
from widerow.cli.asking import NoAnswer, NotThere, ask_server, engine_of
from widerow.cli.command import JSON_OUTPUT, Flag, Given, command, switch
from widerow.cli.flags import server_flags
from widerow.cli.names import TABLE_NAME
from widerow.cli.places import no_table
from widerow.errors import NotFound

if TYPE_CHECKING:
    from widerow.engine.engine import Engine

__all__ = ["PARTITIONS", "fetch", "print_partitions"]

Json = dict[str, Any]

_NAMESPACE: Final = "sysdefault"  # of typed tables whose name does not say one
_BAR: Final = 20  # characters for all of the load
_KEY_SHOWN: Final = 20  # characters of a key that a table with bars has room for at least
_MEASURED: Final = 10_000  # characters: wider than any terminal


def _partitions(table: str, given: Given) -> None:
    found = fetch(table, given)
    # The load of the past is for programs: no table of a terminal has room for it.
    tell(given, found, lambda: (print_document if given["history"] else print_partitions)(found))


def fetch(table: str, flags: Given) -> Json:
    """What is known of a table's partitions (docs/operating/partitions.md names the fields).

    `flags`: those of `widerow partitions`. Raises: `NoAnswer`, and `WiderowError` where a
    store cannot be opened.
    """
    places = _places(table, flags["instance"])
    if flags["path"] is not None:
        return _read(Path(flags["path"]), places, history=flags["history"])
    (owner, name), *others = places
    try:
        return _ask(name, {**flags, "instance": owner})
    except NotThere:
        for other, qualified in others:
            with suppress(NoAnswer):  # what is told is that the first place has none
                return _ask(qualified, {**flags, "instance": other})
        raise


def _places(table: str, instance: str) -> tuple[tuple[str, str], ...]:
    """Where a table may be: owner and name. Names of typed tables may hold colons and dots.

    A server shows typed tables to whoever may open the instance of their namespace's name.
    """
    namespace, colon, _ = table.partition(":")
    if colon:
        return ((namespace or _NAMESPACE, table if namespace else _NAMESPACE + table),)
    typed = (_NAMESPACE, f"{_NAMESPACE}:{table}")
    return (typed,) if "." in table else ((instance, table), typed)


# --- a running server --------------------------------------------------------------------------


def _ask(table: str, flags: Given) -> Json:
    return ask_server("WiderowPartitions", {"table": table, "history": flags["history"]}, flags)


# --- a store that nobody has open --------------------------------------------------------------


def _read(directory: Path, places: Sequence[tuple[str, str]], *, history: bool) -> Json:
    with engine_of(directory) as engine:
        try:
            place = _found(engine, places)
        except NotFound as error:
            owner, name = places[0]
            raise no_table(name, owner, directory) from error
        while engine.partitions.learn_sizes():
            pass
        return engine.describe_partitions(*place, history=history)


def _found(engine: "Engine", places: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Where the table is, which is made ready to be described. Raises `NotFound`."""
    place, *others = places
    try:
        engine.partitions.load_of(engine.find_partitioned(*place))
    except NotFound:
        for other in others:
            with suppress(NotFound):
                return _found(engine, (other,))
        raise
    return place


# --- showing -----------------------------------------------------------------------------------


def print_partitions(found: Json) -> None:
    """Show what `fetch` found on stdout.

    Where the terminal has no room for them, the bars are left out and the hottest keys stand below
    the table: 80 columns are enough, and nothing is cut.
    """
    console = Console()
    room = console.options.update(max_width=_MEASURED)
    keys = [_bound(row["start"]) for row in found["partitions"]]
    cut = [key[:_KEY_SHOWN] for key in keys]
    wide = console.measure(_table(found, cut, wide=True), options=room).maximum <= console.width
    console.print(_table(found, keys, wide=wide))
    for row, key in zip(found["partitions"], keys, strict=True):
        if not wide and row["top_keys"]:
            console.print(Text(f"hottest key from {key[:_KEY_SHOWN]}: {_hottest(row)}"))
    for kind in ("read", "write"):
        reserved, consumed = found["reserved"][kind], found["consumed"][kind]
        more = found["additional"][kind]
        console.print(
            f"{kind} units: {consumed:,} consumed, {more:,.0f} of them above {reserved}/s"
        )
    for report in found["reports"]:
        words = (
            f"{report['reason']}: {report['words']}; {report['remedy']}. "
            f"Key {_bound(report['key'])} (in the log: {report['key_hash']})"
        )
        console.print(Text(words, style="yellow"))


def _table(found: Json, keys: Sequence[str], *, wide: bool) -> Table:
    """The partitions, whose first keys are shown as `keys`; `wide` with bars and hottest keys."""
    rows = found["partitions"]
    shown = Table(
        title=Text(f"{found['name']}: {len(rows)} partition{'s' if len(rows) > 1 else ''}")
    )
    shown.add_column(Text(f"{found['key']['name']} from", overflow="fold"), overflow="fold")
    for heading in ("rows", "size", "read/s", "write/s"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("load", no_wrap=True)
    is_placed = any(row.get("servers") for row in rows)
    if is_placed:
        shown.add_column("server", overflow="fold")
    if wide:
        shown.add_column("hottest key", no_wrap=True)
    for row, key in zip(rows, keys, strict=True):
        cells = [
            _count(row["rows"]),
            _size(row["bytes"]),
            _rate(row["read_units_per_second"]),
            _rate(row["write_units_per_second"]),
            _bar(row["share"]) if wide else f"{row['share']:4.0%}",
            *([_servers(row)] if is_placed else []),
            *([_hottest(row)] if wide else []),
        ]
        shown.add_row(Text(key, overflow="fold"), *cells)
    return shown


def _hottest(row: Json) -> str:
    hottest = row["top_keys"][:1]
    return f"{hottest[0]['share']:.0%} {_bound(hottest[0]['key'])[:_KEY_SHOWN]}" if hottest else ""


def _servers(row: Json) -> str:
    """The server of a partition, or those of its parts."""
    return ", ".join(each["address"] for each in row["servers"])


def _count(number: int) -> str:
    """A number of at most seven digits, or of millions and more with their letter."""
    for least, unit, letter in ((10**12, 10**12, "T"), (10**9, 10**9, "G"), (10**7, 10**6, "M")):
        if number >= least:
            return f"{number / unit:,.1f}{letter}"
    return f"{number:,}"


def _rate(number: float) -> str:
    return f"{number:,.1f}" if number < 10**4 else f"{number / 1000:,.0f}k"


def _bound(value: int | str | dict[str, Any] | None) -> str:
    if value is None:
        return "INF_MIN"
    return ", ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} TiB"


def _bar(share: float) -> str:
    full, part = divmod(round(share * _BAR * 8), 8)
    return f"{share:4.0%} " + "█" * full + (" ▏▎▍▌▋▊▉"[part] if part else "")


PARTITIONS: Final = command(
    _partitions,
    TABLE_NAME,
    *server_flags(
        "The server to ask.", "The instance of the table; a typed table's is its namespace."
    ),
    Flag("path", "Read the store in this directory instead of asking a server.", "DIR"),
    switch("history", "With the load of the last hours, in JSON."),
    JSON_OUTPUT,
    examples="""
`widerow partitions purchases` — of the server at 127.0.0.1:8087, instance widerow
`widerow partitions purchases --endpoint http://db:8087 --instance shop --json`
`widerow partitions purchases --path /srv/widerow` — of a store that no server has open
`widerow partitions shop:users` — of a typed table, with its namespace
""",
)
