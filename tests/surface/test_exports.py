"""What modules say they offer, and what others take from them."""

import ast
import importlib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest
from tools import tidy
from tools.tidy import Source, last_name

ROOT = Path(__file__).resolve().parents[2]
# Constants only: every name of theirs is for everyone.
OPEN = {"widerow.limits", "widerow.wire.tablestore.errors.codes"}
# Modules that cannot be imported where a library of the system is away.
NEEDS = {"widerow.storage.hbase.kerberos": "gssapi"}


@pytest.fixture(scope="module")
def product() -> dict[str, Source]:
    """The modules of the package, by their names."""
    return {source.module: source for source in tidy.read_tree(ROOT).values() if source.is_product}


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


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def faults_of_list(name: str, source: Source) -> Iterator[str]:
    """What is wrong with the `__all__` of a module."""
    listed, defined = exports(source), public_definitions(source)
    if listed is None:
        yield from (f"{name} has no __all__ and defines {each}" for each in defined)
        return
    yield from (f"{name} lists {each} twice" for each in set(listed) if listed.count(each) > 1)
    yield from (f"{name} lists the private {each}" for each in listed if is_private(each))
    yield from (f"{name} does not list {each}" for each in defined - set(listed))
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        return
    module = importlib.import_module(name)
    yield from (f"{name} has no {each}" for each in listed if not hasattr(module, each))


def foreign_imports(name: str, product: Mapping[str, Source]) -> Iterator[str]:
    """Names that a module takes from another one which does not offer them."""
    for node in ast.walk(product[name].tree):
        if not isinstance(node, ast.ImportFrom) or node.module not in product:
            continue
        module = str(node.module)
        listed = exports(product[module])
        for alias in node.names:
            whole = f"{module}.{alias.name}"
            hidden = listed is not None and whole not in product and alias.name not in listed
            if hidden or is_private(alias.name):
                yield f"{name} takes {whole}"


def test_a_module_lists_what_it_offers(product: dict[str, Source]) -> None:
    defining = [each for each in product.items() if each[0] not in OPEN]
    assert [fault for name, source in defining for fault in faults_of_list(name, source)] == []


def test_modules_take_only_what_others_offer(product: dict[str, Source]) -> None:
    assert [each for name in product for each in foreign_imports(name, product)] == []


MODULE = '__all__ = ["a", "a", "_b", "c"]\na = 1\ndef d(): pass\n'


def test_faults_of_a_list_are_named() -> None:
    faults = {*faults_of_list("widerow.clock", Source("src/widerow/clock.py", MODULE))}
    assert {fault.removeprefix("widerow.clock ") for fault in faults} == {
        *("lists a twice", "lists the private _b", "does not list d"),
        *("has no a", "has no _b", "has no c"),
    }
    bare = Source("src/widerow/clock.py", "def d(): pass\n")
    assert [*faults_of_list("widerow.clock", bare)] == [
        "widerow.clock has no __all__ and defines d"
    ]


def test_names_that_are_not_offered_are_found() -> None:
    taking = Source("b.py", "from widerow.a import c, d, _e, __version__\n")
    offering = Source("a.py", '__all__ = ["c", "__version__"]\n')
    found = foreign_imports("b", {"b": taking, "widerow.a": offering})
    assert [*found] == ["b takes widerow.a.d", "b takes widerow.a._e"]
