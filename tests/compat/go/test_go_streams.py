"""Streams through the vendor's Go SDK, on a server whose partitions split while it reads."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.changes import STREAMS, check_split

# The first test waits for the build, on a fresh machine for the download of the SDK too.
pytestmark = pytest.mark.timeout(600)

Streams = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize("check", STREAMS, ids=lambda check: check.__name__)
def test_a_stream_tells_what_was_written(go_streams: Streams, check: Callable[[Any], None]) -> None:
    check(go_streams("streams"))


def test_a_split_loses_and_repeats_nothing(go_streams: Streams) -> None:
    check_split(go_streams("split"))
