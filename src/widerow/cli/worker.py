"""One of the processes of `widerow serve --workers`: `python -m widerow.cli.worker CONTROL HAND`.

The supervisor starts it (`server/workers`), with the descriptors of its channels.
"""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Final

from widerow.cli.collector import calm_collector
from widerow.cli.console_pages import open_console
from widerow.cli.process import loop_factory, prepare_process
from widerow.cli.serving import fit_connections
from widerow.engine.catalog.catalog import STORE_FORMAT_NUMBER
from widerow.errors import WiderowError
from widerow.logging import configure_logging
from widerow.server.lifecycle import Server
from widerow.server.settings import Settings
from widerow.server.workers.channel import WorkerChannel, WorkerMessage
from widerow.server.workers.member import Member, SystemParts
from widerow.system import SystemClock, SystemEntropy

__all__ = ["main"]

_FAILED: Final = 2


async def _work(control: socket.socket, hand: socket.socket, descriptors: int | None) -> int:
    channel = await WorkerChannel.over(control)
    start = await channel.heard()
    if start is None:
        return _FAILED
    settings = _settings_of(start)
    configure_logging(settings.log_format, settings.log_level, facts={"worker": start["number"]})
    member = Member(start, channel, hand, SystemParts(SystemClock(), SystemEntropy()))
    server = Server(settings, console=open_console)
    server.join(member)
    fit_connections(server.admission, descriptors)
    loop = asyncio.get_running_loop()

    def leave() -> None:
        server.stop_waiting()
        member.leave()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave)
    loop.add_signal_handler(signal.SIGHUP, server.reload)
    hearing = loop.create_task(member.listen(server))
    try:
        await server.start()
    except WiderowError as error:
        hearing.cancel()
        channel.say("failed", reason=str(error))
        await channel.close()
        return _FAILED
    member.begin(server.take, server, data_format=STORE_FORMAT_NUMBER)
    calm_collector()
    await member.drained.wait()
    await server.part()
    await server.stop()
    hearing.cancel()
    return 0


def _settings_of(start: WorkerMessage) -> Settings:
    given = start["settings"]
    instances = given["instances"]
    return Settings(**given | {"instances": None if instances is None else tuple(instances)})


def main(words: Sequence[str]) -> int:
    """Serve until the supervisor says so, or is gone. Returns the exit code."""
    ends = []
    for word in words:
        os.set_inheritable(int(word), False)  # noqa: FBT003  # as `os` has it
        ends.append(socket.socket(fileno=int(word)))
    control, hand = ends
    control.setblocking(False)  # noqa: FBT003  # as `socket` has it
    descriptors = prepare_process()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(_work(control, hand, descriptors))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
