"""A server as the whole of a process, from its start to a signal."""

import asyncio
import logging
import signal
import sys

from widerow.cli.announcing import announce_start
from widerow.cli.collector import calm_collector
from widerow.cli.command import Given
from widerow.cli.console_pages import open_console
from widerow.cli.process import loop_factory, prepare_process
from widerow.cli.systemd import STOPPING, tell_systemd
from widerow.engine.catalog.catalog import STORE_FORMAT_NUMBER
from widerow.limits import CONNECTIONS_MAX
from widerow.server.admission import Admission
from widerow.server.lifecycle import Server
from widerow.server.settings import Settings

__all__ = ["fit_connections", "serve_alone"]

_log = logging.getLogger("widerow.server")


def serve_alone(given: Given, settings: Settings) -> None:
    """Serve in this process until a signal. Raises: `WiderowError` where it cannot start."""
    descriptors = prepare_process()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(given, settings, descriptors))


async def _serve(given: Given, settings: Settings, descriptors: int | None) -> None:
    server = Server(settings, console=open_console)
    fit_connections(server.admission, descriptors)
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()

    def stop(number: signal.Signals) -> None:
        if asked.is_set():
            server.hurry()  # asked twice: whoever asks does not want to wait
        else:
            _log.info("the server stops", extra={"facts": {"signal": number.name}})
            server.stop_waiting()
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
        announce_start(given, settings, server.endpoint, STORE_FORMAT_NUMBER)
        calm_collector()
        await asked.wait()
        tell_systemd(STOPPING)
    finally:
        await server.stop()
        _log.info("the server has stopped")


def fit_connections(admission: Admission, descriptors: int | None) -> None:
    """Leave the store its files where descriptors are few, and say so; None: they have no bound."""
    if descriptors is None:
        return
    admission.fit(descriptors)
    if admission.connections_max < CONNECTIONS_MAX:
        facts = {"open_files": descriptors, "connections": admission.connections_max}
        _log.warning("few open files are allowed, so few connections", extra={"facts": facts})
