"""docs/protocol/seed-coverage.md: every statement of the founding pages is proved or open."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "protocol" / "seed-coverage.md"
SHORT: Final = {
    "D": "tests/seeds/test_data_model.py",
    "O": "tests/seeds/test_table_operations.py",
    "K": "tests/seeds/test_key_design.py",
    "P": "tests/seeds/test_partitions.py",
    "T": "tests/wire_limits/test_tables.py",
    "W": "tests/wire_limits/test_rows.py",
    "R": "tests/wire_limits/test_reads.py",
}
"""Files written for this page, by the letters it names them with."""

TESTS: Final = re.compile(r"`([\w./]+)::(\w+)`")


class Statement(NamedTuple):
    """A row of a table of the page."""

    section: str
    number: str
    text: str
    proof: str


def statements() -> list[Statement]:
    section, found = "", []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ").partition(":")[0]
        cells = [each.strip() for each in line.strip("|").split(" | ")]
        if section and line.startswith("| ") and len(cells) == 3 and cells[0].isdigit():
            found.append(Statement(section, *cells))
    return found


STATEMENTS: Final = statements()


@cache
def functions(path: str) -> frozenset[str]:
    """The tests of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return frozenset(name for name in names if name.startswith("test_"))


def named() -> set[tuple[str, str]]:
    """Every test that the page names, as file and function."""
    found = [each for row in STATEMENTS for each in TESTS.findall(row.proof)]
    return {(SHORT.get(path, path), name) for path, name in found}


def test_every_page_is_there_and_its_statements_are_numbered() -> None:
    sections = [*(f"Page 00{number}" for number in range(5)), "Limits"]
    assert list(dict.fromkeys(row.section for row in STATEMENTS)) == sections
    for section in sections:
        numbers = [int(row.number) for row in STATEMENTS if row.section == section]
        assert numbers == list(range(1, len(numbers) + 1))
    rows = [line for line in PAGE.read_text().splitlines() if re.match(r"\| \d", line)]
    assert len(rows) == len(STATEMENTS)  # none is left out for its shape


def test_every_statement_is_proved_by_tests_that_exist() -> None:
    for row in STATEMENTS:
        assert row.text, row
        tests = TESTS.findall(row.proof)
        assert tests, row
        assert TESTS.sub("", row.proof).strip() == "", row
    assert [each for each in named() if each[1] not in functions(each[0])] == []


def test_no_test_written_for_the_page_is_left_out() -> None:
    written = {(path, name) for path in SHORT.values() for name in functions(path)}
    assert written - named() == set()
