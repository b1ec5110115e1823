"""Web pages on the port of the protocols (server/page_thread.py)."""

import threading
from types import SimpleNamespace
from typing import Any

from widerow.server.message import Request, Response
from widerow.server.metrics import Metrics
from widerow.server.page_thread import PageThread
from widerow.system import SystemClock


def test_a_page_for_a_client_that_is_gone_is_not_made() -> None:
    made: list[bytes] = []
    begin = threading.Event()

    class Pages:
        def answer(self, request: Request) -> Response:
            made.append(request.target)
            return Response(200, b"", b"")

    def first() -> Pages:
        begin.wait(10)
        return Pages()

    loop = SimpleNamespace(call_soon_threadsafe=lambda work, *arguments: work(*arguments))
    parts: Any = SimpleNamespace(metrics=Metrics(), loop=loop, clock=SystemClock())
    pages = PageThread("/pages", first, parts)
    requests = [Request(b"GET", target, {}, b"") for target in (b"/pages/a", b"/pages/b")]
    answers: list[Response] = []
    for request in requests:
        pages.handle(request, answers.append)
    requests[1].gone = True
    begin.set()
    pages.close()
    assert made == [b"/pages/a"]
    assert [answer.status for answer in answers] == [200, 503]
