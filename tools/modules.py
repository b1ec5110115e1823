"""Where each thing lives: the packages and modules of the product, and the first line of each.

python -m tools.modules                 # all of them
python -m tools.modules split merge     # those with a word in their name or line; most words first
"""

import argparse
import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tools.markdown_pages import ROOT

__all__ = ["Module", "found", "main", "modules", "page"]

SOURCES: Final = ROOT / "src" / "widerow"
_HEAD: Final = """\
# Where each thing lives

The packages and modules of the product, each with the first line of its own documentation: for
whoever looks for the place of one thing. `python -m tools.modules WORD` prints those that have a
word. [ARCHITECTURE](../../ARCHITECTURE.md) draws how they stand on each other.
"""


class Module(NamedTuple):
    """A module, or a package by its `__init__.py`, and the first line of its docstring."""

    path: Path
    line: str

    @property
    def is_package(self) -> bool:
        """Whether there are modules below it."""
        return self.path.name == "__init__.py"

    @property
    def name(self) -> str:
        """Its place below `src`, as it is written in a shell."""
        place = self.path.parent if self.is_package else self.path
        return str(place.relative_to(SOURCES.parent)) + ("/" if self.is_package else "")


def modules() -> Iterator[Module]:
    """All of them, each package before its modules and these before the packages below."""
    yield from _below(SOURCES)


def _below(folder: Path) -> Iterator[Module]:
    for file in sorted(folder.glob("*.py"), key=lambda each: (each.name != "__init__.py", each)):
        text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        yield Module(file, text.partition("\n")[0])
    for package in sorted(each.parent for each in folder.glob("*/__init__.py")):
        yield from _below(package)


def page() -> str:
    """The list as a page, with links to the sources."""
    lines = [_HEAD]
    for each in modules():
        place = f"../../{each.path.relative_to(ROOT)}"
        if each.is_package:
            lines += [f"\n## {each.name}\n", f"{each.line}\n", "| module | |", "|---|---|"]
        else:
            lines.append(
                f"| [{each.path.name}]({place}) | {each.line.replace('|', chr(92) + '|')} |"
            )
    return "\n".join(lines) + "\n"


def found(told: Iterable[str], words: Sequence[str]) -> list[str]:
    """The lines with one of the words; those with most of them first, else as they came."""
    counts = [(sum(word in line.lower() for word in words), line) for line in told]
    return [line for count, line in sorted(counts, key=lambda each: -each[0]) if count]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the list, or a part of it."""
    parser = argparse.ArgumentParser(description="Packages, modules, and the first line of each.")
    parser.add_argument("words", nargs="*", help="of a name or a first line")
    words = [each.lower() for each in parser.parse_args(arguments).words]
    told = [f"{each.name:<48} {each.line}" for each in modules()]
    if words:
        told = found(told, words)
    print("\n".join(told))


if __name__ == "__main__":
    main()
