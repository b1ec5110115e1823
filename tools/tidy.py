"""Style as a test: what a linter does not know about this project.

Run by `make check` and by the tests. Prints one line for each finding and fails if there is any;
`--report` prints how sizes are distributed instead, as they tell more than a cap.

Each check is a function from a file to findings, listed in the tables at the end of the file.
"""

import argparse
import ast
import gc
import io
import os
import re
import statistics
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final, NamedTuple

from tools.citations import wrong_citations

__all__ = ["Finding", "Source", "check_tree", "last_name", "main", "read_tree", "report"]

FUNCTION_LINES_MAX: Final = 70  # body without docstring: what two screens hold
FILE_LINES_MAX: Final = 800
LINE_CHARS_MAX: Final = 100
PARAMETERS_MAX: Final = 7
NESTING_MAX: Final = 4

SKIPPED: Final = frozenset(
    (".git", ".venv", "__pycache__", "build", "dist", "node_modules", "widerow-data")
)
TEXT_SUFFIXES: Final = frozenset(
    (
        *(".cfg", ".go", ".ini", ".java", ".js", ".lark", ".md", ".proto", ".py", ".pyi"),
        *(".sh", ".svg", ".toml", ".txt", ".yaml", ".yml"),
    )
)
PICTURE_SUFFIXES: Final = frozenset((".png",))  # documents show them; there is nothing to read
TEXT_NAMES: Final = frozenset(("Makefile", "run"))

# The brackets keep these from finding themselves.
MARKERS: Final = re.compile(r"\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b")
MACHINE_PATHS: Final = re.compile(r"(?<![\w.:/])/(?:[w]ork|[t]mp|[h]ome|[U]sers|[r]oot)/\w")
SPECIFICATION_FILES: Final = re.compile(r"\b(?:tablestore|nosql)-[a-z-]+[.]md\b")
EXCEPTION: Final = re.compile(
    r"#\s*(?P<what>type:\s*ignore|noqa|pragma:)(?P<rest>[^#]*)(?P<why>.*)"
)
CODE: Final = re.compile(r"^(?:\[[\w, -]+\]|:\s*[A-Z]+\d+(?:[, ]+[A-Z]+\d+)*|\s*no \w+)\s*$")
# What a reader has to look for elsewhere is no reason.
ELSEWHERE: Final = re.compile(r"(the )?same|(as|see) (above|before|below)")
CORE: Final = "src/widerow/engine/"
MODEL_NAMES: Final = re.compile(r"typed|tablestore|widerow\.search|model\.search", re.IGNORECASE)
LINK: Final = re.compile(r"\[(?P<text>[^\]\n]*)\]\((?P<target>[^)\s]+)(?: \"[^\"]*\")?\)")
ADDRESS: Final = re.compile(r"https?://[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)|mailto:[^@\s]+@[^@\s]+$")
HEADING: Final = re.compile(r"^#{1,6}\s+(?P<text>.+?)\s*#*$", re.MULTILINE)
FENCE: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

VAGUE_WORDS: Final = frozenset(("manager", "helper", "helpers", "util", "utils", "misc"))
EAGER: Final = frozenset(  # what uses up at once, or asks one by one, whatever it is given
    ("all", "any", "bytes", "frozenset", "join", "max", "min", "set", "sorted", "sum", "tuple")
)
SECRET_WORDS: Final = frozenset(("signature", "digest", "mac", "hmac", "secret"))


