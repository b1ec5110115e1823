"""Export and import: what comes back is what was there (docs/formats/export.md)."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tablestore import PK_AUTO_INCR, CapacityUnit, ReservedThroughput, TableMeta, TableOptions

from widerow.cli.main import app
from widerow.client.connection import Client, Endpoint
from widerow.client.failures import Refused, Unreachable
from widerow.client.rows import pieces
from widerow.client.tables import known_table, make_target_table, read_rows, scan_table
from widerow.client.writing import PUT, UPDATE, Change, send
from widerow.errors import WiderowError
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.rows.plain_values import Row, VersionedValue
from widerow.system import SystemClock
from widerow.testing import WiderowServer
from widerow.transfer.failures import TransferFailed
from widerow.transfer.importing import Import, import_file
from widerow.transfer.journal import Journal
from widerow.transfer.load import Loader

Widerow = Callable[..., Result]
DAY_MS = 86_400_000
FORMATS = ("csv", "jsonl", "parquet")
KEY = (
    KeyColumn("name", KeyType.STRING),
    KeyColumn("number", KeyType.INTEGER),
    KeyColumn("raw", KeyType.BINARY),
)


def put(client: Client, table: str, rows: list[Row]) -> None:
    for row in rows:
        first, *others = pieces(row)
        for change in (Change(PUT, first), *(Change(UPDATE, piece) for piece in others)):
            assert send(client, table, [change]) == {}


def a_row(name: str, number: int, cells: list[tuple[str, int, Any]]) -> Row:
    key = (("name", name), ("number", number), ("raw", b"\x00\xff,\n"))
    return Row(key, tuple(VersionedValue(*cell) for cell in cells))


@pytest.fixture
def varied(client: Client) -> list[Row]:
    """Every type, several versions, texts that formats stumble over; wide rows.

    The last of them has 18 MB, and one page of a row 16 MB (semantics §5.4).
    """
    make_target_table(client, "varied", KEY, 5, 365_000 * 86_400)
    now = 1_700_000_000_000
    rows = [
        a_row("", -(2**63), [("a", now, 2**63 - 1), ("a", now - 1, "one"), ("a", 5, b"\x00")]),
        a_row('q"uo,te\r\n\r\n', 0, [("double", now, -0.0), ("double", now - 1, 1e300)]),
        a_row("wide", 1, [(f"c{number:05}", now, number) for number in range(3000)]),
        a_row("wider", 1, [(f"c{number}", now, "x" * 900_000) for number in range(10, 30)]),
        a_row("ünï\u2028\x00'", 7, [("t", now, True), ("u", now, False), ("v", now, "")]),
    ]
    put(client, "varied", rows)
    return rows


def test_a_scan_brings_every_version_of_every_row(client: Client, varied: list[Row]) -> None:
    assert list(scan_table(client, known_table(client, "varied"))) == varied


def test_rows_by_their_keys_are_whole(client: Client, varied: list[Row]) -> None:
    absent = a_row("absent", 1, []).key
    table = known_table(client, "varied")
    found = read_rows(client, table, [absent, *(row.key for row in varied)])
    assert found == [None, *varied]


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_export_imports_to_equal_contents(
    widerow: Widerow, client: Client, varied: list[Row], tmp_path: Path, suffix: str
) -> None:
    file = tmp_path / f"rows.{suffix}"
    told = json.loads(widerow("export", "varied", "--output", file, "--json").stdout)
    assert told["rows"] == len(varied)
    # CSV says nothing of types, and `raw` would look like a text.
    types = ["--types", "raw:binary,name:string"] if suffix == "csv" else []
    widerow("import", "copy", "--input", file, "--create", *types)
    assert list(scan_table(client, known_table(client, "copy"))) == varied
    again = json.loads(
        widerow("export", "copy", "--output", tmp_path / f"a.{suffix}", "--json").stdout
    )
    assert again["sha256"] == told["sha256"]
    assert sorted(path.name for path in tmp_path.glob(".*")) == []  # nothing half-written


def test_rows_of_the_vendors_client_are_exported(
    server: WiderowServer, widerow: Widerow, tmp_path: Path
) -> None:
    sdk = server.client()
    meta = TableMeta("sdk", [("k", "STRING")])
    sdk.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 0)))
    file = tmp_path / "rows.csv"
    file.write_text("k,n,d,b,s,none\na,1,1.5,true,007,\nb,2,2,false,x,\n")
    widerow("import", "sdk", "--input", file)
    _, row, _ = sdk.get_row("sdk", [("k", "a")])
    assert [cell[:2] for cell in row.attribute_columns] == [
        ("b", True),
        ("d", 1.5),
        ("n", 1),
        ("s", "007"),
    ]
    widerow("export", "sdk", "--output", tmp_path / "out.jsonl")
    first = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert first["k"] == "a"
    assert {name: cells[0][1] for name, cells in first["@cells"].items()} == {
        "b": True,
        "d": 1.5,
        "n": 1,
        "s": "007",
    }


def test_types_are_as_they_are_said(widerow: Widerow, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("k,a,b,c\n1,1,2,aGk=\n")
    widerow(
        *("import", "typed", "--input", file, "--create", "--key", "k"),
        *("--types", "k:string,a:str,b:double,c:binary"),
    )
    (row,) = scan_table(client, known_table(client, "typed"))
    assert row.key == (("k", "1"),)
    assert [(each.column, each.value) for each in row.cells] == [
        ("a", "1"),
        ("b", 2.0),
        ("c", b"hi"),
    ]


def test_plain_json_and_parquet_have_their_own_types(
    widerow: Widerow, client: Client, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    (tmp_path / "r.jsonl").write_text('{"k": 1, "s": "", "f": 1.0, "none": null, "t": true}\n')
    table = pyarrow.Table.from_pylist([{"k": 1, "s": "", "f": 1.0, "none": None, "t": True}])
    parquet.write_table(table, tmp_path / "r.parquet")
    for suffix in ("jsonl", "parquet"):
        widerow("import", suffix, "--input", tmp_path / f"r.{suffix}", "--create", "--key", "k")
        (row,) = scan_table(client, known_table(client, suffix))
        assert [(each.column, each.value) for each in row.cells] == [
            ("f", 1.0),
            ("s", ""),
            ("t", True),
        ]


def test_bad_rows_are_put_aside_with_their_lines(
    widerow: Widerow, client: Client, tmp_path: Path
) -> None:
    file = tmp_path / "rows.csv"
    long = "x" * 1025  # a key value has 1024 bytes at most, says the server (semantics §1.1)
    file.write_bytes(
        b"k,n\na,1\nb\nc,many\n" + f"{long},1\n".encode() + b"\xff,1\n" + b'd,"1\n2"\n"e"x,1\nf,2\n'
    )
    result = widerow(
        *("import", "t", "--input", file, "--create", "--key", "k", "--types", "n:integer"),
        "--json",
        expect=1,
    )
    assert json.loads(result.stdout)["rejected"] == 6
    rows = list(scan_table(client, known_table(client, "t")))
    assert [row.key[0][1] for row in rows] == ["a", "f"]
    lines = (tmp_path / "rows.csv.rejected").read_text().splitlines()
    rejected = {each["line"]: each["reason"] for each in map(json.loads, lines)}
    assert sorted(rejected) == [3, 4, 5, 6, 7, 9]
    assert "fields" in rejected[3]
    assert "n is not an integer" in rejected[4]
    assert "UTF-8" in rejected[6]
    assert not (tmp_path / "rows.csv.progress").exists()


def test_a_file_in_latin_1_is_named_as_such_and_read_where_that_is_said(
    widerow: Widerow, client: Client, tmp_path: Path
) -> None:
    """docs/operating/transfer.md, "Encoding"."""
    file = tmp_path / "r.csv"
    file.write_bytes("k,Name\n1,Weber\n2,Müller\n3,Jäger\n".encode("latin-1"))
    words = ("import", "t", "--input", file, "--create", "--key", "k")
    result = widerow(*words, expect=1)
    assert result.stdout.startswith(f"1 row of {file} is in t; ")
    assert "2 rows were rejected" in result.stdout
    assert (
        "the first: line 3: not UTF-8 at byte 3 of the line (0xFC, offset 18 of the file); in "
        "Latin-1 it is 'ü': if that is right, give --encoding latin-1"
    ) in result.stdout
    widerow(*words, "--encoding", "latin-1")
    rows = list(scan_table(client, known_table(client, "t")))
    assert [row.cells[0].value for row in rows] == ["Weber", "Müller", "Jäger"]


def test_too_many_bad_rows_end_the_run_and_it_goes_on_later(
    widerow: Widerow, client: Client, tmp_path: Path
) -> None:
    file = tmp_path / "rows.jsonl"
    good = [f'{{"k": {number}}}' for number in range(1000)]
    file.write_text("\n".join([*good, "{", "[]", ""]))
    words = ("import", "t", "--input", file, "--create", "--key", "k", "--window", "500")
    with pytest.raises(TransferFailed, match="max-rejected"):
        widerow(*words, "--max-rejected", "1")
    assert (tmp_path / "rows.jsonl.progress").exists()
    told = json.loads(widerow(*words, "--max-rejected", "2", "--json", expect=1).stdout)
    assert told["rows"] + told["resumed_rows"] == 1000
    assert told["rejected"] == 2
    assert len(list(scan_table(client, known_table(client, "t")))) == 1000


def test_another_run_does_not_take_up_notes_that_are_not_its_own(
    widerow: Widerow, tmp_path: Path
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"k": 1}\n{"k": 2}\n{\n')
    words = ("import", "t", "--input", file, "--create", "--key", "k")
    with pytest.raises(TransferFailed, match="max-rejected"):
        widerow(*words, "--max-rejected", "0")
    with pytest.raises(TransferFailed, match="another window"):
        widerow(*words, "--window", "7")
    file.write_text('{"k": 1}\n')
    with pytest.raises(TransferFailed, match="another"):
        widerow(*words)
    (tmp_path / "rows.jsonl.progress").unlink()
    widerow(*words)


def test_tables_that_make_keys_are_refused(
    server: WiderowServer, widerow: Widerow, tmp_path: Path
) -> None:
    meta = TableMeta("auto", [("k", "STRING"), ("n", "INTEGER", PK_AUTO_INCR)])
    server.client().create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 0)))
    (tmp_path / "r.csv").write_text("k,n\na,1\n")
    with pytest.raises(TransferFailed, match="makes the values of n itself"):
        widerow("import", "auto", "--input", tmp_path / "r.csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("import", "none", "--input", "{file}"), "there is no table none in the instance shop at"),
        (("import", "t", "--input", "{file}", "--create"), "--key A,B"),
        (("import", "t", "--input", "{file}", "--create", "--key", "z"), "no column z"),
        (("import", "t", "--input", "{file}", "--types", "k:date"), "the types are"),
        (("import", "t", "--input", "{file}", "--create", "--key", "x"), "x is double"),
        (("export", "none", "--output", "{file}.jsonl"), "there is no table none in the instance"),
        (("archive", "none", "--before", "2020-01-01"), "there is no table none in the instance"),
        (("archive", "none", "--before", "yesterday"), "write 2025-01-01"),
    ],
)
def test_what_cannot_be_done_is_said(
    widerow: Widerow, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    file = tmp_path / "r.csv"
    file.write_text("k,x\na,1.5\n")
    with pytest.raises(WiderowError, match=message):
        widerow(*(word.format(file=file) for word in words))


def test_a_file_that_is_there_is_not_replaced(widerow: Widerow, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("k\na\n")
    widerow("import", "t", "--input", tmp_path / "r.csv", "--create", "--key", "k")
    with pytest.raises(TransferFailed, match="--overwrite"):
        widerow("export", "t", "--output", tmp_path / "r.csv")
    widerow("export", "t", "--output", tmp_path / "r.csv", "--overwrite")
    assert "@cells" in (tmp_path / "r.csv").read_text()


def test_versions_older_than_the_table_takes_are_refused_at_once(
    widerow: Widerow, client: Client, tmp_path: Path
) -> None:
    make_target_table(client, "young", [KeyColumn("k", KeyType.INTEGER)], 1, 86_400)
    (tmp_path / "r.jsonl").write_text('{"k": 1, "@cells": {"a": [[1000, 1]]}}\n')
    with pytest.raises(TransferFailed, match="max_version_offset"):
        widerow("import", "young", "--input", tmp_path / "r.jsonl")


@pytest.mark.parametrize("how", [(), ("--in-order",), ("--window", "7"), ("--workers", "1")])
def test_of_rows_with_equal_keys_the_last_wins_in_file_order(
    widerow: Widerow, client: Client, tmp_path: Path, how: Sequence[str]
) -> None:
    """docs/operating/transfer.md, "The same key twice": however the rows are sent."""
    # The other columns of a row that is replaced do not stay either.
    lines = "".join(f"{number % 10},{number},{number}\n" for number in range(990))
    last = "".join(f"{number % 10},{number},\n" for number in range(990, 1000))
    (tmp_path / "r.csv").write_text(f"k,n,old\n{lines}{last}")
    words = ("--create", "--key", "k", "--types", "n:integer", "--json", *how)
    result = widerow("import", "t", "--input", tmp_path / "r.csv", *words)
    told = json.loads(result.stdout)
    assert (told["rows"], told["replaced"]) == (10, 990)
    assert re.fullmatch(
        r"widerow: warning: 990 rows were replaced by a later row with the same key "
        r"\(first: line 2, by line [0-9]+2\); of such rows the last in the file counts\n",
        result.stderr,
    )
    rows = list(scan_table(client, known_table(client, "t")))
    assert [[cell.value for cell in row.cells] for row in rows] == [[n] for n in range(990, 1000)]


def test_keys_that_are_written_differently_are_one_key(
    widerow: Widerow, client: Client, tmp_path: Path
) -> None:
    make_target_table(client, "t", (KeyColumn("k", KeyType.INTEGER),), 1, DAY_MS)
    (tmp_path / "r.csv").write_text("k,n\n7,1\n+07,2\n")
    result = widerow("import", "t", "--input", tmp_path / "r.csv")
    assert "1 row was replaced by a later row with the same key (first: line 2, by line 3)" in (
        result.stderr
    )
    (row,) = scan_table(client, known_table(client, "t"))
    assert row.cells[0].value == 2


def test_a_part_that_is_sent_again_does_not_bring_an_older_row_back(
    widerow: Widerow, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed import whose notes have gaps: parts before others that are stored are sent again."""
    file = tmp_path / "r.csv"
    file.write_text("k,n\n" + "".join(f"{number % 50},{number}\n" for number in range(1000)))
    words = ("import", "t", "--input", file, "--create", "--key", "k", "--window", "10", "--json")
    with monkeypatch.context() as patched:
        patched.setattr(Journal, "forget", _interrupted)
        widerow(*words, expect=130)
    notes = tmp_path / "r.csv.progress"
    run, *others = notes.read_text().splitlines(keepends=True)
    notes.write_text(run + "".join(others[-2:]))
    told = json.loads(widerow(*words).stdout)
    assert told["replaced"] == 950
    rows = list(scan_table(client, known_table(client, "t")))
    assert [row.cells[0].value for row in rows] == list(range(950, 1000))


