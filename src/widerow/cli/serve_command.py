"""The command `widerow serve` and its flags; what it does is in `serve.py`."""

from typing import Any, Final

import typer

from widerow.cli.setting_flags import with_settings
from widerow.server.settings import DESCRIPTIONS

__all__ = ["SERVE_EXAMPLES", "serve"]

SERVE_EXAMPLES: Final = """Examples:

`widerow serve` — data in ./widerow-data, on 127.0.0.1:8087

`widerow serve --memory --port 0` — for a test run; the ready line names the port

`widerow serve --memory --port 0 --dev` — for tests that move the clock and inject faults

`widerow serve --path /srv/widerow --credentials keys.toml --instances shop,audit`
"""


@with_settings(DESCRIPTIONS)
def serve(**flags: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Serve a store until SIGTERM or SIGINT."""
    from widerow.cli.serve import run_server  # noqa: PLC0415  # the other commands need no server

    raise typer.Exit(run_server(flags))