class Finding(NamedTuple):
    """Something untidy, and where."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True)
class Source:
    """One file. `path` is relative to the root, with forward slashes."""

    path: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed module."""
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Those of the parsed module, from the outer ones to the inner ones."""
        found: list[ast.AST] = [self.tree]
        for node in found:  # which grows meanwhile; `ast.walk` takes twice as long for it
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, ast.AST):
                    found.append(value)
                elif isinstance(value, list):
                    found += [each for each in value if isinstance(each, ast.AST)]
        return tuple(found)

    @cached_property
    def module(self) -> str:
        """The dotted name of a file under src."""
        parts = Path(self.path).with_suffix("").parts[1:]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def is_python(self) -> bool:
        """Whether it is a module (stub files are generated)."""
        return self.path.endswith(".py")

    @property
    def is_product(self) -> bool:
        """Whether it is a module of the package."""
        return self.is_python and self.path.startswith("src/")

    def functions(self) -> Iterator["Function"]:
        """Every function and method, nested ones too."""
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def find(self, pattern: re.Pattern[str], message: str) -> Iterator[Finding]:
        """A finding for every line that has `pattern`; {} in the message is what was found."""
        for number, line in enumerate(self.lines, 1):
            if found := pattern.search(line):
                yield Finding(self.path, number, message.format(found.group()))


Function = ast.FunctionDef | ast.AsyncFunctionDef
Tree = dict[str, Source]


def read_tree(root: Path) -> Tree:
    """Every text file under `root` that belongs to the repository, by path, in order.

    A picture is among them without a text.
    """
    found = []
    for folder, inner, names in os.walk(root):
        inner[:] = [each for each in inner if not is_foreign(each)]
        found += [Path(folder, name) for name in names if not is_foreign(name)]
    tree = {}
    for path in sorted(found):
        name = path.relative_to(root).as_posix()
        if path.suffix in TEXT_SUFFIXES or path.name in TEXT_NAMES:
            tree[name] = Source(name, path.read_text(encoding="utf-8"))
        elif path.suffix in PICTURE_SUFFIXES:
            tree[name] = Source(name, "")
    return tree


def is_foreign(name: str) -> bool:
    """Whether a file or folder of this name is made or fetched by a program."""
    return name in SKIPPED or name.endswith((".egg-info", "_cache"))


# --- sizes ----------------------------------------------------------------------------------------


def body_lines(function: Function) -> int:
    """Lines of a body, its docstring left out."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def parameters(function: Function) -> int:
    """How many parameters a caller may give."""
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    starred = (arguments.vararg is not None) + (arguments.kwarg is not None)
    return len(names) + starred - (names[:1] in (["self"], ["cls"]))


BLOCKS: Final = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)


def nesting(node: ast.AST) -> int:
    """How deep blocks stand in one another below `node`. An `elif` is as deep as its `if`."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue  # an expression has no blocks, and the others are measured by themselves
        chained = isinstance(node, ast.If) and [child] == node.orelse and isinstance(child, ast.If)
        own = isinstance(child, BLOCKS) and not chained
        deepest = max(deepest, own + nesting(child))
    return deepest


def check_sizes(source: Source) -> Iterator[Finding]:
    """Files, lines and functions stay within their caps."""
    if len(source.lines) > FILE_LINES_MAX:
        yield Finding(source.path, 1, f"{len(source.lines)} lines; split the file")
    for number, whole in enumerate(source.lines, 1):
        if len(whole) > LINE_CHARS_MAX:
            line = EXCEPTION.sub("", whole).rstrip()  # a reason is as long as it is
            if len(line) > LINE_CHARS_MAX:
                yield Finding(source.path, number, f"{len(line)} characters; break the line")
    measures: tuple[tuple[Callable[[Function], int], int, str], ...] = (
        (body_lines, FUNCTION_LINES_MAX, "lines; split the function"),
        (parameters, PARAMETERS_MAX, "parameters; pass a value that holds them"),
        (nesting, NESTING_MAX, "blocks deep; return early or split the function"),
    )
    for function in source.functions():
        for measure, cap, message in measures:
            if (size := measure(function)) > cap:
                text = f"{function.name}: {size} {message}"
                yield Finding(source.path, function.lineno, text)


# --- words ----------------------------------------------------------------------------------------


@cache
def words(name: str) -> frozenset[str]:
    """The words of a name in any of Python's spellings, in lower case."""
    return frozenset(word.lower() for word in WORD.findall(name))


def defined_names(source: Source) -> Iterator[tuple[str, int]]:
    """Every name that a module gives to something, with its line."""
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def check_names(source: Source) -> Iterator[Finding]:
    """Names are the field's own; these words say nothing about what something is."""
    message = "a name with {} says nothing; name what it is"
    for part in Path(source.path).with_suffix("").parts:
        for word in words(part) & VAGUE_WORDS:
            yield Finding(source.path, 1, message.format(word))
    for name, line in defined_names(source):
        for word in words(name) & VAGUE_WORDS:
            yield Finding(source.path, line, f"{name}: {message.format(word)}")


def check_markers(source: Source) -> Iterator[Finding]:
    """What is left to do stands in an issue."""
    yield from source.find(MARKERS, "left-over marker {}")


def check_paths(source: Source) -> Iterator[Finding]:
    """Nothing depends on, or speaks of, one machine."""
    yield from source.find(MACHINE_PATHS, "path of some machine: {}")


def check_pages(tree: Tree) -> Iterator[Finding]:
    """A page of the specification that is named stands in `docs/spec`."""
    message = "{} is not in the repository; cite its section"
    for source in tree.values():
        for number, line in enumerate(source.lines, 1):
            for name in SPECIFICATION_FILES.findall(line):
                if f"docs/spec/{name}" not in tree:
                    yield Finding(source.path, number, message.format(name))


