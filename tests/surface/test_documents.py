"""What the documents show works: code compiles, commands and settings files exist."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools import tidy

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
NAMED_TEST = re.compile(r"`(?P<path>tests/[\w/]+\.py)?::(?P<name>\w+)`")
TARGETS = {*re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)}


@pytest.fixture(scope="module")
def documents() -> dict[str, str]:
    """The text of each page, by its path."""
    tree = tidy.read_tree(ROOT)
    return {path: source.text for path, source in tree.items() if path.endswith(".md")}


def faults(kind: str, text: str) -> Iterator[str]:
    """What is wrong with an example."""
    try:
        if kind in {"python", "py"}:
            ast.parse(text)
        elif kind == "toml":
            tomllib.loads(text)
    except ValueError as error:  # a SyntaxError is none
        yield str(error)
    except SyntaxError as error:
        yield str(error)
    if kind in {"sh", "bash", "console", "shell"}:
        named = re.findall(r"^\$?\s*make ([a-z-]+)", text, re.MULTILINE)
        yield from (f"no make {name}" for name in named if name not in TARGETS)


def test_every_example_is_well_formed(documents: dict[str, str]) -> None:
    blocks = [(path, found) for path, text in documents.items() for found in BLOCK.finditer(text)]
    assert len(blocks) > 100
    wrong = [
        (path, each) for path, found in blocks for each in faults(found["kind"], found["text"])
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [("python", "x ="), ("toml", "x ="), ("sh", "make nothing"), ("console", "$ make nothing")],
)
def test_an_example_that_is_not_well_formed_is_found(kind: str, text: str) -> None:
    assert [*faults(kind, text)]


def named_tests(text: str) -> Iterator[tuple[str, str]]:
    """Files and functions of tests that a page names; `::name` is of its line's last file."""
    for line in text.splitlines():
        path = ""
        for found in NAMED_TEST.finditer(line):
            path = found["path"] or path
            yield path, found["name"]


def test_every_test_that_a_page_names_is_there(documents: dict[str, str]) -> None:
    functions: dict[str, set[str]] = {}

    def is_there(path: str, name: str) -> bool:
        if path not in functions and (ROOT / path).is_file():
            body = ast.parse((ROOT / path).read_text()).body
            functions[path] = {each.name for each in body if isinstance(each, ast.FunctionDef)}
        return name in functions.get(path, ())

    named = {(page, *each) for page, text in documents.items() for each in named_tests(text)}
    assert len(named) > 150
    assert sorted(each for each in named if not is_there(*each[1:])) == []


def test_the_commands_of_the_readme_can_be_typed_as_they_stand(documents: dict[str, str]) -> None:
    """No word in angle brackets that a reader has to replace."""
    blocks = [found["text"] for found in BLOCK.finditer(documents["README.md"])]
    assert "make serve\n" in blocks
    assert not [text for text in blocks if re.search(r"<[a-z][a-z ]*>", text)]


def test_documents_name_commands_that_exist(documents: dict[str, str]) -> None:
    named = [
        (path, name)
        for path, text in documents.items()
        for name in re.findall(r"`make ([a-z-]+)`", text)
    ]
    assert [each for each in named if each[1] not in TARGETS] == []
