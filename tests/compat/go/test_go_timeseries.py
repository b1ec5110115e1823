"""Timeseries tables through the vendor's Go SDK (timeseries §14, G)."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.series import CHANGED_ROWS, KEYED, LASTPOINTS, MEASURED, STORED, TABLES, Check

# The first test waits for the build, on a fresh machine for the download of the SDK too.
pytestmark = pytest.mark.timeout(600)

Go = Callable[[str], dict[str, Any]]


def judge(go: Go, scenario: str, checks: tuple[Check, ...]) -> None:
    seen = go(scenario)
    for check in checks:
        check(seen)


def test_timeseries_tables_from_creation_to_deletion(go: Go) -> None:
    judge(go, "series tables", TABLES)


@pytest.mark.parametrize("scenario", ["series", "series as messages"])
@pytest.mark.parametrize("check", MEASURED, ids=lambda check: check.__name__)
def test_points_and_metas(go: Go, scenario: str, check: Check) -> None:
    """Points are sent as FlatBuffers, or as messages."""
    judge(go, scenario, (check,))


def test_keys_of_ones_own(go: Go) -> None:
    judge(go, "keyed series", KEYED)


def test_analytical_stores_are_made_changed_and_deleted(go: Go) -> None:
    judge(go, "analytical stores", STORED)


def test_last_points_are_rows(go: Go) -> None:
    judge(go, "last points", LASTPOINTS)


def test_points_that_are_put_are_changes(go: Go) -> None:
    """Its DescribeStream cannot say that it reads streams of timeseries tables."""
    judge(go, "changes of points", CHANGED_ROWS)
