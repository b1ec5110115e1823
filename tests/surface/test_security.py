"""SECURITY.md names tests that exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+(?:\.py)?)(?:::(\w+))?`", TEXT)))


def test_there_are_tests_for_what_is_refused() -> None:
    assert len(NAMED) > 15


def exists(path: str, name: str) -> bool:
    """Whether there is such a file or folder, and in it such a test, if one is named."""
    if not name:
        return (ROOT / path).exists()
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_named_test_exists() -> None:
    assert [(path, name) for path, name in NAMED if not exists(path, name)] == []


def test_every_part_of_what_is_refused_names_where_or_what_shows_it() -> None:
    refused = TEXT.partition("## What is refused")[2].partition("\n## ")[0]
    parts = [part for part in refused.split("\n\n") if part.startswith("**")]
    assert len(parts) > 8
    for part in parts:
        assert re.search(r"`tests/|\]\(DURABILITY", part), part
