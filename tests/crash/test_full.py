"""A disk that fills up under load and gets room again (DURABILITY.md, storage fails)."""

from pathlib import Path

import pytest
from tools.crash.disks import why_not
from tools.crash.full import RESUME_SECONDS_MAX, run_full

pytestmark = pytest.mark.timeout(300)  # seconds, on a machine that others load as well


def test_a_full_disk_loses_nothing_and_writes_resume(tmp_path: Path) -> None:
    reason = why_not("ext4")
    if reason:
        pytest.skip(reason)
    outcome = run_full(tmp_path, 2, seed=1)
    assert outcome.violations == []
    assert outcome.cycles == 2
    assert outcome.counts["acks"] > 50
    assert outcome.counts["refused"] > 0, "the disk was full"
    assert max(outcome.resumed) < RESUME_SECONDS_MAX


@pytest.mark.night
def test_a_server_that_does_not_notice_a_full_disk_is_caught(tmp_path: Path) -> None:
    reason = why_not("ext4")
    if reason:
        pytest.skip(reason)
    assert run_full(tmp_path, 2, seed=1, variant="full-ignored").violations
