"""Tests of the program, with an instance of its own for each; the fixtures are widerow's."""

import pytest
from card_sessions import Sessions
from tablestore import DefaultRetryPolicy, OTSClient, OTSServiceError

from widerow.testing import FakeClock, FaultList, WiderowInstance


@pytest.fixture
def sessions(tablestore_client: OTSClient) -> Sessions:
    made = Sessions(tablestore_client)
    made.create_table()
    return made


def test_a_session_ends_after_an_hour(sessions: Sessions, widerow_clock: FakeClock) -> None:
    sessions.begin("a1", 6777)

    widerow_clock.advance(3599)
    assert sessions.card_of("a1") == 6777

    widerow_clock.advance(1)
    assert sessions.card_of("a1") is None


def test_nothing_is_left_of_the_test_before(sessions: Sessions) -> None:
    assert sessions.card_of("a1") is None


def test_the_sdk_asks_again_while_the_server_is_busy(
    sessions: Sessions, widerow_instance: WiderowInstance, widerow_faults: FaultList
) -> None:
    patient = Sessions(widerow_instance.client(retry_policy=DefaultRetryPolicy()))
    fault = widerow_faults.add("OTSServerBusy", action="PutRow", count=2)

    patient.begin("a1", 6777)

    assert widerow_faults.struck(fault) == 2
    assert sessions.card_of("a1") == 6777


def test_a_write_that_times_out_may_have_been_made(
    sessions: Sessions, widerow_faults: FaultList
) -> None:
    widerow_faults.add("OTSTimeout", action="PutRow", when="after", count=1)

    with pytest.raises(OTSServiceError, match="OTSTimeout"):
        sessions.begin("a1", 6777)

    assert sessions.card_of("a1") == 6777
