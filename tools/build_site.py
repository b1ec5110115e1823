"""Build the documentation as a site: build/site, from the pages as they stand in docs.

    python -m tools.build_site     (make docs)

The generator is Zensical (`pip install zensical`). It is given the pages at the places that
they have in the repository, so that their links lead to the same things; files that they link to,
such as sources and examples, go along, and so do pages that are made of the code
(`generated_pages.py`). The navigation follows the folders: a new page is in it
without being named anywhere, behind those of its section that have a place. A link that leads
nowhere ends the build.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

from tools.generated_pages import PAGES, led_to_pages
from tools.markdown_pages import ROOT, linked_files, pages

__all__ = ["SECTIONS", "BuildFailed", "Section", "build", "navigation", "texts"]

BUILD: Final = ROOT / "build"
LOOK: Final = ROOT / "tools" / "site"
ASSETS: Final = ("iframe-worker.js", "widerow.css")


class BuildFailed(Exception):
    """What the generator found fault with, in its words."""


class Section(NamedTuple):
    """A part of the navigation: the pages that have a place in it, then all others of `folder`.

    `by_name`: others are called as their files are, which is how they are cited.
    """

    title: str
    folder: str
    first: tuple[str, ...] = ()
    by_name: bool = False


SECTIONS: Final = (
    Section(
        "Start",
        "docs/start",
        (
            "docs/README.md",
            "docs/start/five-minutes.md",
            "docs/start/production.md",
            "docs/start/from-tablestore.md",
            "docs/start/from-dynamodb-local.md",
            "docs/start/oracle-nosql.md",
        ),
    ),
    Section("Guides", "docs/guide", ("docs/guide/shell.md", "docs/guide/testing.md")),
    Section("Operating", "docs/operating", ("docs/operating/configure.md",)),
    Section("Protocol", "docs/protocol", ("docs/compat.md", "docs/protocol/differences.md")),
    Section("Formats", "docs/formats"),
    Section(
        "Internals",
        "docs/internals",
        ("ARCHITECTURE.md", "DURABILITY.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"),
    ),
    Section("Specification", "docs/spec", ("docs/spec/README.md",), by_name=True),
)


Entry = str | dict[str, str]
"""A page by its path, called by its first heading, or by another name."""


def navigation(present: set[str]) -> list[dict[str, str | list[Entry]]]:
    """The menu: from titles to the paths of pages, of those that are there.

    Raises: `ValueError` where a page of docs would not be in it.
    """
    menu: list[dict[str, str | list[Entry]]] = [{"widerow": "README.md"}]
    placed = {"README.md"}
    named = {path for section in SECTIONS for path in section.first}
    for section in SECTIONS:
        others = sorted(path for path in present - named if path.startswith(f"{section.folder}/"))
        first = [path for path in section.first if path in present]
        placed |= {*first, *others}
        listed: list[Entry] = [*first]
        listed += [{Path(each).stem: each} for each in others] if section.by_name else others
        if listed:
            menu.append({section.title: listed})
    if lost := sorted(path for path in present - placed if path.startswith("docs/")):
        raise ValueError(f"no section of the navigation has {lost}; SECTIONS lists the folders")
    return menu


def build(place: Path = BUILD) -> Path:
    """Write the site into the folder `site` of `place`, and return that folder.

    Raises: `BuildFailed` with the generator's words where it finds fault with a page.
    """
    staged, site = place / "pages", place / "site"
    for folder in (staged, site):
        shutil.rmtree(folder, ignore_errors=True)
    found = texts()
    for path, text in found.items():
        page = staged / path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
        for file in linked_files(text, (ROOT / path).parent):
            if file.suffix != ".md":
                _copy(file, staged / file.relative_to(ROOT))
    for name in ASSETS:
        _copy(LOOK / name, staged / "assets" / name)
    menu = ",\n".join(f"  {_toml(entry)}" for entry in navigation({*found}))
    look = (LOOK / "zensical.toml").read_text(encoding="utf-8")
    config = place / "zensical.toml"
    config.write_text(look.replace("[project]\n", f"[project]\nnav = [\n{menu},\n]\n", 1))
    program = Path(sys.executable).with_name("zensical")
    command = [str(program), "build", "--strict", "--clean", "--config-file", str(config)]
    said = subprocess.run(  # noqa: S603  # the generator of this environment
        command, capture_output=True, text=True, check=False, env=os.environ | {"NO_COLOR": "1"}
    )
    if said.returncode:
        raise BuildFailed(said.stdout + said.stderr)
    return site


def texts() -> dict[str, str]:
    """The pages of the site by their paths: those of the repository, and those made of the code."""
    kept = {
        str(page.relative_to(ROOT)): led_to_pages(page.read_text(encoding="utf-8"), page.parent)
        for page in pages()
    }
    return kept | {page.path: page.text() for page in PAGES.values()}


def _copy(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)


def _toml(value: str | Entry | list[Entry] | dict[str, str | list[Entry]]) -> str:
    """In one line; strings are written as in JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml(k)} = {_toml(each)}" for k, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


if __name__ == "__main__":
    try:
        print(build())
    except BuildFailed as error:
        sys.exit(str(error))
