"""A process that is killed while it puts points has lost none that it told of (timeseries §4)."""

import pytest
from tools.timeseries_kills import kill_many


def test_points_that_were_told_are_there_with_their_metas_and_last_points() -> None:
    outcome = kill_many(5, seed=3)
    assert outcome.kills == 5
    assert outcome.rounds > 0
    assert (outcome.torn, outcome.lost, outcome.mistold, outcome.damaged) == (0, 0, 0, 0)


@pytest.mark.night
def test_fields_that_are_put_one_by_one_are_caught() -> None:
    """The control: were this 0, the test above would show nothing.

    About each second kill tears a point.
    """
    outcome = kill_many(200, seed=3, control=True)  # ends with the first torn point
    assert outcome.torn > 0
    assert outcome.damaged == 0
