"""The menu of the site has every page of docs, also one that nobody named (tools/build_site.py)."""

import pytest
from tools.build_site import navigation
from tools.markdown_pages import ROOT, linked_files, pages


def test_the_menu_has_every_page_of_docs_once() -> None:
    present = {str(page.relative_to(ROOT)) for page in pages()}
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


def test_files_that_pages_show_go_along() -> None:
    shown = {file for page in pages() for file in linked_files(page)}
    assert ROOT / "bench/charts/speed.svg" in shown
    assert ROOT / "src/widerow/errors.py" in shown
