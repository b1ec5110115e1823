"""The site has every page of docs, and those made of the code (tools/build_site.py)."""

from collections import Counter

import pytest
from tools.build_site import navigation, texts
from tools.generated_pages import PAGES, led_to_pages, main
from tools.markdown_pages import ROOT, linked_files
from tools.modules import found, modules


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The text of every page by its path."""
    return dict(texts())


def test_the_menu_has_every_page_of_docs_once(pages: dict[str, str]) -> None:
    present = {*pages}
    listed: list[str] = []
    for section in navigation(present):
        for entry in section.values():
            paths = [entry] if isinstance(entry, str) else entry
            for path in paths:
                listed += [path] if isinstance(path, str) else path.values()
    assert sorted(path for path in listed if path.startswith("docs/")) == sorted(
        path for path in present if path.startswith("docs/")
    )
    assert len(listed) == len({*listed})


def test_a_new_page_of_a_folder_is_in_the_menu_and_one_without_is_told() -> None:
    menu = navigation({"docs/guide/new.md", "docs/guide/shell.md"})
    assert {"Guides": ["docs/guide/shell.md", "docs/guide/new.md"]} in menu
    with pytest.raises(ValueError, match=r"docs/elsewhere/new\.md"):
        navigation({"docs/elsewhere/new.md"})


def test_files_that_pages_show_go_along(pages: dict[str, str]) -> None:
    found = pages.items()
    shown = {file for path, text in found for file in linked_files(text, (ROOT / path).parent)}
    assert ROOT / "bench/charts/speed.svg" in shown
    assert ROOT / "src/widerow/errors.py" in shown


@pytest.mark.night
def test_pages_made_of_the_code_are_printed(
    pages: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, page in PAGES.items():
        main([name])
        printed = capsys.readouterr().out
        assert printed == pages[page.path]
        assert printed.startswith("# ")


def test_links_to_what_stands_for_such_a_page_lead_to_the_page_on_the_site(
    pages: dict[str, str],
) -> None:
    text = "[a](../internals/generated.md#errors), [b](generated.md#errors), [c](x.md)"
    assert led_to_pages(text, ROOT / "docs" / "start") == (
        "[a](../protocol/errors.md), [b](generated.md#errors), [c](x.md)"
    )
    for path, written in pages.items():
        assert "generated.md#" not in written, path


def test_every_module_says_what_it_is() -> None:
    """docs/internals/generated.md: names and first lines are how one thing is found."""
    told = list(modules())
    assert [each.name for each in told if not each.line.endswith((".", ")"))] == []
    lines = Counter(each.line for each in told)
    assert [line for line, count in lines.items() if count > 1] == []


def test_modules_with_most_of_the_words_come_first() -> None:
    """docs/internals/from-report-to-bug.md, "Five questions"."""
    told = ["a    Rows of a page.", "b    Pages of rows in files.", "c    Keys.", "d    Rows."]
    assert found(told, ["rows", "page", "files"]) == [told[1], told[0], told[3]]
