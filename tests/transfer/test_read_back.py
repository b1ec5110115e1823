"""What was written in any form of file is read back as it was, whatever the texts hold."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import Result
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.volume import examples
from tests.transfer.conftest import Command

from widerow.client.connection import Client, Endpoint
from widerow.client.tables import known_table, make_target_table, scan_table
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.rows.plain_values import Row, VersionedValue
from widerow.system import SystemClock
from widerow.testing import WiderowServer

Widerow = Callable[..., Result]
VERSION = 1_700_000_000_000
ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
SUFFIXES = {"csv": ["--types", "k:string"], "jsonl": [], "parquet": []}
texts = st.text(st.sampled_from(ENDS + "ab=+-@\"',;\\\t \x00é"), max_size=8)


def exports(widerow: Widerow, folder: Path) -> list[str]:
    """A copy by each form of export."""
    for suffix, types in SUFFIXES.items():
        file = folder / f"rows.{suffix}"
        widerow("export", "t", "--output", file)
        widerow("import", suffix, "--input", file, "--create", *types)
    return list(SUFFIXES)


def shells(widerow: Widerow, folder: Path) -> list[str]:
    """A copy by the shell of the vendor, and by what `row scan` prints."""
    file = folder / "shell.jsonl"
    widerow("ts", "--table", "t", "export", "--output", file)
    widerow("ts", "--table", "shell", "import", "--input", file)
    scan = ("row", "scan", "t", "--max-versions", 3, "--output")
    for form in ("jsonl", "csv"):
        (folder / f"printed.{form}").write_bytes(widerow(*scan, form).stdout_bytes)
    widerow("row", "put", "printed", "--input", folder / "printed.jsonl")
    types = ["--types", "k:string"]
    widerow("import", "listed", "--input", folder / "printed.csv", "--create", *types)
    return ["shell", "printed", "listed"]


def spreadsheets(widerow: Widerow, folder: Path) -> list[str]:
    """A copy by each form of CSV for spreadsheets: its key and its newest values, as texts."""
    for table, flags in (("flat", []), ("guarded", ["--spreadsheet"])):
        file = folder / f"{table}.csv"
        widerow("export", "t", "--output", file, "--format", "csv", *flags)
        types = ["--types", "k:string,t:string"]
        widerow("import", table, "--input", file, "--create", "--key", "k", *types, *flags)
    return ["flat", "guarded"]


def empty(client: Client, name: str) -> None:
    key = (KeyColumn("k", KeyType.STRING),)
    make_target_table(client, name, key, 3, 365_000 * 86_400)


@given(values=st.lists(texts, min_size=1, max_size=6, unique=True))
@example(values=[f"a{end}b" for end in ENDS])
@settings(max_examples=examples(20), deadline=None)
def test_every_form_gives_back_every_text(values: list[str]) -> None:
    with TemporaryDirectory() as name, WiderowServer(clock=SystemClock(), instance="s") as server:
        endpoint = Endpoint(server.endpoint, "s", "widerow", "widerow")
        folder = Path(name)
        widerow = Command(endpoint, folder)
        with Client(endpoint) as client:
            for table in ("t", "shell", "printed"):
                empty(client, table)
            document = [
                json.dumps({"k": value, "@cells": {"t": [[VERSION, value[::-1]]]}})
                for value in values
            ]
            given_rows = folder / "given.jsonl"
            given_rows.write_text("".join(f"{line}\n" for line in document), encoding="utf-8")
            widerow("row", "put", "t", "--input", given_rows)
            expected = [
                Row((("k", value),), (VersionedValue("t", VERSION, value[::-1]),))
                for value in sorted(values, key=str.encode)
            ]
            for table in ("t", *exports(widerow, folder), *shells(widerow, folder)):
                assert list(scan_table(client, known_table(client, table))) == expected, table
            newest = [
                (row.key, [(each.column, each.value) for each in row.cells if each.value])
                for row in expected
            ]
            for table in spreadsheets(widerow, folder):
                found = scan_table(client, known_table(client, table))
                seen = [
                    (row.key, [(each.column, each.value) for each in row.cells]) for row in found
                ]
                assert seen == newest, table