def check_citations(tree: Tree) -> Iterator[Finding]:
    """A section that is cited stands in the page that is named."""
    texts = {source.path: source.text for source in tree.values()}
    for wrong in wrong_citations(texts):
        yield Finding(*wrong)


def check_exceptions(source: Source) -> Iterator[Finding]:
    """An exception to a rule names the rule, and says why behind a second `#`."""
    if not EXCEPTION.search(source.text):
        return
    reader = io.StringIO(source.text).readline
    for token in tokenize.generate_tokens(reader):
        found = EXCEPTION.search(token.string) if token.type == tokenize.COMMENT else None
        if found is None:
            continue
        if not CODE.match(found["rest"]):
            yield Finding(source.path, token.start[0], f"{found['what']} names no rule")
        why = found["why"].strip("# ")
        if len(why) < 4 or ELSEWHERE.fullmatch(why):
            yield Finding(source.path, token.start[0], f"{found['what']} gives no reason")


# --- the product only -----------------------------------------------------------------------------


def check_comparisons(source: Source) -> Iterator[Finding]:
    """Secrets are compared in constant time."""
    for node in source.nodes:
        if not isinstance(node, ast.Compare):
            continue
        if not any(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops):
            continue
        for side in (node.left, *node.comparators):
            if words(last_name(side)) & SECRET_WORDS:
                text = f"{last_name(side)}: compare with hmac.compare_digest"
                yield Finding(source.path, node.lineno, text)


def last_name(node: ast.expr) -> str:
    """The name that an expression ends in, or nothing."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner) | ast.Await(value=inner):
            return last_name(inner)
        case _:
            return ""


def check_prints(source: Source) -> Iterator[Finding]:
    """Only the command line prints."""
    if source.path.startswith("src/widerow/cli/"):
        return
    for node in source.nodes:
        if isinstance(node, ast.Call) and last_name(node.func) == "print":
            yield Finding(source.path, node.lineno, "print outside the command line")


def check_final_attributes(source: Source) -> Iterator[Finding]:
    """No `self.name: Final`: mypyc 2.4 lets go of such a value while it is still in use."""
    for node in source.nodes:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Attribute):
            continue
        if ast.unparse(node.annotation).startswith("Final"):
            text = "an attribute of an instance is not Final: compiled, that corrupts memory"
            yield Finding(source.path, node.lineno, text)


def check_generators(tree: Tree) -> Iterator[Finding]:
    """A generator expression of a compiled module is used up where it stands.

    mypyc makes a list of it, so whoever takes it for lazy reads everything.
    """
    for path in compiled_modules(tree):
        parents = {child: node for node in tree[path].nodes for child in ast.iter_child_nodes(node)}
        for node, parent in parents.items():
            if not isinstance(node, ast.GeneratorExp):
                continue
            if not isinstance(parent, ast.Call) or last_name(parent.func) not in EAGER:
                text = "compiled, a generator expression is a list: write one, or a function"
                yield Finding(path, node.lineno, text)


def check_causes(tree: Tree) -> Iterator[Finding]:
    """No `raise … from None` in a compiled module: mypyc keeps the cause as the error's context."""
    for path in compiled_modules(tree):
        for node in tree[path].nodes:
            if not isinstance(node, ast.Raise) or not isinstance(node.cause, ast.Constant):
                continue
            text = "compiled, 'from None' is ignored: raise outside of the handler"
            yield Finding(path, node.lineno, text)


def check_handlers(tree: Tree) -> Iterator[Finding]:
    """Two handlers of a compiled function give their errors two names.

    mypyc types the name by the class of the first handler, and the second one fails on its own.
    """
    for path in compiled_modules(tree):
        for function in (node for node in tree[path].nodes if isinstance(node, Function)):
            taken: dict[str, str] = {}
            for node in ast.walk(function):
                if not isinstance(node, ast.ExceptHandler) or node.name is None:
                    continue
                caught = ast.unparse(node.type) if node.type else ""
                if taken.setdefault(node.name, caught) != caught:
                    text = f"compiled, both errors named {node.name!r} have the first one's type"
                    yield Finding(path, node.lineno, text)


