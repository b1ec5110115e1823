"""`widerow serve --workers`: the start of the supervisor, its signals, and what it says."""

import asyncio
import logging
import os
import signal
import socket
import sys
from functools import partial

from widerow.cli.announcing import announce_start
from widerow.cli.command import Given
from widerow.cli.process import prepare_process
from widerow.cli.systemd import STOPPING, tell_systemd
from widerow.server.settings import Settings, SettingsInvalid
from widerow.server.workers.member import SystemParts
from widerow.server.workers.supervisor import Program, Supervisor
from widerow.storage.opener import is_in_database, shown_url
from widerow.system import SystemClock, SystemEntropy, processors_granted

__all__ = ["serve_together", "workers_of"]

_log = logging.getLogger("widerow.server")


def workers_of(settings: Settings) -> int:
    """How many processes are to serve. Raises: `SettingsInvalid` where there cannot be several."""
    if settings.workers == 1:
        return 1
    try:
        in_database = is_in_database(settings.store)
    except ValueError as error:
        raise SettingsInvalid(str(error)) from error
    if not in_database:
        raise SettingsInvalid(
            f"workers: {shown_url(settings.store)} is opened by one process alone; leave workers "
            "out, or name a database that several share: --store postgresql://… or hbase://…"
        )
    if settings.dev:
        raise SettingsInvalid(
            "workers: dev mode has one clock and one set of faults, in one process; leave workers "
            "or dev out"
        )
    if not hasattr(socket, "send_fds"):
        raise SettingsInvalid("workers: this system hands no connection to another process")
    return processors_granted() if settings.workers == "auto" else settings.workers


def serve_together(given: Given, settings: Settings, count: int) -> None:
    """Serve by so many processes until a signal. Raises: `WiderowError` where they cannot."""
    prepare_process()
    with asyncio.Runner() as runner:
        runner.run(_supervise(given, settings, count))


async def _supervise(given: Given, settings: Settings, count: int) -> None:
    # The folder of this program's modules may be in no variable, and the working directory, in
    # which anybody's modules may lie, must not come before it.
    paths = os.pathsep.join([each for each in sys.path if each])
    command = (sys.executable, "-P", "-m", "widerow.cli.worker")
    program = Program(command, {**os.environ, "PYTHONPATH": paths})
    parts = SystemParts(SystemClock(), SystemEntropy())
    supervisor = Supervisor(settings, count, program, parts)
    loop = asyncio.get_running_loop()
    asked = False

    def stop(number: signal.Signals) -> None:
        nonlocal asked
        if asked:
            supervisor.hurry()  # asked twice: whoever asks does not want to wait
            return
        asked = True
        _log.info("the server stops", extra={"facts": {"signal": number.name}})
        tell_systemd(STOPPING)
        supervisor.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    # From a terminal it says that the terminal is gone; to a service, to begin anew.
    if sys.stdin.isatty():
        loop.add_signal_handler(signal.SIGHUP, stop, signal.SIGHUP)
    else:
        loop.add_signal_handler(signal.SIGHUP, supervisor.reload)
    await supervisor.serve(partial(announce_start, given, settings))
    _log.info("the server has stopped")
