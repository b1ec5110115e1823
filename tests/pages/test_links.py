"""Links of the pages lead somewhere, and the menu of the site has every page (tools)."""

from pathlib import Path

import pytest

import markdown_pages
from build_site import navigation
from markdown_pages import ROOT, Link, anchors, broken_links, links, pages

PAGE = (
    "# Title\n\n## A `key`, and [more](b.md)!\n\n## Twice\n\n## Twice\n\n```\n## No heading\n```\n"
)


def test_no_link_is_broken() -> None:
    assert list(broken_links()) == []


def test_links_are_found() -> None:
    assert sum(1 for page in pages() for _ in links(page)) > 400


def test_headings_have_the_anchors_of_a_code_host(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert anchors(page) == {"title", "a-key-and-more", "twice", "twice-1"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[a](nothing.md)", "there is no such file"),
        ("![a](nothing.svg)", "there is no such file"),
        ("[a](page.md#nothing)", "no heading #nothing"),
        ("[a](#nothing)", "no heading #nothing"),
        ("[a](../page.md)", "out of the repository"),
        ("[a](https://)", "no address"),
        ("[a](ftp://example.org/)", "no address"),
        ("[a](page.md#title) [b](#twice-1) [c](https://example.org/a_(b)) [d](page.md 'd')", ""),
        ("`[a](nothing.md)`\n\n```\n[a](nothing.md)\n```\n", ""),
    ],
)
def test_what_leads_nowhere_is_told(
    text: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markdown_pages, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text(f"{PAGE}\n{text}\n")
    found = list(broken_links())
    if fault:
        (line,) = [each for each in found if "b.md" not in each]
        assert fault in line
        assert line.startswith("page.md:")
    else:
        assert [each for each in found if "b.md" not in each] == []


def test_a_link_knows_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n```\n[no](x)\n```\n\n[yes](y)\n")
    assert list(links(page)) == [Link(page, 7, "y")]


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
