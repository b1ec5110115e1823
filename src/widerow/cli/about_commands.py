"""`widerow version` and `widerow compat`: their flags. What they show is made elsewhere."""

from typing import Annotated, Final

import typer

__all__ = ["COMPAT_EXAMPLES", "VERSION_EXAMPLES", "compat", "version"]

VERSION_EXAMPLES: Final = """Examples:

`widerow version` — also says whether it runs compiled, and why not

`widerow version --json`
"""
COMPAT_EXAMPLES: Final = """Examples:

`widerow compat --supported`

`widerow compat --json`
"""


def version(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Show what is running: widerow, Python and the libraries underneath."""
    from widerow.cli.version import show_version  # noqa: PLC0415  # only this command

    show_version(as_json=as_json)


def compat(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    supported: Annotated[
        bool, typer.Option("--supported", help="Only the actions that are served.")
    ] = False,
) -> None:
    """Show which actions of the protocol this version serves."""
    from widerow.cli.compat import show_compatibility  # noqa: PLC0415  # only this command

    show_compatibility(as_json=as_json, supported=supported)
