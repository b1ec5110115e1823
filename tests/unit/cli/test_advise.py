"""`widerow advise keys`: what it prints and what it refuses (semantics §1.2)."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.changes import Columns, create, put
from tests.support.engines import open_tablestore

from widerow.cli.main import app
from widerow.errors import WiderowError
from widerow.keydesign.sketch import mixed
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.values import KeyInput, KeyType
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "rows.csv"
    lines = (f"{number},{mixed(number) % 900},{mixed(number) % 3}" for number in range(5000))
    path.write_text("order,card,seller\n" + "\n".join(lines) + "\n")
    return str(path)


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["advise", "keys", *arguments], env={"COLUMNS": "200"})
    if isinstance(done.exception, WiderowError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_ranking_is_shown_with_what_to_type_next(source: str) -> None:
    shown = run("--input", source, "--columns", "order,card,seller")
    for word in ("verdict", "Gini", "sequential", "few and skewed", "card is good: "):
        assert word in shown
    assert f"widerow keys hash --input {source} --columns order" in shown
    assert f"widerow keys splice --input {source} --columns seller,card --pad" in shown


def test_json_has_every_figure(source: str) -> None:
    document = json.loads(run("--input", source, "--columns", "order,card,seller", "--json"))
    found = {each["key"]: each for each in document["findings"]}
    assert document["source"] == "rows.csv"
    assert found["card"]["verdict"] == "good"
    assert found["card"]["distinct"] == len({mixed(number) % 900 for number in range(5000)})
    assert found["order"]["verdict"] == "bad"
    assert found["order"]["appended_share"] == 1
    assert found["seller"]["top_share"] == pytest.approx(1 / 3, abs=0.02)
    assert found["order"]["exact"] is True


@pytest.mark.parametrize(
    ("size", "verdict"), [("1GB", "too large"), ("10 GB", "too large"), ("1TB", "good")]
)
def test_the_advice_on_size_can_be_chosen(source: str, size: str, verdict: str) -> None:
    words = ("--expected-rows", "1000000000000", "--largest", size, "--json")
    document = json.loads(run("--input", source, "--columns", "card,order", *words))
    assert {each["key"]: each["verdict"] for each in document["findings"]}["card"] == verdict


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--columns", "nobody"), "no column nobody"),
        (("--columns", "card", "--time", "when"), "no column when"),
        (("--columns", "card", "--time", "card", "--largest", "much"), "write a size as"),
        (("--columns", "card", "--expected-rows", "0"), "from 1 upwards"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    source: str, arguments: tuple[str, ...], words: str
) -> None:
    with pytest.raises(WiderowError, match=words):
        run("--input", source, *arguments)


# --- tables of a store ---------------------------------------------------------------------------


@pytest.fixture
def directory(tmp_path: Path) -> str:
    """A store with a table of three key columns, written in the order of `order`."""
    path = str(tmp_path / "data")
    clock = FakeClock()
    with open_store(path) as store:
        engine = open_tablestore(store, clock, FakeEntropy())
        key = {"order": KeyType.INTEGER, "card": KeyType.STRING, "raw": KeyType.BINARY}
        engine.core.run(engine.create_table("campus", create("purchases", key)))
        for start in range(0, 3000, 200):
            rows = []
            for number in range(start, start + 200):
                card = f"c{mixed(number) % 900}"
                raw = bytes([mixed(number) % 3])
                key_of: dict[str, KeyInput] = {"order": number, "card": card, "raw": raw}
                rows.append(put("purchases", key_of, {"x": "y" * 50}))
            clock.advance(1.0)
            batch = BatchWrite((TableWrite("purchases", tuple(rows)),))
            engine.core.run(engine.rows.batch_write_row("campus", batch))
    return path


def of_table(directory: str, *arguments: str) -> str:
    return run("--table", "purchases", "--instance", "campus", "--path", directory, *arguments)


def test_the_key_of_a_stored_table_is_judged(directory: str) -> None:
    document = json.loads(of_table(directory, "--json"))
    found = {each["key"]: each for each in document["findings"]}
    assert {"order", "card", "raw"} <= found.keys()
    assert (found["order"]["verdict"], found["card"]["verdict"]) == ("bad", "good")
    assert found["order"]["reason"].startswith("sequential")
    assert found["raw"]["reason"].startswith("few and skewed: 3 values, and '0")
    assert found["card"]["rows"] == 3000
    assert found["card"]["largest_bytes"] > 50
    assert "card" in of_table(directory)


def test_a_wide_row_is_one_row(tmp_path: Path) -> None:
    """Its segments lie under keys of their own, and are not counted."""
    path = str(tmp_path / "data")
    with open_store(path) as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        engine.core.run(engine.create_table("widerow", create("t", {"k": KeyType.INTEGER})))
        wide: Columns = {f"c{number}": "x" * 200 for number in range(1000)}
        engine.core.run(engine.rows.write_row("widerow", put("t", {"k": 1}, wide)))
        engine.core.run(engine.rows.write_row("widerow", put("t", {"k": 2}, {"x": 1})))
    document = json.loads(run("--table", "t", "--path", path, "--json"))
    assert document["findings"][0]["rows"] == 2
    assert document["findings"][0]["largest_bytes"] > 200_000


def test_a_table_that_is_not_there_is_said(directory: str, tmp_path: Path) -> None:
    for arguments, words in (
        (("--table", "other", "--path", directory), "no table other in the instance widerow of"),
        (("--table", "t", "--path", str(tmp_path / "absent")), "there is no store"),
        (("--table", "purchases", "--instance", "campus", "--path", directory, "--columns", "x"),
         "x is not in the key of purchases; it has order, card, raw"),
        ((), "one of them"),
        (("--table", "t", "--input", "x.csv"), "one of them"),
        (("--input", "x.csv"), "name the columns"),
    ):  # fmt: skip
        with pytest.raises(WiderowError, match=words):
            run(*arguments)
    assert not (tmp_path / "absent").exists()


def test_help_has_examples() -> None:
    assert "widerow advise keys --input" in run("--help")
