"""Indexes and transactions through the vendor's Node SDK, against `widerow serve`."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.changes import INDEXES, check_transactions

pytestmark = pytest.mark.timeout(200)  # the first of them may install the SDK

Node = Callable[[str], Any]


@pytest.mark.parametrize("check", INDEXES, ids=lambda check: check.__name__)
def test_indexes_are_made_read_and_dropped(changes: Node, check: Callable[[Any], None]) -> None:
    check(changes("indexes"))


def test_a_transaction_is_seen_inside_and_after_its_commit(changes: Node) -> None:
    """The update is part of a batch (change §B1)."""
    check_transactions(changes("transactions"))
