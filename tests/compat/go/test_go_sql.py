"""SQL through the vendor's Go SDK, which dereferences what answers lack (sql §13, G)."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.statements import STATEMENTS, TYPED, check_times

# The first test waits for the build, on a fresh machine for the download of the SDK too.
pytestmark = pytest.mark.timeout(600)

Go = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize("check", STATEMENTS, ids=lambda check: check.__name__)
def test_statements_are_answered(go: Go, check: Callable[[Any], None]) -> None:
    check(go("sql"))


def test_dates_and_times_have_types(go: Go) -> None:
    check_times(go("sql"), [*TYPED], [*TYPED.values()])
