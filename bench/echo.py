"""A server that answers every request with so many bytes: what HTTP alone costs.

    python bench/echo.py [LOG]

It is widerow's listener, on the same loop, with nothing behind it: no signature, no message, no
store. `POST /1443` is answered with 1443 bytes, so that a comparison sends and gets bodies of the
sizes of what it is compared with; any other path is answered with the request's own body. With a
`LOG`, `POST /synced/1443` is answered after as many bytes as a row takes were appended to that file
and synced: the least that a server on this loop can do for a row that must last. Prints
`endpoint=… pid=…` when it answers.
"""

import asyncio
import os
import signal
import sys
from typing import Final

from widerow.cli.process import loop_factory
from widerow.errors import WiderowError
from widerow.server.admission import Admission
from widerow.server.headers import KeptHeaders
from widerow.server.http import Listener
from widerow.server.message import Reply, Request, Response
from widerow.system import SystemClock

ROW_BYTES: Final = 1536  # what the log takes for a row of a kilobyte, about
_HEAD: Final = b"x-ots-contenttype: protocol buffer\r\n"
_BYTES_MAX: Final = 16 * 1024 * 1024
_SYNCED: Final = b"/synced"
_ROW: Final = bytes(ROW_BYTES)


class Echo:
    """A handler that says what it hears, or as much as it is asked for."""

    def __init__(self, log: int | None) -> None:
        """No size asked for yet. `log`: the descriptor of a file to append to."""
        self._bodies: dict[bytes, bytes] = {}
        self._log = log

    def handle(self, request: Request, _reply: Reply) -> Response:
        """The answer, at once."""
        if request.target.startswith(_SYNCED):
            if self._log is None:
                return Response(400, _HEAD, b"begin with the name of a log to have rows synced")
            os.write(self._log, _ROW)
            os.fdatasync(self._log)
        body = self._bodies.get(request.target)
        if body is None:
            size = request.target.removeprefix(_SYNCED).removeprefix(b"/")
            if not size.isdigit() or int(size) > _BYTES_MAX:
                return Response(200, _HEAD, request.body)
            body = self._bodies[request.target] = bytes(int(size))
        return Response(200, _HEAD, body)

    def refuse(self, error: WiderowError) -> Response:
        """What was wrong with what was not a request."""
        return Response(400, _HEAD, str(error).encode())


async def serve(log: int | None) -> None:
    """Answer until SIGTERM."""
    listener = Listener(Echo(log), Admission(), SystemClock(), KeptHeaders(()))
    endpoint = await listener.start("127.0.0.1", 0)
    await listener.accept()
    asked = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
    sys.stdout.write(f"endpoint={endpoint} pid={os.getpid()}\n")
    sys.stdout.flush()
    await asked.wait()
    listener.close()


def main() -> None:
    """Serve on the loop that `widerow serve` would take."""
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND) if sys.argv[1:] else None
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve(log))


if __name__ == "__main__":
    main()
