"""`widerow keys`, `widerow advise`, `widerow simulate`: their flags. What they do is elsewhere."""

from typing import Annotated, Any, Final

import typer

from widerow.cli.flags import ENCODING, JSON_OUTPUT, Flag, server_flags, with_flags

__all__ = ["SIMULATE_EXAMPLES", "advise_app", "keys_app", "simulate_command"]


def _group(words: str, example: str) -> typer.Typer:
    return typer.Typer(
        help=words,
        epilog=f"Example: `{example}`",
        no_args_is_help=True,
        rich_markup_mode="markdown",
    )


keys_app: Final = _group(
    "Build partition keys from several columns, and take them apart again.",
    "widerow keys splice --help",
)
advise_app: Final = _group(
    "Say what would make a table better or cheaper.", "widerow advise keys --table purchases"
)

_INPUT: Final = Flag("input", str, "Rows to read: .csv .tsv .jsonl or .parquet.", "FILE")
_FILE: Final = Flag("input", str, "Rows to read: .csv .tsv .jsonl or .parquet.", "FILE", None)
_COLUMNS: Final = Flag("columns", str, "Columns of the key, in their order.", "A,B,C")
_CONNECTOR: Final = Flag(
    "connector", str, "The character between two columns; '' for none.", "CHARACTER", ","
)
_PAD: Final = Flag(
    "pad",
    str,
    "Integers to fill up with zeros, and to how many digits; without a number, as many as the "
    "largest in the file has.",
    "A=6,B",
    None,
)
_TEXT: Final = Flag(
    "text", str, "Columns that are texts even if they look like integers.", "A", None
)
_DIGITS: Final = Flag("digits", int, "Digits of the hash to take.", "NUMBER", 4)
_OF: Final = Flag(
    "of", str, "Hash these leading columns only, so that their rows stay together.", "A,B", None
)
_LINE_FEED: Final = Flag(
    "line_feed", bool, "Hash a line feed behind the text, as `echo … | md5sum` does.", default=False
)
_TABLE: Final = (
    Flag("table", str, "A table instead: of a running server, or with --path.", "NAME", None),
    *server_flags("The server to ask."),
    Flag("path", str, "Read the store in this directory, which no server has open.", "DIR", None),
)
_TIME: Final = Flag(
    "time", str, "When a row was written; without it, the rows stand in that order.", "A", None
)
_ALPHABET: Final = Flag(
    "alphabet",
    str,
    "What the texts of a column are made of, as COLUMN=0-9A-Za-z; may be repeated. Else: digits, "
    "letters and what is in the file.",
    "COLUMN=CHARACTERS",
    [],
)
_BUILD: Final = (
    _INPUT,
    ENCODING,
    _COLUMNS,
    _CONNECTOR,
    _PAD,
    _TEXT,
    _ALPHABET,
    Flag("name", str, "What to call the new column.", "COLUMN", None),
    Flag(
        "output", str, "File to write, in the format of its name; else CSV on stdout.", "FILE", None
    ),
    Flag(
        "spreadsheet",
        bool,
        "Put an apostrophe before texts that a spreadsheet would compute; else nothing is changed.",
        default=False,
    ),
    Flag(
        "dry_run", bool, "Write nothing; show what would happen to order and ranges.", default=False
    ),
    Flag("rows", int, "Rows to look at in a dry run.", "NUMBER", 100_000),
    JSON_OUTPUT,
)

_SPLICE_EXAMPLES: Final = """Examples:

`widerow keys splice --input p.csv --columns DeviceID,SellerID,CardID --connector : --dry-run`

`widerow keys splice --input p.csv --columns DeviceID,CardID --pad DeviceID=6 --output s.csv`
"""
_HASH_EXAMPLES: Final = """Examples:

`widerow keys hash --input p.csv --columns OrderNumber --hash md5 --digits 4 --dry-run`

`widerow keys hash --input p.csv --columns DeviceID,CardID --of DeviceID --output h.jsonl`
"""
_PARSE_EXAMPLES: Final = """Examples:

`widerow keys parse --columns DeviceID,SellerID --pad DeviceID=6 000054,a100 000167,a101`

`widerow keys parse --columns OrderNumber --hash md5 --input h.csv --name HashOrderNumber`
"""