def _interrupted(_: Journal) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("bad", ["many", "9" * 19 + "9"])
def test_where_the_last_row_of_a_key_is_put_aside_the_one_before_it_counts(
    widerow: Widerow, client: Client, tmp_path: Path, bad: str
) -> None:
    """As if every row had been sent in the order of the file."""
    file = tmp_path / "r.csv"
    file.write_text(f"k,n\na,1\na,2\nb,1\na,{bad}\na,{bad}\nb,2\nc,{bad}\n")
    words = ("import", "t", "--input", file, "--create", "--key", "k", "--types", "n:integer")
    told = json.loads(widerow(*words, "--json", expect=1).stdout)
    assert (told["rows"], told["rejected"], told["replaced"]) == (2, 3, 2)
    rows = list(scan_table(client, known_table(client, "t")))
    assert [(row.key[0][1], row.cells[0].value) for row in rows] == [("a", 2), ("b", 2)]


def test_a_row_that_the_server_refuses_lets_the_one_before_it_count(
    widerow: Widerow, client: Client, tmp_path: Path
) -> None:
    file = tmp_path / "r.jsonl"
    large = "x" * (2 * 1024 * 1024 + 1)  # a value has 2 MB at most (semantics §1.1)
    file.write_text(f'{{"k": 1, "a": "old"}}\n{{"k": 1, "a": "{large}"}}\n')
    words = ("import", "t", "--input", file, "--create", "--key", "k", "--json")
    told = json.loads(widerow(*words, expect=1).stdout)
    assert (told["rows"], told["rejected"], told["replaced"]) == (1, 1, 0)
    (row,) = scan_table(client, known_table(client, "t"))
    assert row.cells[0].value == "old"


