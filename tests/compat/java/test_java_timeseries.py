"""Timeseries tables through the vendor's Java SDK, set up in each way (timeseries §14)."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.series import (
    CHANGED,
    KEYED,
    LASTPOINTS,
    MEASURED,
    SCANNED,
    STORED,
    TABLES,
    Check,
    check_options_of_metas,
)

# The first test waits for the libraries, on a fresh machine for their download too.
pytestmark = pytest.mark.timeout(600)

Java = Callable[[str], dict[str, Any]]


def judge(java: Java, scenario: str, checks: tuple[Check, ...]) -> None:
    seen = java(scenario)
    for check in checks:
        check(seen)


def test_timeseries_tables_from_creation_to_deletion(java: Java) -> None:
    judge(java, "series tables", (*TABLES, check_options_of_metas))


@pytest.mark.parametrize("check", MEASURED, ids=lambda check: check.__name__)
def test_points_and_metas(java: Java, check: Check) -> None:
    judge(java, "series", (check,))


def test_keys_of_ones_own(java: Java) -> None:
    judge(java, "keyed series", KEYED)


def test_analytical_stores_are_made_changed_and_deleted(java: Java) -> None:
    judge(java, "analytical stores", STORED)


def test_last_points_are_rows(java: Java) -> None:
    judge(java, "last points", LASTPOINTS)


def test_points_that_are_put_are_changes(java: Java) -> None:
    judge(java, "changes of points", CHANGED)


def test_scans_see_every_point_once(java: Java) -> None:
    judge(java, "scans", SCANNED)
