"""`widerow version`: what is running."""

import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Final

import widerow
from widerow import __version__
from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Given, command
from widerow.rows import cells

__all__ = ["VERSION"]

# What setup.py leaves in a package that it could not compile: the reason.
_WHY_PLAIN: Final = Path(widerow.__file__).with_name("not_compiled.txt")
# Those whose version can explain a behaviour.
_LIBRARIES: Final = ("rocksdict", "protobuf", "httptools", "uvloop", "fastcrc")


def _version(given: Given) -> None:
    """Print the versions, as a table or as one JSON document."""
    facts = {
        "widerow": __version__,
        "compiled": _compiled(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: _installed(name) for name in _LIBRARIES},
    }
    tell(given, facts, lambda: _show(facts))


def _show(facts: Mapping[str, str | None]) -> None:
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # only to show something

    table = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        table.add_row(name, value or "not installed")
    Console().print(table)


def _compiled() -> str:
    """Whether the hot modules run as machine code, and if not, why their build left them plain."""
    if not str(cells.__file__).endswith(".py"):
        return "yes"
    try:
        return f"no: {_WHY_PLAIN.read_text(encoding='utf-8').strip()}"
    except FileNotFoundError:  # they were not built: the sources themselves run
        return "no"


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


VERSION: Final = command(
    _version,
    JSON_OUTPUT,
    examples="""
`widerow version` — also says whether it runs compiled, and why not
`widerow version --json`
""",
)
