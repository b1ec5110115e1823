"""What `widerow serve` says when the port answers: a line of the log, warnings, the ready line."""

import logging
import os
import sys
from collections.abc import Mapping
from functools import partial

from widerow import __version__
from widerow.cli.answers import tell
from widerow.cli.command import Given
from widerow.cli.systemd import READY, tell_systemd
from widerow.server.settings import Settings
from widerow.storage.opener import shown_url

__all__ = ["announce_start", "ready_facts"]

_log = logging.getLogger("widerow.server")


def announce_start(given: Given, settings: Settings, endpoint: str, data_format: int) -> None:
    """Say that the server at `endpoint` is ready, and what is unusual about it."""
    facts = {"endpoint": endpoint, "pid": os.getpid(), "version": __version__}
    facts |= {"data_format": data_format, **settings.in_force}
    _log.info("the server has started", extra={"facts": facts})
    if settings.credentials is None:
        sys.stderr.write(
            "widerow: anyone who reaches this port may use the default access key "
            "widerow/widerow; --credentials FILE replaces it\n"
        )
    if settings.dev:
        sys.stderr.write(
            "widerow: DEV MODE: whoever reaches this port can move the clock, inject faults "
            f"and empty instances at {endpoint}/_widerow/ without a key; "
            "for tests only\n"
        )
    if settings.console and sys.stderr.isatty():  # for the person who typed the command
        sys.stderr.write(f"widerow: look at it at {endpoint}/console/\n")
    ready = ready_facts(settings, endpoint, os.getpid())
    tell(given, ready, partial(_show_ready, ready))
    tell_systemd(READY)


def ready_facts(settings: Settings, endpoint: str, process: int) -> dict[str, object]:
    """What is printed once the port answers; scripts wait for it."""
    facts = {"endpoint": endpoint, "store": shown_url(settings.store), "pid": process}
    return facts | {"mode": "dev"} if settings.dev else facts


def _show_ready(facts: Mapping[str, object]) -> None:
    words = " ".join(f"{name}={value}" for name, value in facts.items())
    sys.stdout.write(f"widerow ready {words}\n")
    sys.stdout.flush()
