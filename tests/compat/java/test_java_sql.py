"""SQL through the vendor's Java SDK, in each way that it is set up (sql §13, J)."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.statements import STATEMENTS, TYPED, check_times

# The first test waits for the libraries, on a fresh machine for their download too.
pytestmark = pytest.mark.timeout(600)

Java = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize("check", STATEMENTS, ids=lambda check: check.__name__)
def test_statements_are_answered(java: Java, check: Callable[[Any], None]) -> None:
    check(java("sql"))


def test_dates_and_times_have_types(java: Java) -> None:
    check_times(java("sql"), [*TYPED], [*TYPED.values()])
