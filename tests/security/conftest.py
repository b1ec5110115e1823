"""A server inside the process, who talks to it, and what nobody may change by talking wrongly."""

from collections.abc import Callable, Iterator

import pytest
from tests.support.buffers import key_buffer
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES, get_range_request, put_row_request

from widerow.testing.server import WiderowServer

TABLE = "T"


def fill_table(endpoint: str, sender: Sender) -> None:
    """Table T with one row."""
    put = put_row_request(TABLE, "kept").SerializeToString()
    with Wire(endpoint) as wire:
        for action, body in (("CreateTable", BODIES["CreateTable"](TABLE)), ("PutRow", put)):
            assert wire.ask(sender.request(action, body)).status == 200


def read_everything(endpoint: str, sender: Sender) -> list[bytes]:
    """All that a request could have written, tables and rows."""
    rows = get_range_request(TABLE)
    rows.inclusive_start_primary_key = key_buffer((("k", ""), ("n", -(2**63))))
    rows.exclusive_end_primary_key = key_buffer((("k", "\U0010ffff"), ("n", 0)))
    describe = BODIES["DescribeTable"](TABLE)
    asked = {"ListTable": b"", "DescribeTable": describe, "GetRange": rows.SerializeToString()}
    with Wire(endpoint) as wire:
        answers = [wire.ask(sender.request(action, body)) for action, body in asked.items()]
    assert {answer.status for answer in answers} == {200}
    return [answer.body for answer in answers]


@pytest.fixture(scope="session")
def sender() -> Sender:
    return Sender()


@pytest.fixture
def start() -> Callable[[], WiderowServer]:
    """For tests that want a server of their own, or change a bound before it starts."""
    return WiderowServer


@pytest.fixture
def fill() -> Callable[[str, Sender], None]:
    return fill_table


@pytest.fixture(scope="module")
def server() -> Iterator[WiderowServer]:
    with WiderowServer() as started:
        yield started


@pytest.fixture(scope="module")
def before(server: WiderowServer, sender: Sender) -> list[bytes]:
    fill_table(server.endpoint, sender)
    found = read_everything(server.endpoint, sender)
    assert b"kept" in found[2]
    return found


@pytest.fixture
def wire(server: WiderowServer, sender: Sender, before: list[bytes]) -> Iterator[Wire]:
    """A connection to a server that answers as before when the test is over."""
    with Wire(server.endpoint) as attacking:
        yield attacking
    assert read_everything(server.endpoint, sender) == before
