"""tools/tidy.py finds what it is for, lets pass what is fine, and passes on this repository."""

from pathlib import Path

import pytest
from tools import tidy
from tools.tidy import Source

ROOT = Path(__file__).resolve().parents[2]
FINE = '"""A module."""\n'


def tree(files: dict[str, str]) -> dict[str, Source]:
    return {path: Source(path, text) for path, text in files.items()}


def messages(path: str, text: str) -> str:
    """What is said of one file, other than that nothing imports it."""
    findings = tidy.check_tree(tree({path: text}))
    wanted = [each for each in findings if "nothing imports" not in each.message]
    return "\n".join(str(each) for each in wanted if "__init__" not in each.message)


PRODUCT = "src/widerow/engine/a.py"


def function(body: str, parameters: str = "") -> str:
    return f'{FINE}\n\ndef f({parameters}):\n    """Do."""\n{body}'


def lines(count: int) -> str:
    return "    pass\n" * count


def nested(depth: int) -> str:
    blocks = "".join(f"{'    ' * (level + 1)}if x:\n" for level in range(depth))
    return blocks + "    " * (depth + 1) + "pass\n"


CHAIN = "    if a:\n        pass\n" + "    elif b:\n        pass\n" * 9

UNTIDY = {
    "core": (FINE + "x = 1  # rows of typed tables\n", "names a table model"),
    "long file": (FINE + "x = 1\n" * 800, "801 lines"),
    "long line": (FINE + f'x = "{"a" * 100}"\n', "106 characters"),
    "long function": (function(lines(71)), "f: 71 lines"),
    "parameters": (function(lines(1), "a, b, c, d, /, e, *f, h=1, **g"), "f: 8 parameters"),
    "nesting": (function(nested(5)), "f: 5 blocks deep"),
    "class name": (FINE + 'class RowManager:\n    """R."""\n', "manager"),
    "function name": (FINE + "def _write_helper():\n    pass\n", "helper"),
    "variable": (FINE + "row_utils = 1\n", "utils"),
    "parameter": (FINE + "def _f(misc):\n    pass\n", "misc"),
    "bare noqa": (FINE + "x = 1  # " + "noqa\n", "names no rule"),
    "noqa": (FINE + "x = 1  # " + "noqa: E501\n", "gives no reason"),
    "noqa and nothing": (FINE + "x = 1  # " + "noqa: E501  #\n", "gives no reason"),
    "noqa as elsewhere": (FINE + "x = 1  # " + "noqa: E501  # as above\n", "gives no reason"),
    "bare ignore": (FINE + "x = 1  # type" + ": ignore  # for a reason\n", "names no rule"),
    "ignore": (FINE + "x = 1  # type" + ": ignore[x]\n", "gives no reason"),
    "pragma": (FINE + "x = 1  # pragma" + ": no cover\n", "gives no reason"),
    "acyclic": (FINE + "@mypyc_attr(acyclic=True)\nclass _A:\n    pass\n", "memory of others"),
    "final attribute": (
        FINE + "class _A:\n    def __init__(self) -> None:\n        self.a: Final = 1\n",
        "not Final",
    ),
    "marker": (FINE + "# TO" + "DO: later\n", "left-over marker"),
    "other marker": (FINE + "# FIX" + "ME\n", "left-over marker"),
    "machine path": (FINE + 'x = "/ho' + 'me/someone/x"\n', "path of some machine"),
    "temporary path": (FINE + 'x = "/tm' + 'p/x"\n', "path of some machine"),
    "specification": (FINE + "# see tablestore-wire" + ".md\n", "cite its section"),
    "equality": (FINE + "x = signature == y\n", "compare_digest"),
    "inequality": (FINE + "x = y != self.expected_digest\n", "compare_digest"),
    "equality of calls": (FINE + "x = y == mac(z)\n", "compare_digest"),
    "print": (FINE + "print(1)\n", "print outside"),
    "no docstring": ("x = 1\n", "the module has no docstring"),
    "undocumented function": (FINE + "def f():\n    pass\n", "f has no docstring"),
    "undocumented class": (FINE + "class A:\n    pass\n", "A has no docstring"),
    "undocumented method": (
        FINE + 'class A:\n    """A."""\n    def f(self):\n        pass\n',
        "A.f has no docstring",
    ),
}


