"""`widerow advise keys`: candidates for the partition key, ranked."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Flag, Given, command
from widerow.cli.flags import (
    ENCODING,
    FILE_OF_ROWS,
    TABLE_OF_ROWS,
    TEXT_COLUMNS,
    TIME_COLUMN,
    listed,
)
from widerow.cli.partitions import fetch
from widerow.cli.places import no_table, require_store
from widerow.cli.progress import progress_bar
from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.engine import catalog_models
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.errors import NotFound
from widerow.keydesign.advisor import Advice, KeyAssessment, Question, Verdict, advise
from widerow.keydesign.candidate import CandidateKind
from widerow.keydesign.figures import decimal_size, percent
from widerow.keydesign.live import LiveFinding, judge_live
from widerow.keydesign.sketch import Estimate
from widerow.keydesign.spread import RANGES
from widerow.keydesign.table_source import WRITTEN, TableSource
from widerow.row_files.source import UTF_8, FileInvalid, FileSource, Source
from widerow.storage.opener import open_store

__all__ = ["ADVISE_KEYS"]

_SIZE: Final = re.compile(r"(?P<number>[0-9]+(?:[.][0-9]+)?) ?(?P<unit>[kMGT]?B?)")
_UNITS: Final = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_STYLES: Final = {
    Verdict.GOOD: "green",
    Verdict.FAIR: "cyan",
    Verdict.TOO_LARGE: "yellow",
    Verdict.BAD: "red",
    Verdict.UNCLEAR: "dim",
}


def _advise_keys(given: Given) -> None:
    """Rank the columns of a file or of a table's key, or judge the key of a table in use.

    Raises: `WiderowError` for a source or a question that does not do.
    """
    if (given["input"] is None) == (given["table"] is None):
        raise FileInvalid("give a file with --input or a table with --table, one of them")
    if given["input"] is not None:
        source = FileSource(Path(given["input"]), given["encoding"])
        _advise(source, listed(given["columns"]), given)
    elif given["path"] is not None:
        _advise_stored(given)
    else:
        found = fetch(given["table"], {**given, "history": True})
        live = judge_live(found, _size(given["largest"]))
        tell(given, live.document(), lambda: _show_live(live))


def _advise_stored(given: Given) -> None:
    """Judge the key of a table by the rows in a store that no server has open."""
    directory = Path(given["path"])
    require_store(directory)
    with open_store(str(directory)) as store:
        tables = Tables(Catalog(store, catalog_models(TABLE_MODELS)), TABLESTORE_MODEL)
        try:
            table = tables.find(given["instance"], given["table"])
        except NotFound as error:
            raise no_table(given["table"], given["instance"], directory) from error
        source = TableSource(store, table)
        columns = listed(given["columns"]) or source.columns
        for column in columns:
            if column not in source.columns:
                has = ", ".join(source.columns)
                raise FileInvalid(f"{column} is not in the key of {table.name}; it has {has}")
        _advise(source, columns, {**given, "time": given["time"] or WRITTEN})


def _show_live(found: LiveFinding) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.text import Text  # noqa: PLC0415  # only to show something

    console = Console()
    style = _STYLES[found.verdict]
    console.print(Text(f"{found.key} of {found.table} is {found.verdict.value}", style=style))
    console.print(Text(f"{found.reason}."))
    console.print(
        f"{found.units:,} units in {found.seconds:,} s; partitions: {found.partitions}, the "
        f"largest of {decimal_size(found.largest_bytes)}."
    )
    for words in found.reports:
        console.print(Text(words))


def _advise(source: Source, columns: Sequence[str], given: Given) -> None:
    if not columns:
        raise FileInvalid("name the columns that may be the partition key with --columns")
    expected = given["expected_rows"]
    if expected is not None and expected < 1:
        raise FileInvalid(f"--expected-rows is a number of rows from 1 upwards, not {expected}")
    question = Question(
        tuple(columns),
        given["time"],
        tuple(listed(given["text"])),
        expected,
        _size(given["largest"]),
        given["seed"],
    )
    with progress_bar(f"reading {source.name}", 2 * source.total) as progress:
        advice = advise(source, question, progress)
    document = {"source": source.name, **advice.document()}
    tell(given, document, lambda: _print(advice, given["input"], given["encoding"]))


def _size(words: str) -> int:
    found = _SIZE.fullmatch(words.strip())
    if found is None:
        raise FileInvalid(f"--largest {words}: write a size as 10GB, 1GB or 500MB")
    return int(float(found["number"]) * _UNITS[found["unit"].removesuffix("B")])


def _print(advice: Advice, file: str | None, encoding: str) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # only to show something
    from rich.text import Text  # noqa: PLC0415  # only to show something

    columns = ("key", "verdict", "spread", "distinct", "top key", "Gini", "largest", "append")
    table = Table(*columns)
    for each in advice.findings:
        table.add_row(*map(Text, _cells(each)), style=_STYLES[each.verdict])
    console = Console()
    console.print(table)
    for each in advice.findings:
        console.print(Text(f"{each.candidate.name} is {each.verdict.value}: {_why(each)}."))
    for each in advice.findings:
        usable = each.verdict in {Verdict.GOOD, Verdict.FAIR}
        if file and usable and each.candidate.kind is not CandidateKind.COLUMN:
            command = each.candidate.command(file, advice.digits)
            command += "" if encoding == UTF_8 else f" --encoding {encoding}"
            console.print(Text(f"Try {command} --dry-run"), soft_wrap=True)


def _cells(finding: KeyAssessment) -> list[str]:
    found = finding.measures
    return [
        finding.candidate.name,
        finding.verdict.value,
        f"{found.spread:.0f}/{RANGES}",
        _about(found.distinct, f"{found.distinct.value:,.0f}"),
        _about(found.top_share, percent(found.top_share.value)),
        f"{found.gini:.2f}",
        _about(found.largest_bytes, decimal_size(found.largest_bytes.value)),
        percent(found.appended_share),
    ]


def _about(figure: Estimate, words: str) -> str:
    """The figure, marked where it is an estimate; JSON has how far it may be off."""
    return f"~{words}" if figure.error else words


def _why(finding: KeyAssessment) -> str:
    return finding.reason + (f"; {finding.remedy}" if finding.remedy else "")


ADVISE_KEYS: Final = command(
    _advise_keys,
    FILE_OF_ROWS,
    ENCODING,
    *TABLE_OF_ROWS,
    Flag(
        "columns",
        "Columns that may be the partition key; of a table, all of its key if not given.",
        "A,B,C",
    ),
    TIME_COLUMN,
    TEXT_COLUMNS,
    Flag(
        "expected_rows",
        "Rows that the table will have, to say how large its largest key grows; else those read.",
        "NUMBER",
        int,
    ),
    Flag(
        "largest", "Bytes advised for one partition key value: 10GB or 1GB.", "SIZE", default="10GB"
    ),
    Flag("seed", "Which sample of a long file to take for what happens in time.", "NUMBER", int, 0),
    JSON_OUTPUT,
    examples="""
`widerow advise keys --input p.csv --columns DeviceID,SellerID,CardID,OrderNumber --time Time`
`widerow advise keys --input p.csv --columns DeviceID,CardID --expected-rows 2000000000 --json`
`widerow advise keys --table purchases --instance campus` — by the load of a running server
`widerow advise keys --table purchases --path /srv/widerow` — by the rows of a store
""",
)
