"""tools/citations.py finds citations that lead nowhere, and lets pass those that lead somewhere.

The section sign is made, not written: otherwise the planted citations would be found in this file.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools import citations, tidy
from tools.citations import Wrong

ROOT = Path(__file__).resolve().parents[2]
SIGN = "\N{SECTION SIGN}"
TABLE = "| name | page |\n|---|---|\n| `semantics` | [t](tablestore-semantics.md) |\n"
PAGE = """# 7 is a title

## 1. Model
### 1.1 Keys
### 1.2 Order
### 1.10 Late
```
## 3. Code
```
## 2 Tables
## A. Indexes
### A1. Requests
### C1.2 Actions
# A page is not a section A.
"""
FILES = {
    "docs/spec/README.md": TABLE,
    "docs/spec/tablestore-semantics.md": PAGE,
    "docs/formats/rows.md": "# Rows\n\n## 4. Cells\n",
}


def found(text: str, path: str = "src/a.py") -> list[Wrong]:
    """What is wrong in a file with this text, in which % stands for the section sign."""
    changed = FILES.get(path, "") + text.replace("%", SIGN)
    return list(citations.wrong_citations(FILES | {path: changed}))


RIGHT = [
    "semantics %1.1",
    "Semantics %1.1 at the beginning of a sentence",
    "tablestore-semantics %1.1",
    "rows %4",
    "[page](docs/spec/tablestore-semantics.md) %2",
    "`tablestore-semantics.md` %2",
    "(semantics %1, %1.2 and %2; %A1/%C1.2)",
    "semantics %1.1. A sentence.",
    "semantics %1.1-1.10, %1.1-%1.10, %1.1–%2, %A–A1",
    "semantics %1.1 to %1.10",
    "semantics %%1, 2 and A1",
    "# semantics %1.1,\n# %1.2",
    "semantics\n    %1.1,\n    %1.2",
    "no citation at all, 1.3",
]


@pytest.mark.parametrize("text", RIGHT)
def test_what_leads_to_a_section_passes(text: str) -> None:
    assert found(text) == []


WRONG = [
    ("semantics %1.3", "semantics %1.3", "has no section 1.3; nearest: %1.1, %1.2, %1.10, %2"),
    ("semantics %1.1, %9", "semantics %9", "has no section 9"),
    ("semantics %1.1 and %9", "semantics %9", "has no section 9"),
    ("semantics %1.1;\n# %9", "semantics %9", "has no section 9"),
    ("semantics %%1, 2, 9", "semantics %9", "has no section 9"),
    ("semantics %1.1-1.4", "semantics %1.1-%1.4", "has no section 1.4"),
    ("semantics %0-2", "semantics %0-%2", "has no section 0"),
    ("semantics %2-1.1", "semantics %2-%1.1", "stands behind the last one"),
    ("semantics %3", "semantics %3", "has no section 3"),
    ("semantics %7", "semantics %7", "has no section 7"),
    ("semantics %B", "semantics %B", "has no section B; nearest: %2, %A, %A1, %C1.2"),
    ("semantics %A2", "semantics %A2", "has no section A2"),
    ("semantics %C1", "semantics %C1", "has no section C1"),
    ("rows %1.1", "rows %1.1", "docs/formats/rows.md has no section 1.1; nearest: %4"),
    ("design %1.1", "design %1.1", "design names no page"),
    ("(%1.1)", "%1.1", "no page is named; put a name from docs/spec/README.md"),
    ("semantics %Keys", "%Keys", "cite a section by its number"),
    ("semantics %%", "%%", "cite a section by its number"),
    ("semantics %1.1 (%1.2)", "%1.2", "no page is named"),
    ("semantics %1.1, a word, %1.2", "%1.2", "no page is named"),
]


@pytest.mark.parametrize(("text", "cited", "message"), WRONG)
def test_what_leads_nowhere_is_found(text: str, cited: str, message: str) -> None:
    (wrong,) = found(text)
    assert wrong.message.startswith(f"{cited}: ".replace("%", SIGN))
    assert message.replace("%", SIGN) in wrong.message


def test_the_line_is_that_of_the_section() -> None:
    (wrong,) = found("x = 1\n# semantics %1.1,\n# %9\n")
    assert (wrong.path, wrong.line) == ("src/a.py", 3)


def test_a_page_may_cite_its_own_sections_without_a_name() -> None:
    own = "docs/formats/rows.md"
    assert found("see %4, (%4), of semantics %1.1\n", own) == []
    (wrong,) = found("see %1.1\n", own)
    assert "docs/formats/rows.md has no section 1.1" in wrong.message


def test_a_name_of_the_table_stands_for_a_page_that_exists() -> None:
    (wrong,) = found("| `gone` | [g](gone.md) |\n", "docs/spec/README.md")
    assert (wrong.line, wrong.message) == (
        4,
        "the name gone stands for docs/spec/gone.md, which does not exist",
    )


NUMBERS = st.lists(st.integers(1, 30), min_size=1, max_size=3).map(
    lambda parts: ".".join(map(str, parts))
)


@given(st.lists(NUMBERS, min_size=1, unique=True), NUMBERS)
def test_exactly_the_headings_of_a_page_can_be_cited(present: list[str], cited: str) -> None:
    page = "".join(f"## {number}. Heading\n\nText.\n\n" for number in present)
    assert citations.sections(page) == present
    files = {"docs/page.md": page, "a.py": f"# page {SIGN}{cited}\n"}
    assert (list(citations.wrong_citations(files)) == []) == (cited in present)


def test_tidy_runs_the_check() -> None:
    files = FILES | {"docs/a.md": f"# A\n\nsemantics {SIGN}9\n"}
    read = {path: tidy.Source(path, text) for path, text in files.items()}
    said = "\n".join(map(str, tidy.check_tree(read)))
    assert f"docs/a.md:3: semantics {SIGN}9: docs/spec/tablestore-semantics.md has no" in said


def test_the_table_of_this_repository_names_its_pages() -> None:
    names = citations.short_names((ROOT / citations.TABLE).read_text(encoding="utf-8"))
    assert {"semantics", "wire", "protos", "model", "cli", "ddl"} <= set(names)
    texts = {path: source.text for path, source in tidy.read_tree(ROOT).items()}
    cited = [each for text in texts.values() for each in citations.citations(text)]
    assert len(cited) > 700  # the check looks at what is there
