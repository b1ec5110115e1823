"""DURABILITY.md promises nothing that no test shows."""

import ast
import re
from pathlib import Path

import pytest

from widerow.server.settings import DESCRIPTIONS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "DURABILITY.md").read_text(encoding="utf-8")
CLAIMS = re.findall(r"^\* .*?(?=^\* |^$|\Z)", TEXT, re.MULTILINE | re.DOTALL)
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))


def test_there_are_claims() -> None:
    assert len(CLAIMS) > 10


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_claim_names_a_test(claim: str) -> None:
    told, _, shown = claim.partition("Shown by ")
    assert told.strip()
    assert re.search(r"`tests/[\w/]+\.py::test_\w+`", shown)


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_every_named_test_exists(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_no_setting_weakens_the_promise() -> None:
    words = re.compile(r"sync|durab|relax|wal|flush|unsafe")
    assert [name for name in DESCRIPTIONS if words.search(name)] == []
