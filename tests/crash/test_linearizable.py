"""What clients of a real server see of a row has an order, also while it is killed and paused.

Rows are read from the table and from indexes, and changed at once and in transactions.

The short form of `python -m tools.linearize`.
"""

import json

import pytest
from tests.support.histories import spoiled
from tests.support.linearizability import judge, main
from tests.support.recording import Recorder, ServerFaults

pytestmark = pytest.mark.timeout(180)  # ten seconds of work, on machines that are busy too


@pytest.mark.night
def test_four_clients_see_one_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--operations", "4000", "--clients", "4"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["violations"], told["indeterminate"]) == (0, 0)
    # What met the lock of a transaction did nothing and is not in the history.
    assert told["operations"] > 3000
    assert all(told[f"by {way}"] > 100 for way in ("local index", "global index", "transaction"))


def test_a_server_that_is_killed_and_paused_keeps_the_order() -> None:
    with Recorder(4, 4, faults=ServerFaults()) as recorder:
        recording = recorder.record(seed=1, operations=1200)
        assert judge(recording) == []
        facts = recording.facts()
        assert facts["kills"] + facts["pauses"] > 0
        # A control: the same clients' histories with one wrong answer are refused.
        row, history = next(iter(recording.rows.items()))
        wrong = spoiled(history, 1)
        assert wrong is not None
        recording.rows[row] = wrong
        assert [finding.row for finding in judge(recording)] == [row]
