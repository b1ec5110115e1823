"""Pages that are made of the code: built with the site (`make docs`), printed by their names.

    python -m tools.generated_pages errors > errors.md

They are not kept in the repository. Pages link to sections of docs/internals/generated.md instead,
which says how to see them; on the site these links lead to the pages themselves.
"""

import argparse
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.compat.page import page as compat_page
from tests.compat.page import read_record
from tools import errors_page, modules
from tools.markdown_pages import ROOT

__all__ = ["PAGES", "GeneratedPage", "led_to_pages", "main"]


class GeneratedPage(NamedTuple):
    """`path`: where the site has it, as if it lay in the repository."""

    path: str
    text: Callable[[], str]


PAGES: Final = {
    "compat": GeneratedPage("docs/compat.md", lambda: compat_page(read_record())),
    "errors": GeneratedPage("docs/protocol/errors.md", errors_page.page),
    "modules": GeneratedPage("docs/internals/modules.md", modules.page),
}
"""By their names, which are sections of docs/internals/generated.md too."""
_STANDS_FOR: Final = ROOT / "docs" / "internals" / "generated.md"
_LINK: Final = re.compile(r"\]\((?P<path>[^)#\s]*generated\.md)#(?P<name>\w+)\)")


def led_to_pages(text: str, folder: Path) -> str:
    """A page of `folder` whose links to generated.md lead to the generated pages."""

    def led(found: re.Match[str]) -> str:
        if (folder / found["path"]).resolve() != _STANDS_FOR:
            return found[0]
        return f"]({os.path.relpath(ROOT / PAGES[found['name']].path, folder)})"

    return _LINK.sub(led, text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one page."""
    parser = argparse.ArgumentParser(description="Pages that are made of the code.")
    parser.add_argument("name", choices=tuple(PAGES))
    print(PAGES[parser.parse_args(arguments).name].text(), end="")


if __name__ == "__main__":
    main()
