"""A process that is killed in a sequence leaves all of it or nothing (model §6, §7)."""

from tools.nosql_kills import kill_many


def test_sequences_and_deletions_are_never_torn() -> None:
    outcome = kill_many(6, seed=3)
    assert outcome.kills == 6
    assert outcome.rounds > 0
    assert (outcome.torn, outcome.lost, outcome.damaged) == (0, 0, 0)


def test_the_same_changes_one_by_one_are_caught() -> None:
    """The control: were this 0, the test above would show nothing."""
    outcome = kill_many(200, seed=3, control=True)  # ends with the first torn sequence
    assert outcome.torn > 0
    assert outcome.damaged == 0
