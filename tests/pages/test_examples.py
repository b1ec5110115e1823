"""Every example of a page runs, or says why it does not (tests/pages/examples.py)."""

import os
from pathlib import Path
from typing import Final

import pytest
from tests.pages.examples import RUNNERS, Example, Place, check_unrun, examples, run_page
from tools.markdown_pages import ROOT, pages

from widerow.system import SystemClock
from widerow.testing.server import WiderowServer

pytestmark = pytest.mark.timeout(180)

ELSEWHERE: Final = {
    "docs/guide/advisors.md": "tests/unit/proxy/test_guides.py",
    "docs/guide/proxy.md": "tests/unit/proxy/test_guides.py",
    "docs/guide/testing.md": "tests/unit/testing/test_documents.py",
}
"""Pages whose examples a test of their own runs."""
SPECIFICATION: Final = "docs/spec/"  # what others wrote down of the services, not of widerow
DATA: Final = frozenset(("csv", "json", "sql"))
"""Languages of records; tests/golden and tests/transfer hold them against the code."""
NEEDS: Final = {"docs/guide/delivery.md": "pyarrow", "docs/operating/transfer.md": "pyarrow"}
"""Pages that need an extra, by the module that it brings."""

PAGES: Final = {
    name: found
    for page in pages()
    if not (name := str(page.relative_to(ROOT))).startswith(SPECIFICATION)
    if name not in ELSEWHERE and (found := list(examples(page)))
}
# Half a minute over 40,000 rows; a walk through all kinds of tests; searches of a shell.
LONG: Final = (
    *("docs/guide/key-design.md", "docs/internals/from-report-to-bug.md"),
    "docs/guide/search-shell.md",
)
ALL: Final = [example for found in PAGES.values() for example in found]


def test_there_are_examples() -> None:
    assert len(PAGES) > 15
    assert sum(example.kind in RUNNERS and not example.why_not for example in ALL) > 60


def is_run(example: Example) -> bool:
    """Whether it is a file or data, or run here, or by tests/golden: those of docs/formats."""
    record = example.page.startswith("docs/formats/")
    data = example.mark.startswith("file: ") or example.kind in DATA
    return data or record or example.kind in RUNNERS


def test_every_block_is_run_or_says_why_not() -> None:
    silent = [each for each in ALL if not is_run(each) and not each.why_not]
    assert silent == [], "<!-- not run: REASON --> above"


# The SDK encodes points by a deprecated call of its FlatBuffers library.
@pytest.mark.filterwarnings("ignore:numElems is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.night] * (name in LONG)) for name in PAGES]
)
def test_the_examples_of_a_page_run(name: str, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    (tmp_path / "files").mkdir()
    for folder in ("examples", "src", "tests"):  # pages for those who change widerow name them
        (tmp_path / folder).symlink_to(ROOT / folder)
    settings = {"delivery_root": str(tmp_path / "files")}
    with WiderowServer(clock=SystemClock(), settings=settings) as server:
        run_page(PAGES[name], Place(tmp_path, server.endpoint))
    for drawn in tmp_path.glob("*.svg"):
        shown = ROOT / Path(name).parent / "pictures" / drawn.name
        if os.environ.get("WIDEROW_PICTURES"):
            shown.write_bytes(drawn.read_bytes())
        assert shown.read_bytes() == drawn.read_bytes(), "WIDEROW_PICTURES=1 pytest tests/pages"


@pytest.mark.parametrize("page", ELSEWHERE)
def test_a_page_that_is_run_elsewhere_is(page: str) -> None:
    test = (ROOT / ELSEWHERE[page]).read_text(encoding="utf-8")
    assert Path(page).name in test or "GUIDE" in test


@pytest.mark.parametrize(
    "text",
    [
        "widerow sreve",
        "widerow serve --prot 1",
        "widerow table craete t",
        "make nothing",
        "python -m tools.nothing",
        "python -m bench.nothing",
        "true && widerow serve --prot 1",
    ],
)
def test_a_command_that_does_not_exist_is_found(text: str) -> None:
    with pytest.raises(Exception, match=r"sreve|prot|craete|nothing"):
        check_unrun(Example("page", 1, "sh", text, "not run: it is wrong"))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", "assert False"),
        ("sh", "false; true"),
        ("console", "$ widerow version\nsomething else\n"),
        ("toml", "hots = '::'"),
        ("ts", "nothing\n"),
    ],
)
def test_an_example_that_is_wrong_fails(kind: str, text: str, tmp_path: Path) -> None:
    place = Place(tmp_path, "http://127.0.0.1:9")
    with pytest.raises(Exception) as caught:  # noqa: PT011  # of several kinds
        run_page([Example("docs/page.md", 7, kind, text, "")], place)
    assert caught.value.__notes__ == ["docs/page.md:7"]
