"""SQL through the vendor's Node SDK, against `widerow serve` (sql §13, N)."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.statements import STATEMENTS, TEXTS, check_times

pytestmark = pytest.mark.timeout(200)  # the first of them may install the SDK

Node = Callable[[str], Any]


@pytest.mark.parametrize("check", STATEMENTS, ids=lambda check: check.__name__)
def test_statements_are_answered(statements: Node, check: Callable[[Any], None]) -> None:
    check(statements("sql"))


def test_dates_and_times_are_texts(statements: Node) -> None:
    check_times(statements("sql"), ["STRING"] * 3, [*TEXTS])
