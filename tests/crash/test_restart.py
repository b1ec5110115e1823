"""A server that was killed is back with everything it had acknowledged, after a long log too.

How fast, with 1 GB, `python -m tools.trust restart` measures.
"""

from pathlib import Path

import pytest
from tools.crash.restart import run_restarts

pytestmark = pytest.mark.timeout(300)  # seconds, on a machine that others load as well


def test_a_killed_server_comes_back_with_its_log_read_again(tmp_path: Path) -> None:
    outcome = run_restarts(tmp_path / "store", 2, megabytes=16, seed=1)
    assert outcome.lost == 0
    assert len(outcome.starts) == 2
    assert outcome.log_megabytes > 1
