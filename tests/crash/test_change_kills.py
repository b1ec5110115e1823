"""A table with indexes, a stream and transactions is whole after each kill (change §E2)."""

from change_kills import kill_many


def test_nothing_is_lost_doubled_or_torn() -> None:
    run = kill_many(4, seed=3)
    assert (run.damaged, run.wrong_streams, run.wrong_tables) == (0, 0, 0)
    assert run.rounds > 0


def test_a_missing_record_is_noticed() -> None:
    run = kill_many(2, seed=3, control=True)
    assert run.wrong_streams > 0
