"""docs/protocol/nosql.md names the operations that are served and the codes that are answered."""

import re
from pathlib import Path

from widerow.wire.nosql import faults
from widerow.wire.nosql.operations.names import NAMES
from widerow.wire.nosql.operations.table import BY_CODE, ONPREM_BY_CODE

PAGE = (Path(__file__).parents[4] / "docs" / "protocol" / "nosql.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text of a section."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_operations_are_those_that_are_served() -> None:
    shown: dict[int, str] = {}
    for names, codes in re.findall(
        r"^\| ([A-Z_, ]+) \| ([\d, ]+) \|", section("Operations"), re.MULTILINE
    ):
        pairs = zip(codes.split(", "), names.split(", "), strict=True)
        shown |= {int(code): name for code, name in pairs}
    assert shown.keys() == ONPREM_BY_CODE.keys()
    for code, name in shown.items():
        assert NAMES[code] == name
    ours = {NAMES[code] for code in ONPREM_BY_CODE.keys() - BY_CODE.keys()}
    assert ours == {"SYSTEM_REQUEST", "SYSTEM_STATUS_REQUEST"}
    assert BY_CODE.keys() <= ONPREM_BY_CODE.keys()


def test_codes_are_those_that_are_answered() -> None:
    shown = {
        name: int(code)
        for code, name in re.findall(r"^\| (\d+) \| ([A-Z_]+) \|", section("Errors"), re.MULTILINE)
    }
    known = {
        name: value
        for name, value in vars(faults).items()
        if name.isupper() and name[0] != "_" and isinstance(value, int)
    }
    assert shown == known
