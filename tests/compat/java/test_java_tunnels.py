"""The vendor's Java worker and the calls of its tunnel client (change §C2)."""

from pathlib import Path

import pytest
from tests.compat.conftest import STORES
from tests.compat.consumers import check_workers_lose_nothing, serving
from tests.compat.java.conftest import build

pytestmark = pytest.mark.timeout(600)


@pytest.mark.night
def test_workers_that_die_and_servers_that_restart_lose_nothing(store: str, tmp_path: Path) -> None:
    command = build("Consumer")
    with serving(*STORES[store](tmp_path)) as table:
        check_workers_lose_nothing(table, command, tmp_path)
