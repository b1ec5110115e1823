"""`widerow version`: what is running."""

import json
import platform
import sys
from importlib import metadata
from typing import Final

from widerow import __version__
from widerow.rows import cells

__all__ = ["show_version"]

# Those whose version can explain a behaviour.
_LIBRARIES: Final = ("rocksdict", "protobuf", "httptools", "uvloop", "fastcrc")


def show_version(*, as_json: bool) -> None:
    """Print the versions, as a table or as one JSON document."""
    facts = {
        "widerow": __version__,
        "compiled": "yes" if _is_compiled() else "no",
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: _installed(name) for name in _LIBRARIES},
    }
    if as_json:
        sys.stdout.write(json.dumps(facts) + "\n")
        return
    from rich.console import Console  # noqa: PLC0415  # only to show something
    from rich.table import Table  # noqa: PLC0415  # same

    table = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        table.add_row(name, value or "not installed")
    Console().print(table)


def _is_compiled() -> bool:
    """Whether the hot modules run as machine code (setup.py)."""
    return not str(cells.__file__).endswith(".py")


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
