"""DURABILITY.md promises nothing that no test shows."""

import ast
import re
from pathlib import Path

from widerow.server.settings import DESCRIPTIONS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "DURABILITY.md").read_text(encoding="utf-8")
CLAIMS = re.findall(r"^\* .*?(?=^\* |^$|\Z)", TEXT, re.MULTILINE | re.DOTALL)
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))


def test_there_are_claims() -> None:
    assert len(CLAIMS) > 10


def test_every_claim_names_a_test() -> None:
    shown = re.compile(r"\S.*Shown by .*`tests/[\w/]+\.py::test_\w+`", re.DOTALL)
    assert [claim for claim in CLAIMS if not shown.search(claim)] == []


def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_named_test_exists() -> None:
    assert [(path, name) for path, name in NAMED if name not in functions(path)] == []


def test_no_setting_weakens_the_promise() -> None:
    words = re.compile(r"sync|durab|relax|wal|flush|unsafe")
    assert [name for name in DESCRIPTIONS if words.search(name)] == []
