"""examples/student_cards.py does what it says (`make demo` runs it)."""

import re
import subprocess
import sys
from pathlib import Path

from widerow.testing.server import WiderowServer

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "student_cards.py"


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(  # noqa: S603  # our own example
        [sys.executable, str(EXAMPLE), *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_its_own_server_is_killed_and_comes_back_with_the_same_rows() -> None:
    code, said = run("--own-server", "--records", "1000")
    assert code == 0, said
    assert "loading 1000 purchases" in said
    assert "kill -9, in the middle of more writes" in said
    assert "1000 rows before, 1000 after: equal" in said
    found = re.search(r"^(\d+) more were acknowledged: 0 of them are missing$", said, re.MULTILINE)
    assert found is not None, said
    assert int(found[1]) >= 1000
    # Before and after stand side by side in the last table; a refund is one of the changes.
    rows = re.findall(r"^│ 6777 .*$", said.partition("before and after")[2], re.MULTILINE)
    cells = [[cell.strip() for cell in row.strip("│").split("│")] for row in rows]
    assert len(cells) == 8
    assert all(row[4] == row[5] != "-" for row in cells)
    assert cells[0][4].endswith("refunded")


def test_it_leaves_a_server_that_is_there_as_it_was() -> None:
    with WiderowServer() as server:
        arguments = ("--endpoint", server.endpoint, "--records", "500")
        code, said = run(*arguments)
        assert code == 0, said
        assert "refunded it again: OTSConditionCheckFail, as it should be" in said
        assert "the last three, read backwards:" in said
        client = server.client()
        server.instance = "campus"
        assert list(server.client().list_table()) == []
        assert list(client.list_table()) == []


def test_a_refusal_is_told_in_a_line() -> None:
    with WiderowServer() as server:
        code, said = run("--endpoint", server.endpoint, "--access-key-secret", "guessed")
        endpoint = server.endpoint
    assert code == 2
    assert "OTSAuthFailed: Signature mismatch." in said
    code, said = run("--endpoint", endpoint)
    assert code == 2
    assert "no answer that the SDK accepts" in said
    assert "Traceback" not in said


def test_help_shows_examples() -> None:
    code, said = run("--help")
    assert code == 0
    assert "python examples/student_cards.py --own-server" in said
