"""examples/monthly_tables.py: each table takes what it reserved (page 003; semantics §9)."""

import re
import subprocess
import sys
from pathlib import Path

from widerow.testing.server import WiderowServer

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "monthly_tables.py"


def run(endpoint: str, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(  # noqa: S603  # our own example
        [sys.executable, str(EXAMPLE), "--endpoint", endpoint, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def taken(said: str) -> dict[str, int]:
    rows = re.findall(r"│ purchases_(\w+) .*│ (\d+) of \d+ ", said)
    return {month: int(count) for month, count in rows}


def test_hot_and_cold_tables_have_the_throughput_they_reserved() -> None:
    # The server's clock stands still, so that each table has one second's reserve.
    with WiderowServer(settings={"enforce_throughput": True}, instance="campus") as server:
        code, said = run(server.endpoint)
        assert code == 0, said
        assert taken(said) == {"2016_07": 30, "2016_06": 5, "2016_05": 5, "2016_04": 5}
        assert list(server.client().list_table()) == []


def test_without_enforcement_all_of_it_is_taken() -> None:
    with WiderowServer() as server:
        code, said = run(server.endpoint, "--burst", "10")
        assert code == 0, said
        assert set(taken(said).values()) == {10}


def test_a_refusal_is_told_in_a_line() -> None:
    with WiderowServer() as server:
        code, said = run(server.endpoint, "--access-key-secret", "guessed")
    assert code == 2
    assert "monthly_tables: ErrorCode: OTSAuthFailed" in said
    assert "Traceback" not in said