def check_collected(source: Source) -> Iterator[Finding]:
    """No class is left out of the search for cycles: freed deep down, it would damage others.

    (docs/internals/serving.md, "Compiled where it counts")
    """
    for node in source.nodes:
        if isinstance(node, ast.keyword) and node.arg == "acyclic":
            yield Finding(source.path, node.value.lineno, "'acyclic' damages memory of others")


def compiled_modules(tree: Tree) -> list[str]:
    """The paths of the modules that `setup.py` compiles."""
    if "setup.py" not in tree:
        return []
    for node in tree["setup.py"].tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HOT_MODULES":
            paths = (f"src/widerow/{module}.py" for module in ast.literal_eval(node.value))
            return [path for path in paths if path in tree]
    return []


def check_docstrings(source: Source) -> Iterator[Finding]:
    """Every module, and everything public in it, says what it promises."""
    if ast.get_docstring(source.tree) is None:
        yield Finding(source.path, 1, "the module has no docstring")
    yield from undocumented(source, source.tree, "")


def undocumented(source: Source, node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[Finding]:
    """What is public in `node` and has no docstring."""
    for child in node.body:
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if child.name.startswith("_") or "overload" in map(last_name, child.decorator_list):
            continue
        if ast.get_docstring(child) is None:
            yield Finding(source.path, child.lineno, f"{prefix}{child.name} has no docstring")
        if isinstance(child, ast.ClassDef):
            yield from undocumented(source, child, f"{prefix}{child.name}.")


# --- the tree as a whole --------------------------------------------------------------------------


def check_dead_modules(tree: Tree) -> Iterator[Finding]:
    """Every module is imported by another, or is where a program starts."""
    product = {source.module: source for source in tree.values() if source.is_product}
    used = set(entry_points(tree))
    for source in product.values():
        used |= set(imported_modules(source)) - {source.module}
    for source in tree.values():  # what ships for tests may be used by tests alone
        if source.is_python and source.path.startswith("tests/"):
            used |= {name for name in imported_modules(source) if ".testing." in name}
    for module, source in product.items():
        if module not in used and not source.path.endswith(("__init__.py", "__main__.py")):
            yield Finding(source.path, 1, "nothing imports this module")


def entry_points(tree: Tree) -> Iterator[str]:
    """The modules that pyproject.toml's commands start in."""
    settings = tree.get("pyproject.toml")
    if settings is not None:
        for found in re.finditer(r'^\w+ = "(widerow[\w.]*):\w+"$', settings.text, re.MULTILINE):
            yield found.group(1)


def imported_modules(source: Source) -> Iterator[str]:
    """Names of modules (and of what stands in them) that a module imports, by any means."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and str(node.value).startswith("widerow."):
            yield str(node.value)  # for importlib.import_module, in a table


def check_unique_names(tree: Tree) -> Iterator[Finding]:
    """A public name means one thing in the package: one module defines it."""
    first: dict[str, Source] = {}
    for source in sorted(tree.values(), key=lambda each: each.path):
        if not source.is_product or source.path.endswith("__init__.py"):
            continue
        for name, line in public_names(source.tree):
            if name == "main":
                continue
            known = first.setdefault(name, source)
            if known is not source:
                text = f"{name} is also the name of something in {known.path}: one name, one thing"
                yield Finding(source.path, line, text)


def public_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """What a module defines of the names in its `__all__`, and the lines."""
    shown: set[str] = set()
    defined: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined[node.name] = node.lineno
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        for target in targets:
            if ast.unparse(target) == "__all__" and isinstance(node, ast.Assign):
                shown.update(ast.literal_eval(node.value))
            else:
                defined[ast.unparse(target)] = node.lineno
    yield from ((name, defined[name]) for name in sorted(shown & defined.keys()))


def check_core(source: Source) -> Iterator[Finding]:
    """The core of the engine names no table model, neither in code nor in comments."""
    path = source.path.removeprefix(CORE)
    if path == source.path or path.startswith(
        ("tablestore/", "timeseries/", "typed/", "table_models.py")
    ):
        return
    for number, line in enumerate(source.lines, 1):
        if MODEL_NAMES.search(line) and path != "__init__.py":
            yield Finding(source.path, number, "the core names a table model: give it a hook")


def check_packages(tree: Tree) -> Iterator[Finding]:
    """Every folder of modules is a package whose `__init__` says what it is."""
    for folder in sorted({str(Path(path).parent) for path in tree if path.endswith(".py")}):
        if folder.startswith("src/") and f"{folder}/__init__.py" not in tree:
            yield Finding(folder, 1, "the package has no __init__.py")


def check_links(tree: Tree) -> Iterator[Finding]:
    """Links between the repository's documents lead somewhere."""
    for source in tree.values():
        if not source.path.endswith(".md"):
            continue
        for number, line in enumerate(unfenced(source.text).splitlines(), 1):
            for found in LINK.finditer(line):
                if not leads_somewhere(tree, source, found["target"]):
                    text = f"the link {found['target']} leads nowhere"
                    yield Finding(source.path, number, text)


def unfenced(text: str) -> str:
    """A document with its code blocks emptied, line by line."""
    return FENCE.sub(lambda block: "\n" * block.group().count("\n"), text)


def leads_somewhere(tree: Tree, source: Source, target: str) -> bool:
    """Whether a link's target exists; an address of the web is to be one, and is not asked."""
    if re.match(r"[a-z]+:", target):
        return ADDRESS.match(target) is not None
    path, _, anchor = target.partition("#")
    name = source.path
    if path:
        parts: list[str] = []
        for part in (Path(source.path).parent / path).parts:
            parts = parts[:-1] if part == ".." and parts else [*parts, part]
        name = "/".join(parts)
    inside = any(each == name or each.startswith(f"{name}/") for each in tree) or name == "LICENSE"
    return inside and (not anchor or name not in tree or anchor in anchors(tree[name]))


def anchors(source: Source) -> set[str]:
    """The anchors that GitHub gives to a document's headings.

    Letters, digits, hyphens and underscores of the text that is shown, in lower case, with a hyphen
    for each space; an anchor that is taken gets the next free number behind it.
    """
    taken: set[str] = set()
    for found in HEADING.finditer(unfenced(source.text)):
        shown = LINK.sub(lambda link: link["text"], found["text"])
        name = anchor = re.sub(r"[^\w\- ]", "", shown).lower().replace(" ", "-")
        number = 0
        while anchor in taken:
            number += 1
            anchor = f"{name}-{number}"
        taken.add(anchor)
    return taken


# --- all of them ----------------------------------------------------------------------------------

TEXT_CHECKS: Final = (check_markers, check_paths)
PYTHON_CHECKS: Final = (check_sizes, check_names, check_exceptions)
PRODUCT_CHECKS: Final = (
    check_core,
    check_comparisons,
    check_prints,
    check_final_attributes,
    check_collected,
    check_docstrings,
)
TREE_CHECKS: Final = (
    check_dead_modules,
    check_unique_names,
    check_packages,
    check_links,
    check_pages,
    check_citations,
    check_generators,
    check_causes,
    check_handlers,
)


def check_tree(tree: Tree) -> list[Finding]:
    """Every finding in a tree of files, in the order of their places."""
    gc.disable()  # it would look through all parsed modules again and again: half of the time
    try:
        return sorted(_findings(tree))
    finally:
        gc.enable()


def _findings(tree: Tree) -> list[Finding]:
    findings: list[Finding] = []
    for source in tree.values():
        checks = TEXT_CHECKS + (PYTHON_CHECKS if source.is_python else ())
        for check in checks + (PRODUCT_CHECKS if source.is_product else ()):
            findings += check(source)
    for check_whole in TREE_CHECKS:
        findings += check_whole(tree)
    return findings


def distribution(numbers: Iterable[int]) -> str:
    """Median, 95th percentile and largest of some numbers."""
    ordered = sorted(numbers)
    if not ordered:
        return "none"
    ninety_fifth = ordered[(len(ordered) * 95 - 1) // 100]
    return f"median {statistics.median(ordered):g}, 95 % {ninety_fifth}, largest {ordered[-1]}"


def report(tree: Tree) -> str:
    """How large things are."""
    product = [source for source in tree.values() if source.is_product]
    tests = [each for each in tree.values() if each.is_python and each.path.startswith("tests/")]
    functions = [function for source in product for function in source.functions()]
    code, test = (sum(len(each.lines) for each in group) for group in (product, tests))
    return "\n".join(
        (
            f"modules      {len(product)}, {code} lines; {test / max(code, 1):.2f} of tests each",
            f"file lines   {distribution(len(source.lines) for source in product)}",
            f"body lines   {distribution(map(body_lines, functions))}",
            f"parameters   {distribution(map(parameters, functions))}",
            f"nesting      {distribution(map(nesting, functions))}",
        )
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the repository that this file stands in; return what the process exits with."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--report", action="store_true", help="print how sizes are distributed")
    options = parser.parse_args(arguments)
    tree = read_tree(Path(__file__).resolve().parent.parent)
    if options.report:
        print(report(tree))
        return 0
    findings = check_tree(tree)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
