"""The pytest plugin: one fixture, `widerow_server`.

pytest finds it by itself where widerow is installed (entry point `pytest11`).
"""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from widerow.testing.server import WiderowServer

__all__ = ["widerow_server"]


@pytest.fixture
def widerow_server() -> "Iterator[WiderowServer]":
    """A Tablestore server of this test alone: in memory, empty, on a free port of this machine.

    Its clock stands still until `widerow_server.clock.advance(seconds)`.
    """
    from widerow.testing.server import WiderowServer  # noqa: PLC0415  # only where it is asked for

    with WiderowServer() as server:
        yield server
