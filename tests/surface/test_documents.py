"""What the documents show works: code compiles, commands and settings files exist."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
from tools import tidy

ROOT = Path(__file__).resolve().parents[2]
TREE = tidy.read_tree(ROOT)
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(found["kind"], found["text"], id=f"{path}:{number}")
    for path, source in TREE.items()
    if path.endswith(".md")
    for number, found in enumerate(BLOCK.finditer(source.text), 1)
]
TARGETS = set(re.findall(r"^([a-z]+):", TREE["Makefile"].text, re.MULTILINE))


@pytest.mark.parametrize(("kind", "text"), BLOCKS)
def test_an_example_is_well_formed(kind: str, text: str) -> None:
    if kind in {"python", "py"}:
        ast.parse(text)
    elif kind == "toml":
        tomllib.loads(text)
    elif kind in {"sh", "bash", "console", "shell"}:
        assert set(re.findall(r"^\$?\s*make ([a-z]+)", text, re.MULTILINE)) <= TARGETS


def test_the_commands_of_the_readme_can_be_typed_as_they_stand() -> None:
    """No word in angle brackets that a reader has to replace."""
    blocks = [found["text"] for found in BLOCK.finditer(TREE["README.md"].text)]
    assert "make serve\n" in blocks
    assert not [text for text in blocks if re.search(r"<[a-z][a-z ]*>", text)]


@pytest.mark.parametrize("path", [path for path in TREE if path.endswith(".md")])
def test_a_document_names_commands_that_exist(path: str) -> None:
    assert set(re.findall(r"`make ([a-z]+)`", TREE[path].text)) <= TARGETS
