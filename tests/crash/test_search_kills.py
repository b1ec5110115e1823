"""Searches are what the table says after each cut, without anybody doing anything (search §11.7).

The short form of `python -m tools.search_kills`, with the control that shows that it can fail.
"""

import pytest
from tools.crash.disks import why_not
from tools.search_kills import cut_searches, kill_searches

DISK = "ext4"


@pytest.mark.timeout(120)
def test_searches_are_what_the_table_says() -> None:
    run = kill_searches(4, seed=3)
    assert (run.damaged, run.wrong) == (0, 0)
    assert run.rounds > 0
    assert run.rows > 0


@pytest.mark.night
@pytest.mark.timeout(120)
def test_a_journal_that_loses_records_is_noticed() -> None:
    run = kill_searches(20, seed=5, control=True)  # a kill may find nothing left to take
    assert run.wrong > 0


@pytest.mark.night
@pytest.mark.timeout(120)
def test_a_power_cut_changes_no_answer() -> None:
    reason = why_not(DISK)
    if reason:
        pytest.skip(reason)
    run = cut_searches(3, seed=3, kind=DISK)
    assert (run.kills, run.violations) == (3, 0)
