"""A server in dev mode, over stores of several kinds, and what programs without an SDK send it."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from tests.postgres import fresh_url

from widerow.testing.server import WiderowServer

JSON: Final = {"content-type": "application/json"}


class Dev:
    """Who commands a server over HTTP."""

    def __init__(self, endpoint: str) -> None:
        self.address = str(urlsplit(endpoint).netloc)

    def raw(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] = JSON
    ) -> tuple[int, Any]:
        """Status and document of an answer."""
        connection = http.client.HTTPConnection(self.address, timeout=20)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def ask(self, method: str, page: str, **fields: object) -> dict[str, Any]:
        """The document of an answer that is a success."""
        status, document = self.raw(method, f"/_widerow/{page}", json.dumps(fields).encode())
        assert status in {200, 201}, document
        assert isinstance(document, dict)
        return document

    def refused(self, method: str, page: str, fields: object) -> tuple[int, str, str]:
        """Status, field and message of a refusal."""
        status, document = self.raw(method, f"/_widerow/{page}", json.dumps(fields).encode())
        assert set(document) == {"error"}, document
        return status, document["error"]["field"], document["error"]["message"]


@pytest.fixture(params=["memory", "rocksdb"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WiderowServer]:
    path = None if request.param == "memory" else tmp_path / "store"
    with WiderowServer(path) as server:
        yield server


@pytest.fixture(params=["memory", "rocksdb", "postgres"])
def any_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WiderowServer]:
    """Also over a database, where a server whose clock jumps takes no writes for a moment."""
    settings = {"store": fresh_url()} if request.param == "postgres" else None
    path = tmp_path / "store" if request.param == "rocksdb" else None
    with WiderowServer(path, settings=settings) as server:
        yield server


@pytest.fixture
def memory() -> Iterator[WiderowServer]:
    with WiderowServer() as server:
        yield server


@pytest.fixture
def dev(memory: WiderowServer) -> Dev:
    return Dev(memory.endpoint)
