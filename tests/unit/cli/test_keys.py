"""`widerow keys`: what it prints, what it writes, what it refuses (semantics §1.2)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from widerow.cli.main import app
from widerow.errors import WiderowError

PURCHASES: Final = """DeviceID,SellerID,CardID,OrderNumber
16,a100,66661,200001
54,a100,6777,200003
54,a1001,6777,200004
167,a101,283408,200002
"""
SPLICED: Final = "DeviceID,SellerID,CardID"


@pytest.fixture
def purchases(tmp_path: Path) -> str:
    path = tmp_path / "purchases.csv"
    path.write_text(PURCHASES)
    return str(path)


def run(*arguments: str) -> str:
    """What `widerow keys` prints on stdout."""
    done = CliRunner().invoke(app, ["keys", *arguments], env={"COLUMNS": "200"})
    if isinstance(done.exception, WiderowError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def dry(*arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run(*arguments, "--dry-run", "--json"))
    return document


def test_rows_are_spliced_to_stdout(purchases: str) -> None:
    printed = run("splice", "--input", purchases, "--columns", SPLICED, "--pad", "DeviceID=6")
    assert printed.splitlines()[:2] == [
        "CombineDeviceIDSellerIDCardID,OrderNumber",
        '"000016,a100,66661",200001',
    ]


def test_a_width_comes_from_the_data_where_none_is_given(purchases: str) -> None:
    pads = "DeviceID,CardID=8"
    printed = run("splice", "--input", purchases, "--columns", SPLICED, "--pad", pads)
    assert printed.splitlines()[4] == '"167,a101,00283408",200002'


def test_hashing_and_taking_apart_are_each_others_inverse(purchases: str, tmp_path: Path) -> None:
    hashed, back = tmp_path / "hashed.jsonl", tmp_path / "back.csv"
    run("hash", "--input", purchases, "--columns", "OrderNumber", "--output", str(hashed))
    design = ("--columns", "OrderNumber", "--integers", "OrderNumber", "--hash", "md5")
    files = ("--input", str(hashed), "--name", "HashOrderNumber", "--output", str(back))
    run("parse", *design, *files)
    lines = back.read_text().splitlines()
    assert lines[0] == "OrderNumber,DeviceID,SellerID,CardID"
    assert lines[1] == "200001,16,a100,66661"


def test_keys_are_taken_apart_on_the_command_line() -> None:
    design = ("--columns", SPLICED, "--pad", "DeviceID=6", "--integers", "CardID")
    printed = run("parse", *design, "--json", "000054,a100,6777", "000167,a101,283408")
    assert json.loads(printed)[0] == {"DeviceID": 54, "SellerID": "a100", "CardID": 6777}
    assert "a101" in run("parse", *design, "000167,a101,283408")


def test_texts_for_spreadsheets_are_disarmed_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("n,s,t\n1,=1+1,@x\n2,plain,-5\n")
    words = ("splice", "--input", str(path), "--columns", "n")
    assert run(*words).splitlines()[1:] == ["1,=1+1,@x", "2,plain,-5"]
    assert run(*words, "--spreadsheet").splitlines()[1:] == ["1,'=1+1,'@x", "2,plain,'-5"]


def test_a_dry_run_shows_tables_ranges_and_advice(purchases: str) -> None:
    words = ("--input", purchases, "--columns", SPLICED, "--connector", ":", "--dry-run")
    shown = run("splice", *words)
    first, second = shown.index("167:a101:283408"), shown.index("16:a100:66661")
    assert first < second  # true byte order
    for part in ("before", "after", "range queries", "breaks", "--pad DeviceID=3", "--connector"):
        assert part in shown
    assert "Order on the data: lost for 2 of 3 pairs of neighbours" in shown


def test_a_dry_run_as_json_has_the_same(purchases: str) -> None:
    found = dry("splice", "--input", purchases, "--columns", SPLICED, "--connector", ":")
    assert found["column"] == "CombineDeviceIDSellerIDCardID"
    assert [row[0] for row in found["after"]] == [
        "167:a101:283408",
        "16:a100:66661",
        "54:a1001:6777",
        "54:a100:6777",
    ]
    assert [each["works"] for each in found["range_queries"]] == [False] * 3
    assert found["range_queries"][0]["seen_in_data"]
    assert "from 54 to 167" in found["range_queries"][0]["evidence"]
    assert found["order_proved"] is False


def test_a_good_design_is_proved(purchases: str) -> None:
    pads = ("--pad", "DeviceID=6,CardID=6")
    found = dry("splice", "--input", purchases, "--columns", SPLICED, *pads)
    assert found["order_proved"]
    assert found["order_on_data"]["kept"]
    assert [each["works"] for each in found["range_queries"]] == [True] * 3
    assert found["advice"] == []


def test_an_alphabet_may_be_declared(purchases: str) -> None:
    words = ("--input", purchases, "--columns", "SellerID,OrderNumber", "--connector", ":")
    assert not dry("splice", *words)["proofs"][0]["kept"]
    narrow = dry("splice", *words, "--alphabet", "SellerID=a-z")
    assert narrow["proofs"][0]["kept"]


@pytest.mark.parametrize("shown", ["--json", ""])
def test_a_dry_run_writes_nothing(purchases: str, tmp_path: Path, shown: str) -> None:
    words = ("--input", purchases, "--columns", "CardID", "--output", str(tmp_path / "b.csv"))
    run("hash", *words, "--dry-run", *filter(None, [shown]))
    assert [path.name for path in tmp_path.iterdir()] == ["purchases.csv"]


def test_a_hash_of_leading_columns_keeps_ranges_behind_them(purchases: str) -> None:
    words = ("--columns", "DeviceID,CardID", "--pad", "DeviceID,CardID", "--of", "DeviceID")
    found = dry("hash", "--input", purchases, *words, "--hash", "sha256", "--digits", "6")
    assert [each["works"] for each in found["range_queries"]] == [False, True]
    assert found["design"]["hash"] == {
        "algorithm": "sha256",
        "digits": 6,
        "columns": 1,
        "line_feed": False,
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("splice", "--columns", "Nobody"), "no column Nobody"),
        (("splice", "--columns", "DeviceID", "--pad", "CardID"), "CardID is none of the columns"),
        (("splice", "--columns", "DeviceID", "--pad", "DeviceID=x"), "write it as DeviceID=6"),
        (("splice", "--columns", "DeviceID", "--pad", "DeviceID=1"), "more than 1 digits"),
        (("splice", "--columns", "SellerID", "--pad", "SellerID=4"), "integers only"),
        (("splice", "--columns", "DeviceID,SellerID", "--connector", "ab"), "one character"),
        (("splice", "--columns", "SellerID", "--alphabet", "SellerID"), "write it as"),
        (("splice", "--columns", "SellerID", "--dry-run", "--rows", "0"), "--rows is 1 or more"),
        (("hash", "--columns", "DeviceID", "--hash", "md6"), "no hash is called"),
        (("hash", "--columns", "DeviceID,CardID", "--of", "CardID"), "leading columns"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    purchases: str, arguments: tuple[str, ...], words: str
) -> None:
    dry_run = ("--dry-run",) if "--alphabet" in arguments else ()
    with pytest.raises(WiderowError, match=words):
        run(*arguments, "--input", purchases, *dry_run)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give keys to take apart"),
        (("--input", "x.csv"), "give --name"),
        (("--pad", "a", "k"), "number of digits"),
        (("--integers", "b", "k"), "b is none of the columns"),
    ],
)
def test_what_cannot_be_taken_apart_is_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(WiderowError, match=words):
        run("parse", "--columns", "a", *arguments)


@pytest.mark.parametrize("command", ["splice", "hash", "parse"])
def test_help_has_examples(command: str) -> None:
    shown = run(command, "--help")
    assert f"widerow keys {command} --" in shown
    assert "--connector" in shown
