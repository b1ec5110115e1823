"""A server that answers every request with so many bytes: what HTTP alone costs.

    python bench/echo.py

It is widerow's listener, on the same loop, with nothing behind it: no signature, no message, no
store. `POST /1443` is answered with 1443 bytes, so that a comparison sends and gets bodies of the
sizes of what it is compared with; any other path is answered with the request's own body. Prints
`endpoint=… pid=…` when it answers.
"""

import asyncio
import os
import signal
import sys
from typing import Final

from widerow.cli.serve import loop_factory
from widerow.errors import WiderowError
from widerow.server.admission import Admission
from widerow.server.http import Listener
from widerow.server.message import Reply, Request, Response
from widerow.server.system import SystemClock

_HEAD: Final = b"x-ots-contenttype: protocol buffer\r\n"
_BYTES_MAX: Final = 16 * 1024 * 1024


class Echo:
    """A handler that says what it hears, or as much as it is asked for."""

    def __init__(self) -> None:
        """No size asked for yet."""
        self._bodies: dict[bytes, bytes] = {}

    def handle(self, request: Request, _reply: Reply) -> Response:
        """The answer, at once."""
        body = self._bodies.get(request.target)
        if body is None:
            size = request.target.removeprefix(b"/")
            if not size.isdigit() or int(size) > _BYTES_MAX:
                return Response(200, _HEAD, request.body)
            body = self._bodies[request.target] = bytes(int(size))
        return Response(200, _HEAD, body)

    def refuse(self, error: WiderowError) -> Response:
        """What was wrong with what was no request."""
        return Response(400, _HEAD, str(error).encode())


async def serve() -> None:
    """Answer until SIGTERM."""
    listener = Listener(Echo(), Admission(), SystemClock())
    endpoint = await listener.start("127.0.0.1", 0)
    asked = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
    sys.stdout.write(f"endpoint={endpoint} pid={os.getpid()}\n")
    sys.stdout.flush()
    await asked.wait()
    listener.close()


def main() -> None:
    """Serve on the loop that `widerow serve` would take."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve())


if __name__ == "__main__":
    main()
