"""Every bound is enforced somewhere and says why it is what it is."""

import ast
import re
from collections import Counter
from pathlib import Path

from tools.tidy import Source

SRC = Path(__file__).resolve().parents[2] / "src" / "widerow"
LIMITS = Source("src/widerow/limits.py", (SRC / "limits.py").read_text(encoding="utf-8"))
BOUNDS = {
    node.target.id: node
    for node in LIMITS.tree.body
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
}


def test_the_module_holds_bounds_only() -> None:
    assert len(BOUNDS) > 40
    kinds = {type(node) for node in LIMITS.tree.body}
    assert kinds == {ast.Expr, ast.ImportFrom, ast.AnnAssign}


def test_every_bound_is_used() -> None:
    """By another module, or by another bound."""
    words = Counter[str]()
    for path in SRC.rglob("*.py"):
        words.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    assert [name for name in BOUNDS if words[name] < 2] == []


def has_reason(node: ast.AnnAssign) -> bool:
    """On its own lines (the formatter may break them), or in a comment above it or its group."""
    line = above = node.lineno - 1
    while LIMITS.lines[above - 1].strip() and not LIMITS.lines[above - 1].startswith("# ---"):
        above -= 1
    own = "".join(LIMITS.lines[line : node.end_lineno])
    return "#" in own or any(LIMITS.lines[each].startswith("#") for each in (above, line - 1))


def test_every_bound_gives_its_reason() -> None:
    given = {name: node for name, node in BOUNDS.items() if not name.startswith("INT64_")}
    assert [name for name, node in given.items() if not has_reason(node)] == []
