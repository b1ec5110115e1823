"""A healthy client beside slow ones (`tools/slow.py`): served, whatever the others do.

Few of them and for a moment: how long its requests take is measured where nobody else uses the
machine. Here: no error, and the server keeps the connections that it should.
"""

import pytest
from tools import slow

FIRST, *OTHERS = slow.MODES


@pytest.mark.parametrize(
    "mode", [FIRST, *(pytest.param(mode, marks=pytest.mark.night) for mode in OTHERS)]
)
def test_a_healthy_client_is_served_beside_slow_ones(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(slow, "SETTLE_SECONDS", 0.05)
    monkeypatch.setattr(slow, "CROWD_SECONDS_MAX", 10)
    outcome = slow.run(mode, 40, 0.2)
    assert outcome.beside.errors == 0
    assert outcome.alone.errors == 0
    assert outcome.beside.requests > 0
    assert 30 <= outcome.connections <= 40  # looked at while they come and go


def test_errors_and_slowness_are_violations() -> None:
    well = slow.Health(100, 0, 1.0, 2.0)
    assert slow.Outcome("m", well, well, 1).violations == 0
    assert slow.Outcome("m", well, well._replace(errors=2), 1).violations == 2
    assert slow.Outcome("m", well, well._replace(p99_ms=5.9), 1).violations == 0
    assert slow.Outcome("m", well, well._replace(p99_ms=6.1), 1).violations == 1