@pytest.mark.parametrize("name", UNTIDY)
def test_it_is_found(name: str) -> None:
    text, message = UNTIDY[name]
    assert message in messages(PRODUCT, text)


TIDY = {
    "file": FINE + "x = 1\n" * 799,
    "line": FINE + f'x = "{"a" * 94}"\n',
    "line with a reason": FINE + f'x = "{"a" * 94}"  # ' + "noqa: E501  # for this reason\n",
    "function": function(lines(70)),
    "parameters": function(lines(1), "a, b, c, d, /, e, *f, **g"),
    "method": FINE + "class _A:\n    def f(self, a, b, c, d, e, f, g):\n        pass\n",
    "nesting": function(nested(4)),
    "chain of conditions": function(CHAIN),
    "names": FINE + "managed = helped = miscible = utility = 1\n",
    "comparison": FINE + "x = machine == 1 or signature is None or digest_size < 3\n",
    "private": FINE + "def _f():\n    pass\n",
    "overload": FINE + "@overload\ndef f():\n    pass\n",
    "address": FINE + "# https://example.org/work/x, a/tmp/b, ./home/x\n",
    "word": FINE + "# a hackney carriage, mastodon\n",
}


@pytest.mark.parametrize("name", TIDY)
def test_it_passes(name: str) -> None:
    assert messages(PRODUCT, TIDY[name]) == ""


def test_tests_and_the_command_line_have_their_freedoms() -> None:
    assert messages("src/widerow/cli/a.py", FINE + "print(1)\n") == ""
    assert messages("tests/unit/test_a.py", "assert signature == 1\nprint(1)\n") == ""


def test_a_file_may_not_be_named_vaguely() -> None:
    assert "utils" in messages("src/widerow/engine/utils.py", FINE)


def test_markers_are_found_in_documents_too() -> None:
    assert "left-over" in messages("README.md", "# A\n\nTO" + "DO: write this\n")


def test_a_module_that_nothing_imports_is_found() -> None:
    init = {"src/widerow/__init__.py": FINE, "src/widerow/cli/__init__.py": FINE}
    used = {
        "src/widerow/a.py": FINE,
        "src/widerow/b.py": FINE,
        "src/widerow/c.py": FINE,
        "src/widerow/d.py": FINE + "import widerow.d\n",
        "src/widerow/cli/main.py": FINE
        + 'import widerow.a\nfrom widerow import b\nx = "widerow.c"\n',
        "pyproject.toml": '[project.scripts]\nwiderow = "widerow.cli.main:main"\n',
        "tests/test_d.py": "import widerow.d\n",
    }
    found = tidy.check_tree(tree(init | used))
    assert [each.path for each in found] == ["src/widerow/d.py"]


@pytest.mark.parametrize(
    ("folder", "name", "found"),
    [
        ("widerow/a", "call", True),
        ("widerow/a", "Thing", True),
        ("widerow/a", "main", False),
    ],
)
def test_a_public_name_means_one_thing(folder: str, name: str, *, found: bool) -> None:
    text = f'"""Told."""\n\n__all__ = ["{name}"]\n\n{name} = 1\n'
    paths = [f"src/{folder}/{module}.py" for module in ("one", "two")]
    untidy = list(tidy.check_unique_names({path: Source(path, text) for path in paths}))
    assert [finding.path for finding in untidy] == ([paths[1]] if found else [])