@keys_app.command("splice", epilog=_SPLICE_EXAMPLES)
@with_flags(*_BUILD)
def _splice(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Splice columns into one key, with a connector and zeros in front of integers."""
    from widerow.cli.keys import build_keys  # noqa: PLC0415  # only this command

    build_keys(given, hashed=None)


@keys_app.command("hash", epilog=_HASH_EXAMPLES)
@with_flags(
    Flag("hash", str, "The hash, by its name in Python's hashlib.", "NAME", "md5"),
    _DIGITS,
    _OF,
    _LINE_FEED,
    *_BUILD,
)
def _hash(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Put the first digits of a hash in front of a key, so that neighbours are scattered."""
    from widerow.cli.keys import build_keys  # noqa: PLC0415  # only this command

    build_keys(given, hashed=given["hash"])


@keys_app.command("parse", epilog=_PARSE_EXAMPLES)
@with_flags(
    _COLUMNS,
    Flag("integers", str, "Columns that are integers without zeros in front.", "A,B", None),
    _CONNECTOR,
    Flag("pad", str, "Integers with zeros in front, and their digits.", "A=6,B=4", None),
    Flag("hash", str, "The hash in front of the keys; none if not given.", "NAME", None),
    _DIGITS,
    _OF,
    _LINE_FEED,
    Flag("input", str, "Rows with a key to take apart, instead of keys as words.", "FILE", None),
    ENCODING,
    Flag("name", str, "The column of that file that holds the key.", "COLUMN", None),
    Flag("output", str, "File to write; else CSV on stdout.", "FILE", None),
    JSON_OUTPUT,
)
def _parse(
    keys: Annotated[list[str] | None, typer.Argument(metavar="KEY...", help="Keys.")] = None,
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Take keys apart into the columns that they were built of."""
    from widerow.cli.keys import parse_keys  # noqa: PLC0415  # only this command

    parse_keys(keys or [], given)


_ADVISE_EXAMPLES: Final = """Examples:

`widerow advise keys --input p.csv --columns DeviceID,SellerID,CardID,OrderNumber --time Time`

`widerow advise keys --input p.csv --columns DeviceID,CardID --expected-rows 2000000000 --json`

`widerow advise keys --table purchases --instance campus` — by the load of a running server

`widerow advise keys --table purchases --path /srv/widerow` — by the rows of a store
"""


@advise_app.callback()
def _advise() -> None:
    """Say what would make a table better or cheaper: its key, its expiry, its requests."""


@advise_app.command("keys", epilog=_ADVISE_EXAMPLES)
@with_flags(
    _FILE,
    ENCODING,
    *_TABLE,
    Flag(
        "columns",
        str,
        "Columns that may be the partition key; of a table, all of its key if not given.",
        "A,B,C",
        None,
    ),
    _TIME,
    _TEXT,
    Flag(
        "expected_rows",
        int,
        "Rows that the table will have, to say how large its largest key grows; else those read.",
        "NUMBER",
        None,
    ),
    Flag("largest", str, "Bytes advised for one partition key value: 10GB or 1GB.", "SIZE", "10GB"),
    Flag("seed", int, "Which sample of a long file to take for what happens in time.", "NUMBER", 0),
    JSON_OUTPUT,
)
def _advise_keys(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Rank partition keys by how data and accesses are spread, and say why."""
    from widerow.cli.advise import advise_keys  # noqa: PLC0415  # only this command

    advise_keys(given)


_TTL_EXAMPLES: Final = """Examples:

`widerow advise ttl shop orders` — one table of the instance shop

`widerow advise ttl shop --old-days 90 --json` — all of its tables

`widerow advise ttl shop orders --recording monday` — and which versions a workload reads
"""


@advise_app.command("ttl", epilog=_TTL_EXAMPLES)
@with_flags(
    Flag("rows", int, "Rows of a table to read.", "NUMBER", 10_000),
    Flag("seconds", float, "Seconds that reading a table may take.", "SECONDS", 30.0),
    Flag("old_days", int, "Days after which a row that nobody wrote is old.", "DAYS", 365),
    Flag("recording", str, "What `widerow proxy` recorded of the tables' use.", "DIR", None),
    *server_flags("The server; any that speaks Tablestore."),
    JSON_OUTPUT,
)
def _advise_ttl(
    place: Annotated[
        str | None, typer.Argument(metavar="INSTANCE", help="The instance, as --instance.")
    ] = None,
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="The table; all if left out.")
    ] = None,
    **given: Any,  # noqa: ANN401  # by name, as the table has them
) -> None:
    """Sample tables and say what expiry and fewer versions would give back."""
    from widerow.cli.advise_expiry import advise_ttl  # noqa: PLC0415  # only this command

    advise_ttl(table, given if place is None else {**given, "instance": place})


