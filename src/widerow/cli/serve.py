"""`widerow serve`: a server as a process, or as several."""

from dataclasses import replace
from typing import Final

from widerow.cli.command import JSON_OUTPUT, Given, command
from widerow.cli.process import tell_passed_over
from widerow.cli.setting_flags import asked_settings, setting_flags
from widerow.logging import configure_logging
from widerow.server.settings import DESCRIPTIONS

__all__ = ["SERVE", "run_server"]


def run_server(given: Given) -> int:
    """Serve until a signal; 0 after a clean stop.

    Raises: `WiderowError` when the server cannot start.
    """
    settings = asked_settings(given)
    configure_logging(settings.log_format, settings.log_level)
    tell_passed_over()
    if settings.workers != 1:
        from widerow.cli.workers import serve_together, workers_of  # noqa: PLC0415  # few have several

        count = workers_of(settings)
        if count > 1:
            serve_together(given, settings, count)
            return 0
        settings = replace(settings, workers=1)
    from widerow.cli.serving import serve_alone  # noqa: PLC0415  # loads the engine

    serve_alone(given, settings)
    return 0


SERVE: Final = command(
    run_server,
    *setting_flags(DESCRIPTIONS),
    JSON_OUTPUT,
    examples="""
`widerow serve` — data in ./widerow-data, on 127.0.0.1:8087
`widerow serve --memory --port 0` — for a test run; the ready line names the port
`widerow serve --memory --port 0 --json` — the ready line as JSON
`widerow serve --memory --port 0 --dev` — for tests that move the clock and inject faults
`widerow serve --store postgresql://db/widerow --workers auto` — one process for each processor
`widerow serve --path /srv/widerow --credentials keys.toml --instances shop,audit`
""",
)