def test_a_table_that_is_deleted_meanwhile_is_named(client: Client) -> None:
    change = Change(PUT, pieces(a_row("a", 1, []))[0])
    with pytest.raises(Refused, match=r"OTSObjectNotExist: .* \(table gone of the instance shop\)"):
        send(client, "gone", [change])


def test_a_wrong_secret_is_not_tried_twice(widerow: Widerow) -> None:
    with pytest.raises(Refused, match="OTSAuthFailed"):
        widerow("export", "t", "--output", "x.csv", "--access-key-secret", "wrong")


def test_an_empty_table_is_exported_and_imported(
    widerow: Widerow, client: Client, tmp_path: Path
) -> None:
    for name in ("empty", "other"):
        make_target_table(client, name, [KeyColumn("k", KeyType.INTEGER)], 1, 86_400)
    for suffix in FORMATS:
        file = tmp_path / f"e.{suffix}"
        assert "0 rows" in widerow("export", "empty", "--output", file).stdout
        assert "0 rows" in widerow("import", "other", "--input", file).stdout


def test_a_text_without_an_encoding_is_put_aside(widerow: Widerow, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text('{"k": 1, "a": "\\ud800"}\n{"k": 2}\n')
    widerow("import", "t", "--input", file, "--create", "--key", "k", expect=1)
    (line,) = (tmp_path / "r.jsonl.rejected").read_text().splitlines()
    assert json.loads(line)["line"] == 1


def test_a_quote_that_is_never_closed_says_how_far_it_reaches(
    widerow: Widerow, tmp_path: Path
) -> None:
    file = tmp_path / "r.csv"
    file.write_text('k,a\n1,x\n2,"y\n3,z\n4,z\n')
    widerow("import", "t", "--input", file, "--create", "--key", "k", expect=1)
    (line,) = (tmp_path / "r.csv.rejected").read_text().splitlines()
    assert json.loads(line)["line"] == 3
    assert "it reaches to line 5" in json.loads(line)["reason"]


def test_a_rate_is_a_limit(widerow: Widerow, tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("k\n" + "".join(f"{number}\n" for number in range(1000)))
    words = ("--create", "--key", "k", "--rate", "5000", "--json")
    told = json.loads(widerow("import", "t", "--input", file, *words).stdout)
    assert told["rows"] == 1000
    assert told["seconds"] >= 0.16  # four batches of 200 are due before the fifth is sent


def test_ctrl_c_leaves_a_run_that_goes_on(
    widerow: Widerow, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "r.csv"
    file.write_text("k\n" + "".join(f"{number}\n" for number in range(2000)))
    words = ("import", "t", "--input", file, "--create", "--key", "k", "--json")
    paced = Loader._pace

    def interrupted(self: Loader, batch: Any, began: float) -> None:  # noqa: ANN401  # private
        paced(self, batch, began)
        if batch.part == (0, 5):
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Loader, "_pace", interrupted)
        assert "go on" in widerow(*words, expect=130).stderr
    told = json.loads(widerow(*words).stdout)
    assert told["rows"] + told["resumed_rows"] == 2000
    assert len(list(scan_table(client, known_table(client, "t")))) == 2000


def test_a_table_that_throttles_gets_every_row(tmp_path: Path) -> None:
    # A reserve of 100 write units a second, 200 rows of one unit each (semantics §9).
    settings = {"enforce_throughput": True}
    with WiderowServer(clock=SystemClock(), instance="shop", settings=settings) as server:
        meta = TableMeta("slow", [("k", "INTEGER")])
        reserve = ReservedThroughput(CapacityUnit(0, 100))
        server.client().create_table(meta, TableOptions(), reserve)
        file = tmp_path / "r.csv"
        file.write_text("k\n" + "".join(f"{number}\n" for number in range(200)))
        endpoint = Endpoint(server.endpoint, "shop", "widerow", "widerow")
        wish = Import(file, "slow")
        done = import_file(endpoint, wish, lambda _: None, lambda _: None)
        assert (done.rows, done.rejected) == (200, 0)
        with Client(endpoint) as client:
            assert len(list(scan_table(client, known_table(client, "slow")))) == 200


def test_an_endpoint_where_nobody_answers_is_said_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Client, "pause", lambda *_: pytest.fail("waited"))
    words = ["export", "t", "--output", str(tmp_path / "t.csv"), "--endpoint", "http://127.0.0.1:1"]
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, Unreachable)
    assert "--endpoint" in str(result.exception)