_COST_EXAMPLES: Final = """Examples:

`widerow advise cost --recording monday` — what `widerow proxy --mode record` wrote

`widerow advise cost --recording monday --price-read 0.01 --price-write 0.02 --json`

`widerow advise cost --live http://127.0.0.1:8087 --seconds 60` — a running widerow, by its counters
"""
_PRICE: Final = "Price of 10 000 {} units."


@advise_app.command("cost", epilog=_COST_EXAMPLES)
@with_flags(
    Flag("recording", str, "What `widerow proxy` recorded.", "DIR", None),
    Flag("live", str, "A running widerow, whose counters are read each second.", "URL", None),
    Flag("seconds", int, "How long to look at a running widerow.", "SECONDS", 10),
    Flag("dearest", int, "How many of the most expensive requests to show.", "NUMBER", 10),
    Flag("price_read", float, _PRICE.format("read"), "PRICE", None),
    Flag("price_write", float, _PRICE.format("write"), "PRICE", None),
    Flag("price_storage", float, "Price of a gigabyte for a month.", "PRICE", None),
    JSON_OUTPUT,
)
def _advise_cost(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Add up the capacity units of a workload, by table, action and second."""
    from widerow.cli.advise_cost import advise_cost  # noqa: PLC0415  # only this command

    advise_cost(given)


SIMULATE_EXAMPLES: Final = """Examples:

`widerow simulate --nodes 4 --input p.csv --column OrderNumber --time Time --svg order.svg`

`widerow simulate --nodes 8 --input p.csv --column CardID --units-per-second 20000 --json`

`widerow simulate --nodes 4 --table purchases --instance campus --png load.png` — what was recorded
"""


@with_flags(
    Flag("nodes", int, "Nodes that serve the partitions.", "NUMBER"),
    _FILE,
    ENCODING,
    Flag("column", str, "The column of the file that is the partition key.", "A", None),
    *_TABLE,
    _TIME,
    Flag("units_per_second", float, "Write units per second, over all keys.", "NUMBER", 4000.0),
    Flag("minutes", float, "How long the replay takes, in its own time.", "NUMBER", 60.0),
    Flag(
        "rhythm",
        bool,
        "Keep the rhythm of the times; else the rows come at a steady rate in their order.",
        default=False,
    ),
    Flag("expected_rows", int, "Rows that the file stands for, for sizes.", "NUMBER", None),
    Flag(
        "split_units",
        float,
        "Units per second that split a partition; as the server has it, or 1000.",
        "NUMBER",
        None,
    ),
    Flag("seed", int, "Where partitions begin, and which sample of a long file.", "NUMBER", 0),
    Flag("svg", str, "Draw the heat map as SVG.", "FILE", None),
    Flag("png", str, "Draw the heat map as PNG.", "FILE", None),
    JSON_OUTPUT,
)
def simulate_command(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Replay a load on nodes: skew, splits, merges and moves over time."""
    from widerow.cli.simulate import simulate_load  # noqa: PLC0415  # only this command

    simulate_load(given)
