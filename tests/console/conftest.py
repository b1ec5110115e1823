"""A server in this process with a console, and who asks for its pages."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import pytest
from tests.console import stocked
from tests.support.http import Wire

from widerow.testing.server import WiderowServer

Json = dict[str, Any]


class Answered(NamedTuple):
    """An answer to a request for a page."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def document(self) -> Json:
        found: Json = json.loads(self.text)
        return found


class Asker:
    """Asks a server for pages, with the headers that a browser sends."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.host = urlsplit(endpoint).netloc
        self.cookie = ""

    def ask(
        self, method: str, path: str, body: str = "", headers: Mapping[str, str] | None = None
    ) -> Answered:
        sent = {"host": self.host, "cookie": self.cookie, **(headers or {})}
        lines = [f"{method} /console{path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in sent.items() if value]
        lines.append(f"content-length: {len(body.encode())}")
        with Wire(self.endpoint) as wire:
            answer = wire.ask("\r\n".join((*lines, "", body)).encode())
        return Answered(answer.status, answer.headers, answer.body.decode())

    def get(self, path: str, /, **asked: str | int) -> Answered:
        query = urlencode({name: text for name, text in asked.items() if text != ""})
        return self.ask("GET", f"/{path}?{query}" if query else f"/{path}")

    def read(self, path: str, /, **asked: str | int) -> Json:
        answer = self.get(f"{path}.json", **asked)
        assert answer.headers["content-type"] == "application/json"
        return answer.document

    def token(self, path: str = "health") -> str:
        """The proof that a form is of a page: taken from the form of a row, as a browser does."""
        page = self.ask("GET", f"/{path}").text
        return page.partition('name="csrf" value="')[2].partition('"')[0]

    def post(
        self, path: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> Answered:
        return self.ask("POST", f"/{path}", urlencode(form), headers)


@pytest.fixture(scope="module")
def server() -> Iterator[WiderowServer]:
    with WiderowServer(instance=stocked.INSTANCE, settings=stocked.Settings) as started:
        stocked.stock(started)
        stocked.stock_points(started, 20)
        yield started


@pytest.fixture(scope="module")
def asker(server: WiderowServer) -> Asker:
    return Asker(server.endpoint)
