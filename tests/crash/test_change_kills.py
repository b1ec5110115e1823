"""A table with indexes, a stream and transactions is whole after each cut (change §E2).

The short form of `python -m tools.change_kills`, with the controls that show that it can fail.
"""

import pytest
from tools.change_kills import cut_many, kill_many
from tools.crash.disks import why_not

DISK = "ext4"


def test_nothing_is_lost_doubled_or_torn() -> None:
    run = kill_many(4, seed=3)
    assert (run.damaged, run.wrong_streams, run.wrong_tables) == (0, 0, 0)
    assert run.rounds > 0


@pytest.mark.night
def test_a_missing_record_is_noticed() -> None:
    run = kill_many(2, seed=3, control=True)
    assert run.wrong_streams > 0


@pytest.mark.night
@pytest.mark.timeout(120)
@pytest.mark.parametrize("control", [False, True])
def test_a_power_cut_loses_doubles_and_tears_nothing(*, control: bool) -> None:
    """In the control the store is never synced, and what is wrong then is noticed."""
    reason = why_not(DISK)
    if reason:
        pytest.skip(reason)
    run = cut_many(3, seed=3, kind=DISK, control=control)
    assert (run.violations > 0) is control
    assert control or (run.kills, run.rounds > 0) == (3, True)
