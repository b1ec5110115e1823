"""What docs/protocol/typed-tables.md says of statements is so."""

import re
from pathlib import Path

import pytest

from widerow import limits
from widerow.engine.typed.ddl import parse
from widerow.errors import Unsupported

PAGE = (Path(__file__).parents[3] / "docs/protocol/typed-tables.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Statements\n")[2].partition("\n## ")[0]
REFUSED = re.findall(r"^\| `([^`]+)` \|", SECTION, re.MULTILINE)


def test_the_page_lists_statements() -> None:
    assert len(REFUSED) > 5


@pytest.mark.parametrize("statement", REFUSED)
def test_what_the_page_lists_is_refused(statement: str) -> None:
    with pytest.raises(Unsupported, match="is not supported by widerow"):
        parse(statement)


def test_bounds_are_those_of_the_page() -> None:
    for bound in (limits.DDL_CHARACTERS_MAX, limits.DDL_LIST_MAX, limits.DDL_DEPTH_MAX):
        assert f"{bound:,}" in SECTION or str(bound) in SECTION