def test_what_ships_for_tests_may_be_used_by_tests_alone() -> None:
    files = {
        "src/widerow/__init__.py": FINE,
        "src/widerow/testing/__init__.py": FINE,
        "src/widerow/testing/clock.py": FINE,
    }
    assert len(tidy.check_tree(tree(files))) == 1
    used = {"tests/test_a.py": "from widerow.testing.clock import Fake\n"}
    assert tidy.check_tree(tree(files | used)) == []


def test_a_folder_without_init_is_found() -> None:
    found = tidy.check_tree(tree({"src/widerow/a.py": FINE}))
    assert "no __init__.py" in "\n".join(map(str, found))


def said_where_hot_is_compiled(module: str, line: str) -> str:
    """The findings in a product of which the module `hot` is compiled and one has this line."""
    files = {
        "setup.py": 'HOT_MODULES = ("hot",)\n',
        "src/widerow/__init__.py": FINE + "from widerow import cold, hot\n",
        f"src/widerow/{module}.py": FINE + line + "\n",
    }
    return "\n".join(map(str, tidy.check_tree(tree(files))))


@pytest.mark.parametrize(
    ("module", "line", "found"),
    [
        ("hot", "x = (each for each in y)", True),
        ("hot", "x = f(each for each in y)", True),
        ("hot", "x = next(each for each in y)", True),
        ("hot", "x = [*(each for each in y)]", True),
        ("hot", "x = any(each for each in y)", False),
        ("hot", "x = ','.join(each for each in y)", False),
        ("hot", "x = [each for each in y]", False),
        ("cold", "x = (each for each in y)", False),
    ],
)
def test_compiled_modules_have_no_lazy_expressions(module: str, line: str, *, found: bool) -> None:
    said = said_where_hot_is_compiled(module, line)
    assert ("is a list" in said) is found, said


@pytest.mark.parametrize(
    ("module", "line", "found"),
    [
        ("hot", "raise ValueError from None", True),
        ("hot", "raise ValueError", False),
        ("hot", "raise ValueError from x", False),
        ("cold", "raise ValueError from None", False),
    ],
)
def test_compiled_modules_do_not_hide_causes(module: str, line: str, *, found: bool) -> None:
    said = said_where_hot_is_compiled(module, line)
    assert ("is ignored" in said) is found, said


@pytest.mark.parametrize(
    ("module", "names", "found"),
    [("hot", "ee", True), ("hot", "ef", False), ("cold", "ee", False)],
)
def test_handlers_of_compiled_modules_have_names_of_their_own(
    module: str, names: str, *, found: bool
) -> None:
    handlers = f"  except OSError as {names[0]}: g()\n  except ValueError as {names[1]}: g()"
    said = said_where_hot_is_compiled(module, f"def f() -> None:\n  try: g()\n{handlers}")
    assert ("have the first one's type" in said) is found, said


def test_a_page_of_the_specification_may_be_named_where_it_is_public() -> None:
    naming = {"docs/a.md": "# A\n\nSee nosql-" + "model.md.\n"}
    (found,) = tidy.check_tree(tree(naming))
    assert (found.path, found.line) == ("docs/a.md", 3)
    page = {"docs/spec/nosql-" + "model.md": "# Model\n"}
    assert tidy.check_tree(tree(naming | page)) == []
    elsewhere = {"docs/nosql-" + "model.md": "# Model\n"}
    assert len(tidy.check_tree(tree(naming | elsewhere))) == 1


DOCUMENTS = {
    "README.md": "# One\n\n## A `b` c: d!\n",
    "docs/formats/keys.md": "# Keys\n",
    "docs/a.md": "",
}


