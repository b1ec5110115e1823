"""What modules say they offer, and what others take from them."""

import ast
import importlib
from pathlib import Path

import pytest
from tools import tidy
from tools.tidy import Source, last_name

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = {source.module: source for source in tidy.read_tree(ROOT).values() if source.is_product}
# Constants only: every name of theirs is for everyone.
OPEN = {"widerow.limits"}
DEFINING = [name for name, source in PRODUCT.items() if name not in OPEN]


def public_definitions(source: Source) -> set[str]:
    """Functions and classes that stand in a module under a public name.

    Without commands of the command line: their decorator hands them to who calls them.
    """
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    nodes = [node for node in source.tree.body if isinstance(node, kinds)]
    handed = {"command", "callback"}
    names = {each.name for each in nodes if not handed & set(map(last_name, each.decorator_list))}
    return {name for name in names if not name.startswith("_")}


def exports(source: Source) -> list[str] | None:
    """A module's `__all__`, read without running it."""
    for node in source.tree.body:
        if isinstance(node, ast.Assign) and "__all__" in map(last_name, node.targets):
            value: list[str] = ast.literal_eval(node.value)
            return value
    return None


@pytest.mark.parametrize("name", DEFINING)
def test_a_module_lists_what_it_offers(name: str) -> None:
    source = PRODUCT[name]
    listed, defined = exports(source), public_definitions(source)
    if listed is None:
        assert not defined, f"{name} has no __all__"
        return
    assert len(listed) == len(set(listed))
    assert not [each for each in listed if each.startswith("_") and not each.endswith("__")]
    assert not defined - set(listed), "public, and not in __all__"
    module = importlib.import_module(name)
    assert not [each for each in listed if not hasattr(module, each)]


@pytest.mark.parametrize("name", DEFINING)
def test_modules_take_only_what_others_offer(name: str) -> None:
    for node in ast.walk(PRODUCT[name].tree):
        if not isinstance(node, ast.ImportFrom) or node.module not in PRODUCT:
            continue
        listed = exports(PRODUCT[node.module])
        for alias in node.names:
            assert not alias.name.startswith("_") or alias.name.endswith("__")
            if listed is not None and f"{node.module}.{alias.name}" not in PRODUCT:
                assert alias.name in listed, f"{alias.name} is not in __all__ of {node.module}"
