"""docs/protocol/search-coverage.md: every statement of search §9 is proved by tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
SPEC: Final = ROOT / "docs" / "spec" / "tablestore-search.md"
PAGE: Final = ROOT / "docs" / "protocol" / "search-coverage.md"
FILES: Final = re.compile(r"`(\w)` is\s+`([\w./]+)`")
TESTS: Final = re.compile(r"`(\w)::(\w+)`")
BETWEEN: Final = re.compile(r";\s+(?![^()]*\))")


class Statement(NamedTuple):
    """A statement of a suite, and the tests that are named for it."""

    suite: str
    text: str
    proof: str = ""


def asserted() -> list[Statement]:
    """What section 9 says, cell by cell."""
    text = SPEC.read_text(encoding="utf-8")
    section = text[text.index("## 9. ") : text.index("## 10. ")]
    rows = [line.strip("| ").split(" | ", 1) for line in section.splitlines() if line[:2] == "| "]
    return [
        Statement(suite.strip(), each)
        for suite, said in rows[1:]
        for each in BETWEEN.split(said.strip())
    ]


def listed() -> list[Statement]:
    """The rows of the page."""
    suite, found = "", []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            suite = line.removeprefix("## ")
        if re.match(r"\| \d+ \|", line):
            _, text, proof = line.strip("| ").split(" | ")
            found.append(Statement(suite, text.replace("search \u00a7", "\u00a7"), proof))
    return found


LISTED: Final = listed()


@cache
def functions(path: str) -> frozenset[str]:
    """The tests of a file, those of its classes too."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_statement_is_there_once_and_no_other() -> None:
    assert [each._replace(proof="") for each in LISTED] == asserted()
    assert len(LISTED) > 60


def cites(path: str) -> bool:
    """Whether a file cites the page of the specification."""
    return "earch \u00a7" in (ROOT / path).read_text(encoding="utf-8")


def test_every_statement_is_proved_by_tests_that_exist() -> None:
    files = dict(FILES.findall(PAGE.read_text(encoding="utf-8")))
    for row in LISTED:
        tests = TESTS.findall(row.proof)
        assert tests, row
        assert TESTS.sub("", row.proof).strip() == "", row
        assert [each for each in tests if each[1] not in functions(files[each[0]])] == [], row
    assert [path for path in files.values() if not cites(path)] == []
