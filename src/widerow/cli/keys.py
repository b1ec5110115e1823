"""`widerow keys`: partition keys built from columns, tried out, and taken apart."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from widerow.cli.answers import print_row, tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, Positional, command, group, switch
from widerow.cli.flags import ENCODING, TEXT_COLUMNS, listed
from widerow.cli.progress import progress_bar
from widerow.keydesign.alphabet import Alphabet
from widerow.keydesign.dry_run import DryRun, Rehearsal, rehearse
from widerow.keydesign.key import (
    HashPrefix,
    KeyDesign,
    KeyDesignInvalid,
    KeyPart,
    KeyRefused,
    PartKind,
    PartValue,
)
from widerow.keydesign.rewrite import disarmed, parse_column, splice_columns, write_records
from widerow.keydesign.sample import accesses, key_values, kinds
from widerow.row_files.source import FileInvalid, FileSource, Source

__all__ = ["KEYS_COMMANDS"]

_OTHERS_SHOWN: Final = 2  # columns beside the key in the tables of a dry run


def _build(given: Given) -> None:
    """Splice columns of a file, with a hash in front if one is named, or show what that would do.

    Raises: `WiderowError` for a design, a file or a row that does not do.
    """
    hashed: str | None = given.get("hash")
    source = FileSource(Path(given["input"]), given["encoding"])
    columns = listed(given["columns"])
    types = kinds(source, columns, listed(given["text"]))
    pads = _pads(given["pad"], columns)
    widths = _widths(source, types, pads) if None in pads.values() else pads
    parts = tuple(KeyPart(name, types[name], widths.get(name)) for name in columns)
    design = KeyDesign(parts, given["connector"], _prefix(hashed, given, columns))
    name = given["name"] or ("Hash" if hashed else "Combine") + "".join(columns)
    if given["dry_run"]:
        run = _rehearse(source, design, given)
        tell(given, {"column": name, **run.document()}, lambda: _show(run, name, source))
        return
    printed = not given["output"]
    with progress_bar(f"splicing {source.name}", source.total, prints_rows=printed) as progress:
        records = splice_columns(source, design, name, progress)
        _write(disarmed(records) if given["spreadsheet"] else records, given)


def _parse(keys: Sequence[str], given: Given) -> None:
    """Take keys apart: those of the command line, or those of a column of a file.

    Raises: `WiderowError` for a key that the design did not make.
    """
    columns = listed(given["columns"])
    pads, integers = _pads(given["pad"], columns), listed(given["integers"])
    for name in integers:
        _check_column(name, columns)
    if None in pads.values():
        raise KeyDesignInvalid("--pad needs the number of digits here, as in A=6")
    parts = tuple(
        KeyPart(name, PartKind.INTEGER, pads.get(name))
        if name in pads or name in integers
        else KeyPart(name)
        for name in columns
    )
    design = KeyDesign(parts, given["connector"], _prefix(given["hash"], given, columns))
    if not given["input"]:
        _tell_parsed(keys, design, given)
        return
    if keys or not given["name"]:
        raise KeyDesignInvalid("with --input give --name, the column of the key, and no keys")
    source = FileSource(Path(given["input"]), given["encoding"])
    printed = not given["output"]
    with progress_bar(f"parsing {source.name}", source.total, prints_rows=printed) as progress:
        records = parse_column(source, design, given["name"], progress)
        _write(records, given)


def _write(records: Iterable[Mapping[str, Any]], given: Given) -> None:
    output = given["output"]
    if output:
        count = write_records(records, Path(output), sys.stdout)
        words = f"{count} rows written to {output}\n"
        tell(given, {"rows": count, "file": output}, lambda: sys.stderr.write(words))
    elif given["as_json"]:
        for fields in records:
            print_row(fields)
    else:
        write_records(records, None, sys.stdout)


def _check_column(name: str, columns: Sequence[str]) -> None:
    if name not in columns:
        raise KeyDesignInvalid(f"{name} is none of the columns {', '.join(columns)}")


def _pads(words: str | None, columns: Sequence[str]) -> dict[str, int | None]:
    """The widths of `A=6,B`; None where no number is given."""
    found: dict[str, int | None] = {}
    for word in listed(words):
        name, equals, digits = word.partition("=")
        _check_column(name, columns)
        if equals and not (digits.isascii() and digits.isdigit()):
            raise KeyDesignInvalid(f"--pad {word}: write it as {name}=6")
        found[name] = int(digits) if equals else None
    return found


def _widths(
    source: Source, types: Mapping[str, PartKind], pads: Mapping[str, int | None]
) -> dict[str, int | None]:
    """The widths, those not given taken from the largest value in the source."""
    wanted = {name: types[name] for name, width in pads.items() if width is None}
    longest = dict.fromkeys(wanted, 1)
    with progress_bar(f"measuring {source.name}", source.total) as progress:
        for access in accesses(source, wanted, progress=progress):
            for name, value in zip(wanted, access.values, strict=True):
                longest[name] = max(longest[name], len(str(value)))
    return {**pads, **longest}


def _prefix(algorithm: str | None, given: Given, columns: Sequence[str]) -> HashPrefix | None:
    if algorithm is None:
        return None
    over = listed(given["of"])
    if over != list(columns[: len(over)]):
        raise KeyDesignInvalid(f"--of takes leading columns of {', '.join(columns)}, in that order")
    return HashPrefix(algorithm, given["digits"], len(over) or None, given["line_feed"])


# --- the dry run ----------------------------------------------------------------------------------


def _rehearse(source: Source, design: KeyDesign, given: Given) -> DryRun:
    types = {part.column: part.kind for part in design.parts}
    if given["rows"] < 1:
        raise KeyDesignInvalid(f"--rows is 1 or more, not {given['rows']}")
    rows = []
    with progress_bar(f"reading {source.name}", source.total) as progress:
        for record in islice(source.records(None, progress), given["rows"]):
            others = [str(value) for key, value in record.fields.items() if key not in types]
            try:
                values = key_values(record.fields, types)
                design.build(values)
            except (KeyRefused, ValueError) as error:
                where = f"{source.name}, {source.place} {record.place}"
                raise FileInvalid(f"{where}: {error}") from error
            rows.append(Rehearsal(values, tuple(others[:_OTHERS_SHOWN])))
    return rehearse(design, rows, _alphabets(given["alphabet"], design.columns))


def _alphabets(words: Sequence[str], columns: Sequence[str]) -> dict[str, Alphabet]:
    found = {}
    for word in words:
        name, equals, characters = word.partition("=")
        _check_column(name, columns)
        if not equals:
            raise KeyDesignInvalid(f"--alphabet {word}: write it as {name}=0-9A-Za-z")
        found[name] = Alphabet.parsed(characters)
    return found


def _show(run: DryRun, name: str, source: Source) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.text import Text  # noqa: PLC0415  # only to show something

    console = Console()
    types = set(run.design.columns)
    fields = next(source.records()).fields
    others = [key for key in fields if key not in types][:_OTHERS_SHOWN]
    before = [[*map(str, row.values), *row.others] for row in run.before]
    after = [[key, *row.others] for key, row in run.after]
    console.print(_table("before", [*run.design.columns, *others], before))
    console.print(_table("after", [name, *others], after))
    console.print(_queries(run))
    for line in (*_reasons(run), *_verdict(run)):
        console.print(Text(line))


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:  # noqa: ANN401  # a table of rich
    from rich.table import Table  # noqa: PLC0415  # only to show something
    from rich.text import Text  # noqa: PLC0415  # only to show something

    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _queries(run: DryRun) -> Any:  # noqa: ANN401  # a table of rich
    rows = [(query.text, "works" if query.works else "breaks") for query in run.queries]
    return _table("range queries", ["range", ""], rows)


def _reasons(run: DryRun) -> list[str]:
    """Why each range works or breaks, with two rows that show it."""
    return [
        f"{query.reason[0].upper()}{query.reason[1:]}."
        + (f" Here {query.evidence}." if query.evidence else "")
        for query in run.queries
    ]


def _verdict(run: DryRun) -> list[str]:
    order = run.order
    if order.kept:
        seen = f"kept by all {order.rows} rows read"
    else:
        seen = f"lost for {order.inverted} of {order.rows - 1} pairs of neighbours"
    proved = (
        "kept by every key there can be" if run.proved else "not kept by every key there can be"
    )
    return [
        f"Order on the data: {seen}.",
        f"Order by proof:    {proved}.",
        *(f"Advice: {line}." for line in run.advice),
    ]


# --- taking apart ---------------------------------------------------------------------------------


def _tell_parsed(keys: Sequence[str], design: KeyDesign, given: Given) -> None:
    if not keys:
        raise KeyDesignInvalid("give keys to take apart, or a file with --input")
    rows: list[tuple[PartValue, ...]] = [design.parse(key) for key in keys]
    documents = [dict(zip(design.columns, row, strict=True)) for row in rows]
    tell(given, documents, lambda: _show_parsed(design, rows))


def _show_parsed(design: KeyDesign, rows: Sequence[Sequence[PartValue]]) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something

    Console().print(_table("", design.columns, [[*map(str, row)] for row in rows]))


# --- the commands --------------------------------------------------------------------------------

_INPUT: Final = Flag("input", "Rows to read: .csv .tsv .jsonl or .parquet.", "FILE", required=True)
_COLUMNS: Final = Flag("columns", "Columns of the key, in their order.", "A,B,C", required=True)
_CONNECTOR: Final = Flag(
    "connector", "The character between two columns; '' for none.", "CHARACTER", default=","
)
_PAD: Final = Flag(
    "pad",
    "Integers to fill up with zeros, and to how many digits; without a number, as many as the "
    "largest in the file has.",
    "A=6,B",
)
_DIGITS: Final = Flag("digits", "Digits of the hash to take.", "NUMBER", int, 4)
_OF: Final = Flag("of", "Hash these leading columns only, so that their rows stay together.", "A,B")
_LINE_FEED: Final = switch(
    "line_feed", "Hash a line feed behind the text, as `echo … | md5sum` does."
)
_ALPHABET: Final = Flag(
    "alphabet",
    "What the texts of a column are made of, as COLUMN=0-9A-Za-z; may be repeated. Else: digits, "
    "letters and what is in the file.",
    "COLUMN=CHARACTERS",
    default=[],
)
_BUILD: Final = (
    _INPUT,
    ENCODING,
    _COLUMNS,
    _CONNECTOR,
    _PAD,
    TEXT_COLUMNS,
    _ALPHABET,
    Flag("name", "What to call the new column.", "COLUMN"),
    Flag("output", "File to write, in the format of its name; else CSV on stdout.", "FILE"),
    switch(
        "spreadsheet",
        "Put an apostrophe before texts that a spreadsheet would compute; else nothing is changed.",
    ),
    switch("dry_run", "Write nothing; show what would happen to order and ranges."),
    Flag("rows", "Rows to look at in a dry run.", "NUMBER", int, 100_000),
    JSON_OUTPUT,
)
_SPLICE: Final = command(
    _build,
    *_BUILD,
    help="Splice columns into one key, with a connector and zeros in front of integers.",
    examples="""
