"""The command `widerow ping` and its flags; what it does is in `ping.py`."""

from typing import Any, Final

import typer

from widerow.cli.flags import Flag, with_flags
from widerow.cli.names import profile_names

__all__ = ["PING_EXAMPLES", "ping"]

PING_EXAMPLES: Final = """Examples:

`widerow ping` — the server that `widerow serve` starts here, by the same variables and file

`widerow ping --endpoint http://db:8087 --timeout 1`

`widerow ping --wait 30 && make load` — as soon as it is ready

Exit codes: 0 it is ready, 1 it is not, or does not answer, 2 it cannot be asked.
"""


@with_flags(
    Flag(
        "endpoint",
        str,
        "The server, http://HOST:PORT (WIDEROW_ENDPOINT); else that of the profile, else the one "
        "that is served here.",
        "URL",
        None,
    ),
    Flag("profile", str, "Which of `widerow profile list`.", "NAME", None, offered=profile_names),
    Flag("timeout", str, "How long to wait for an answer; 2 if not given.", "SECONDS", None),
    Flag("wait", str, "How long to go on asking until it is ready.", "SECONDS", None),
    Flag("live", bool, "Ask whether the process serves, ready or not.", default=False),
)
def ping(**given: Any) -> None:  # noqa: ANN401  # by name, as the table has them
    """Ask a server whether it is ready: for health checks, and for scripts that wait."""
    from widerow.cli.ping import ping_server  # noqa: PLC0415  # only this command

    raise typer.Exit(ping_server(given))
