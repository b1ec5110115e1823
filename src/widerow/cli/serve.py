"""`widerow serve`: a server as a process."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from widerow import __version__
from widerow.cli.answers import tell
from widerow.cli.command import JSON_OUTPUT, Given, command
from widerow.cli.console_pages import open_console
from widerow.cli.setting_flags import asked_settings, setting_flags
from widerow.cli.systemd import READY, STOPPING, tell_systemd
from widerow.engine.catalog.catalog import STORE_FORMAT_NUMBER
from widerow.limits import CONNECTIONS_MAX, DESCRIPTORS_FOR_FILES
from widerow.logging import configure_logging
from widerow.server.admission import Admission
from widerow.server.lifecycle import Server
from widerow.server.settings import DESCRIPTIONS, Settings, passed_over
from widerow.storage.opener import shown_url

__all__ = ["SERVE", "loop_factory", "ready_facts", "run_server"]

_log = logging.getLogger("widerow.server")

# A write needs the writer's thread twice and the loop once, and the loop waits as long for each
# thread that computes. Python's default of 5 ms is longer than a sync takes.
_SWITCH_SECONDS: Final = 0.0001
_OWNER_ALONE: Final = (
    0o077  # for the files of the store, which the engine makes for everyone to read
)
_COLLECTOR_ALLOCATIONS: Final = 50_000  # a batch of 200 rows of 10 columns makes about 10 000


def run_server(given: Given) -> int:
    """Serve until a signal; 0 after a clean stop.

    Raises: `WiderowError` when the server cannot start.
    """
    settings = asked_settings(given)
    configure_logging(settings.log_format, settings.log_level)
    for each in passed_over():
        _log.warning("a variable of the environment is not read", extra={"facts": each._asdict()})
    sys.setswitchinterval(_SWITCH_SECONDS)
    _calm_collector()
    descriptors = _raise_descriptor_limit()
    _forbid_core_files()
    os.umask(_OWNER_ALONE)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(given, settings, descriptors))
    return 0


def _calm_collector() -> None:
    """Look for cycles less often, and never again among what is loaded by now.

    A batch makes tens of thousands of tuples that no cycle holds; at the default thresholds the
    search for cycles took a tenth of its time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECTOR_ALLOCATIONS, 10, 100)


def ready_facts(server: Server, process: int) -> dict[str, object]:
    """What is printed once the port answers; scripts wait for it."""
    facts = {
        "endpoint": server.endpoint,
        "store": shown_url(server.settings.store),
        "pid": process,
    }
    return facts if server.dev is None else facts | {"mode": "dev"}


def _show_ready(facts: Mapping[str, object]) -> None:
    words = " ".join(f"{name}={value}" for name, value in facts.items())
    sys.stdout.write(f"widerow ready {words}\n")
    sys.stdout.flush()


async def _serve(given: Given, settings: Settings, descriptors: int | None) -> None:
    server = Server(settings, console=open_console)
    if descriptors is not None:
        _fit(server.admission, descriptors)
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()

    def stop(number: signal.Signals) -> None:
        if asked.is_set():
            server.hurry()  # asked twice: whoever asks does not want to wait
        else:
            _log.info("the server stops", extra={"facts": {"signal": number.name}})
        asked.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    # From a terminal it says that the terminal is gone; to a service, to read its files again.
    if sys.stdin.isatty():
        loop.add_signal_handler(signal.SIGHUP, stop, signal.SIGHUP)
    else:
        loop.add_signal_handler(signal.SIGHUP, server.reload)
    await server.start()
    try:
        _log.info("the server has started", extra={"facts": _started(server)})
        if server.default_credentials:
            sys.stderr.write(
                "widerow: anyone who reaches this port may use the default access key "
                "widerow/widerow; --credentials FILE replaces it\n"
            )
        if server.dev is not None:
            sys.stderr.write(
                "widerow: DEV MODE: whoever reaches this port can move the clock, inject faults "
                f"and empty instances at {server.endpoint}/_widerow/ without a key; "
                "for tests only\n"
            )
        if settings.console and sys.stderr.isatty():  # for the person who typed the command
            sys.stderr.write(f"widerow: look at it at {server.endpoint}/console/\n")
        facts = ready_facts(server, os.getpid())
        tell(given, facts, partial(_show_ready, facts))
        tell_systemd(READY)
        # What was loaded stays: the collector need not look at it again and again.
        gc.collect()
        gc.freeze()
        await asked.wait()
        tell_systemd(STOPPING)
    finally:
        await server.stop()
        _log.info("the server has stopped")


def _started(server: Server) -> dict[str, object]:
    """What the log says of a start: address, version, format of the data, settings in force."""
    return {
        "endpoint": server.endpoint,
        "pid": os.getpid(),
        "version": __version__,
        "data_format": STORE_FORMAT_NUMBER,
        **server.settings.in_force,
    }


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The loop of uvloop where there is one for this machine, else the standard loop."""
    with contextlib.suppress(ImportError):
        import uvloop  # noqa: PLC0415  # optional

        return uvloop.new_event_loop
    return None


def _raise_descriptor_limit() -> int | None:
    """Ask for as many descriptors as the bound on connections needs, as far as allowed.

    How many there are then; None where the system does not say, or has no bound.
    """
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  # not on every platform

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = CONNECTIONS_MAX + DESCRIPTORS_FOR_FILES
        if soft != resource.RLIM_INFINITY and soft < wanted:
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return None if soft == resource.RLIM_INFINITY else soft
    return None


def _fit(admission: Admission, descriptors: int) -> None:
    """Leave the store its files where descriptors are few, and say so."""
    admission.fit(descriptors)
    if admission.connections_max < CONNECTIONS_MAX:
        facts = {"open_files": descriptors, "connections": admission.connections_max}
        _log.warning("few open files are allowed, so few connections", extra={"facts": facts})


def _forbid_core_files() -> None:
    """What the process holds in memory, secrets first, is not to be written to a disk."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  # not on every platform

        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


SERVE: Final = command(
    run_server,
    *setting_flags(DESCRIPTIONS),
    JSON_OUTPUT,
    examples="""
`widerow serve` — data in ./widerow-data, on 127.0.0.1:8087
`widerow serve --memory --port 0` — for a test run; the ready line names the port
`widerow serve --memory --port 0 --json` — the ready line as JSON
`widerow serve --memory --port 0 --dev` — for tests that move the clock and inject faults
`widerow serve --path /srv/widerow --credentials keys.toml --instances shop,audit`
""",
)