`widerow keys splice --input p.csv --columns DeviceID,SellerID,CardID --connector : --dry-run`
`widerow keys splice --input p.csv --columns DeviceID,CardID --pad DeviceID=6 --output s.csv`
""",
)
_HASH: Final = command(
    _build,
    Flag("hash", "The hash, by its name in Python's hashlib.", "NAME", default="md5"),
    _DIGITS,
    _OF,
    _LINE_FEED,
    *_BUILD,
    help="Put the first digits of a hash in front of a key, so that neighbours are scattered.",
    examples="""
`widerow keys hash --input p.csv --columns OrderNumber --hash md5 --digits 4 --dry-run`
`widerow keys hash --input p.csv --columns DeviceID,CardID --of DeviceID --output h.jsonl`
""",
)
_PARSE: Final = command(
    _parse,
    Positional("keys", "KEY...", "Keys.", "*"),
    _COLUMNS,
    Flag("integers", "Columns that are integers without zeros in front.", "A,B"),
    _CONNECTOR,
    Flag("pad", "Integers with zeros in front, and their digits.", "A=6,B=4"),
    Flag("hash", "The hash in front of the keys; none if not given.", "NAME"),
    _DIGITS,
    _OF,
    _LINE_FEED,
    Flag("input", "Rows with a key to take apart, instead of keys as words.", "FILE"),
    ENCODING,
    Flag("name", "The column of that file that holds the key.", "COLUMN"),
    Flag("output", "File to write; else CSV on stdout.", "FILE"),
    JSON_OUTPUT,
    help="Take keys apart into the columns that they were built of.",
    examples="""
`widerow keys parse --columns DeviceID,SellerID --pad DeviceID=6 000054,a100 000167,a101`
`widerow keys parse --columns OrderNumber --hash md5 --input h.csv --name HashOrderNumber`
""",
)
KEYS_COMMANDS: Final = group(
    "Example: `widerow keys splice --help`", {"splice": _SPLICE, "hash": _HASH, "parse": _PARSE}
)
