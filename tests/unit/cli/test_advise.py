"""`widerow advise keys`: what it prints and what it refuses (semantics §1.2)."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from widerow.cli.main import app
from widerow.errors import WiderowError
from widerow.keydesign.sketch import mixed


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
    for word in ("verdict", "Gini", "sequential", "few and skewed", "even:"):
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


def test_help_has_examples() -> None:
    assert "widerow advise keys --input" in run("--help")
