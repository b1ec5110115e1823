"""Every bound is enforced somewhere and says why it is what it is."""

import ast
import re
from pathlib import Path

import pytest
from tools import tidy

ROOT = Path(__file__).resolve().parents[2]
TREE = tidy.read_tree(ROOT)
LIMITS = TREE["src/widerow/limits.py"]
NAMES = {
    node.target.id: node.lineno
    for node in LIMITS.tree.body
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
}
OTHERS = [
    each for each in TREE.values() if each.is_product and each.path != "src/widerow/limits.py"
]


def test_the_module_holds_bounds_only() -> None:
    assert len(NAMES) > 40
    kinds = {type(node) for node in LIMITS.tree.body}
    assert kinds == {ast.Expr, ast.ImportFrom, ast.AnnAssign}


@pytest.mark.parametrize("name", NAMES)
def test_a_bound_is_used(name: str) -> None:
    pattern = re.compile(rf"\b{name}\b")
    inside = sum(len(pattern.findall(line)) for line in LIMITS.lines)
    assert inside > 1 or any(pattern.search(each.text) for each in OTHERS)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("INT64_")])
def test_a_bound_gives_its_reason(name: str) -> None:
    # On its own lines (the formatter may break them), or in a comment above.
    line = NAMES[name] - 1
    above = line
    while LIMITS.lines[above - 1].strip() and not LIMITS.lines[above - 1].startswith("# ---"):
        above -= 1
    end = next(node.end_lineno for node in LIMITS.tree.body if node.lineno == line + 1)
    assert "#" in "".join(LIMITS.lines[line:end]) or LIMITS.lines[above].startswith("#")
