"""Servers that are killed, and whose disk loses its power: nothing acknowledged is lost.

The short form of `python -m tools.trust`, with the controls that show that it can fail.
"""

import shutil
from pathlib import Path

import pytest
from tools.crash.disks import why_not
from tools.crash.rounds import KillSite, Outcome, Run, powered, run_rounds

pytestmark = pytest.mark.timeout(300)  # seconds, on a machine that others load as well

DISKS = ["ext4", pytest.param("xfs", marks=pytest.mark.night)]
CONTROL_CUTS = 30  # at most: a control ends with the first violation


def need(kind: str) -> None:
    reason = why_not(kind)
    if reason:
        pytest.skip(reason)


def test_kill_9_loses_nothing(tmp_path: Path) -> None:
    outcome = run_rounds(KillSite(tmp_path), Run(8, seed=1, points=True))
    assert outcome.violations == []
    assert outcome.cuts == 8
    assert outcome.counts["acks"] > 40
    assert len(outcome.points) >= 2, "kill points are reached"


@pytest.mark.parametrize("kind", DISKS)
def test_a_power_cut_loses_nothing(kind: str) -> None:
    need(kind)
    with powered(kind) as site:
        outcome = run_rounds(site, Run(3, seed=1))
    assert outcome.violations == []
    assert outcome.cuts == 3
    assert outcome.counts["acks"] > 30


def found_out(outcome: Outcome) -> bool:
    """Whether a loss was seen: a busy machine, which starts a server too late, shows none."""
    return any(each.kind in ("lost", "resurrected", "torn") for each in outcome.violations)


@pytest.mark.night
@pytest.mark.parametrize(
    "variant", ["sync-off", pytest.param("reply-before-sync", marks=pytest.mark.night)]
)
def test_a_server_that_answers_before_its_sync_is_caught_by_a_power_cut(variant: str) -> None:
    need("ext4")
    with powered("ext4") as site:
        run = Run(CONTROL_CUTS, seed=1, variant=variant)
        outcome = run_rounds(site, run, enough=found_out)
    assert found_out(outcome)


@pytest.mark.night
def test_a_library_that_swallows_syncs_is_caught_by_a_power_cut() -> None:
    need("ext4")
    if shutil.which("eatmydata") is None:
        pytest.skip("eatmydata is not installed")
    with powered("ext4") as site:
        run = Run(CONTROL_CUTS, seed=1, launcher=("eatmydata",))
        outcome = run_rounds(site, run, enough=found_out)
    assert found_out(outcome)


@pytest.mark.night
def test_a_server_that_answers_before_it_writes_is_caught_by_a_kill(tmp_path: Path) -> None:
    run = Run(CONTROL_CUTS, seed=1, variant="reply-before-write")
    outcome = run_rounds(KillSite(tmp_path), run, enough=found_out)
    assert found_out(outcome)
