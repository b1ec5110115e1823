"""`widerow simulate`: what it prints, draws and refuses (semantics §1.2)."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from widerow.cli.main import app
from widerow.errors import WiderowError
from widerow.keydesign.sketch import mixed

ROWS = 12_000


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("simulate") / "rows.csv"
    lines = (
        f"{number},c{mixed(number) % 900},{'ab'[number % 10 == 0]},{1_500_000_000 + number}"
        for number in range(ROWS)
    )
    path.write_text("order,card,seller,time\n" + "\n".join(lines) + "\n")
    return str(path)


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["simulate", *arguments], env={"COLUMNS": "120"})
    if isinstance(done.exception, WiderowError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_good_key_and_a_growing_one(source: str) -> None:
    found = {
        column: json.loads(
            run("--nodes", "4", "--input", source, "--column", column, "--time", "time", "--json")
        )
        for column in ("card", "order")
    }
    assert found["card"]["steps"][-1]["skew"] < 1.5
    assert found["order"]["steps"][-1]["skew"] > 3
    assert found["card"]["partitions"] >= 4
    assert found["card"]["reports"] == []
    assert any(words.startswith("keys-grow") for words in found["order"]["reports"])
    assert len(found["card"]["steps"]) == 60
    assert sum(found["card"]["steps"][0]["nodes"]) == pytest.approx(4000, rel=0.01)
    made = [each for each in found["card"]["decisions"] if each["what"] == "split"]
    assert len(made) == found["card"]["splits"] > 0
    assert " at c" in made[0]["words"]


def test_a_table_and_two_pictures(source: str, tmp_path: Path) -> None:
    pictures = ("--svg", str(tmp_path / "a.svg"), "--png", str(tmp_path / "a.png"))
    shown = run("--nodes", "3", "--input", source, "--column", "seller", *pictures)
    for words in ("seller as the partition key", "on 3 nodes", "At the end"):
        assert words in shown
    assert "key-too-hot at a: 87% of" in shown
    assert shown.count(" min ") >= 12
    assert "seller as the partition key" in (tmp_path / "a.svg").read_text()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_gives_the_same_answer(source: str) -> None:
    words = ("--nodes", "4", "--input", source, "--column", "card", "--minutes", "10", "--json")
    assert run(*words, "--seed", "5") == run(*words, "--seed", "5")
    nodes = [json.loads(run(*words, "--seed", seed))["steps"][0]["nodes"] for seed in ("1", "2")]
    assert nodes[0] != nodes[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--nodes", "0", "--column", "card"), "--nodes is 1 or more"),
        (("--nodes", "2", "--column", "nobody"), "no column nobody"),
        (("--nodes", "2", "--column", "card", "--minutes", "0"), "above 0"),
        (("--nodes", "2", "--column", "card", "--units-per-second", "-1"), "above 0"),
        (("--nodes", "2", "--column", "card", "--split-units", "0"), "--split-units is above 0"),
        (("--nodes", "2", "--column", "card", "--svg", "a.bmp"), "named .svg or .png"),
        (("--nodes", "2", "--column", "card", "--svg", "absent/a.svg"), "cannot write absent"),
        (("--nodes", "2", "--column", "order", "--time", "card"), "line 2: card is not a time"),
    ],
)
def test_what_cannot_be_replayed_is_one_sentence(
    source: str, arguments: tuple[str, ...], words: str
) -> None:
    with pytest.raises(WiderowError, match=words):
        run("--input", source, *arguments)


def test_help_has_examples() -> None:
    assert "widerow simulate --nodes 4" in run("--help")
