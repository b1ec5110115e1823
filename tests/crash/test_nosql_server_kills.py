"""A server killed while clients of Oracle NoSQL write keeps every promise (nosql-wire §4)."""

import pytest
from tools.nosql_server_kills import CONTROLS, kill_many

pytestmark = pytest.mark.timeout(900)


def test_what_clients_were_answered_is_there_and_whole() -> None:
    outcome = kill_many(4, seed=3)
    assert outcome.kills == 4
    assert outcome.rounds > 0
    assert (outcome.torn, outcome.lost, outcome.damaged) == (0, 0, 0)


@pytest.mark.night
@pytest.mark.parametrize("control", CONTROLS)
def test_single_requests_and_early_answers_are_caught(control: str) -> None:
    """The controls: were one of them not caught, the test above would show nothing."""
    outcome = kill_many(200, seed=3, control=control)  # ends with its first catch
    assert outcome.torn + outcome.lost > 0