@pytest.mark.parametrize(
    ("link", "resolves"),
    [
        ("formats/keys.md", True),
        ("formats", True),
        ("../README.md", True),
        ("../README.md#one", True),
        ("../README.md#a-b-c-d", True),
        ("../LICENSE", True),
        ("#here", True),
        ("https://example.org/nothing", True),
        ("mailto:someone@example.org", True),
        ("https://example.org", True),
        ("https://", False),
        ("https://nothing", False),
        ("mailto:nobody", False),
        ("ftp://example.org/", False),
        ('formats/keys.md "with a title"', True),
        ('formats/rows.md "with a title"', False),
        ("formats/rows.md", False),
        ("README.md", False),
        ("../README.md#two", False),
        ("#there", False),
        ("../../README.md", False),
    ],
)
def test_links_lead_somewhere(link: str, *, resolves: bool) -> None:
    files = DOCUMENTS | {"docs/a.md": f"# Here\n\n[text]({link})\n"}
    found = [each.message for each in tidy.check_tree(tree(files))]
    named = link.partition(" ")[0]
    assert found == ([] if resolves else [f"the link {named} leads nowhere"])


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("## 4. Key order, encoding, limits", "4-key-order-encoding-limits"),
        ("## A `b_c` & D-e", "a-b_c--d-e"),
        ("## See [the page](../README.md) now", "see-the-page-now"),
        ("## Really ?", "really-"),
        ("## Größe ##", "größe"),
        ("## Once\n\n### Once\n\n## Once", "once-2"),
        ("## Once\n\n## Once-1\n\n## Once", "once-2"),
    ],
)
def test_an_anchor_is_what_github_makes_of_a_heading(heading: str, anchor: str) -> None:
    files = DOCUMENTS | {"docs/b.md": f"# B\n\n{heading}\n"}
    right = files | {"docs/a.md": f"# A\n\n[text](b.md#{anchor})\n"}
    assert tidy.check_tree(tree(right)) == []
    wrong = files | {"docs/a.md": f"# A\n\n[text](b.md#{anchor}x)\n"}
    (found,) = tidy.check_tree(tree(wrong))
    assert found.message == f"the link b.md#{anchor}x leads nowhere"


def test_a_heading_in_code_has_no_anchor() -> None:
    files = DOCUMENTS | {"docs/a.md": "# A\n\n```\n# B\n```\n\n[text](#b)\n"}
    assert len(tidy.check_tree(tree(files))) == 1


def test_links_in_code_are_not_links() -> None:
    files = DOCUMENTS | {"docs/a.md": "```\n[text](nowhere.md)\n```\n"}
    assert tidy.check_tree(tree(files)) == []


def test_a_tree_is_read_without_what_is_not_ours(tmp_path: Path) -> None:
    for name in ("a.py", "b.txt", ".venv/c.py", "x.egg-info/d.txt", ".ruff_cache/e.py", "f.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    assert list(tidy.read_tree(tmp_path)) == ["a.py", "b.txt"]


@pytest.mark.night  # `make check` looks, too
@pytest.mark.timeout(400)  # fifteen seconds on a machine that does nothing else
def test_this_repository_is_tidy() -> None:
    read = tidy.read_tree(ROOT)
    assert len([path for path in read if path.startswith("src/widerow/")]) > 50
    assert "\n".join(map(str, tidy.check_tree(read))) == ""


def test_the_report_measures_the_product(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = {"src/widerow/limits.py": Source("src/widerow/limits.py", function(lines(3)))}
    monkeypatch.setattr(tidy, "read_tree", lambda _: few)
    assert tidy.main(["--report"]) == 0
    printed = capsys.readouterr().out
    for measure in ("modules", "file lines", "body lines", "parameters", "nesting"):
        assert f"{measure} " in printed


@pytest.mark.night
def test_the_median_function_is_small() -> None:
    # Sizes are judged by their distribution; the caps only cut the tail.
    sources = [each for each in tidy.read_tree(ROOT).values() if each.is_product]
    functions = [each for source in sources for each in source.functions()]
    sizes = sorted(map(tidy.body_lines, functions))
    assert sizes[len(sizes) // 2] <= 8
    assert sizes[len(sizes) * 95 // 100] <= 35
