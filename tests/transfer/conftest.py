"""A server whose clock runs, and ways to fill its tables."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from widerow.cli.main import app
from widerow.client.connection import Client, Endpoint
from widerow.system import SystemClock
from widerow.testing import WiderowServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WiderowServer]:
    with WiderowServer(tmp_path / "store", clock=SystemClock(), instance="shop") as running:
        yield running


@pytest.fixture
def endpoint(server: WiderowServer) -> Endpoint:
    return Endpoint(server.endpoint, "shop", "widerow", "widerow")


@pytest.fixture
def client(endpoint: Endpoint) -> Iterator[Client]:
    with Client(endpoint) as opened:
        yield opened


class Command:
    """The commands, for the server of the test."""

    def __init__(self, endpoint: Endpoint, home: Path) -> None:
        self._settings = {
            "WIDEROW_ENDPOINT": endpoint.url,
            "WIDEROW_INSTANCE": endpoint.instance,
            "COLUMNS": "200",
            "XDG_CONFIG_HOME": str(home),
            "XDG_STATE_HOME": str(home),
        }

    def __call__(self, *words: object, expect: int = 0, typed: str = "") -> Result:
        result = CliRunner().invoke(
            app, [str(word) for word in words], input=typed, env=self._settings
        )
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == expect, result.output
        return result


@pytest.fixture
def widerow(endpoint: Endpoint, tmp_path: Path) -> Command:
    return Command(endpoint, tmp_path / "home")
