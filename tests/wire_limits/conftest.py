"""Someone who asks an empty server over HTTP, signed, and looks at each answer's signature."""

from collections.abc import Callable, Iterator

import pytest
from google.protobuf.message import Message
from tests.support.http import Answer, Sender, Wire, digest
from tests.support.requests import create_table_request

from widerow.testing.server import WiderowServer

Ask = Callable[[str, Message], Answer]


@pytest.fixture
def ask(widerow_server: WiderowServer) -> Iterator[Ask]:
    sender = Sender(instance=widerow_server.instance)
    with Wire(widerow_server.endpoint) as wire:

        def asked(action: str, message: Message) -> Answer:
            answer = wire.ask(sender.request(action, message.SerializeToString()))
            assert sender.signed(action, answer)
            assert answer.headers["x-ots-contentmd5"] == digest(answer.body)
            return answer

        yield asked


@pytest.fixture
def table(ask: Ask) -> str:
    """A table with the key (k STRING, n INTEGER)."""
    assert ask("CreateTable", create_table_request("T")).status == 200
    return "T"
