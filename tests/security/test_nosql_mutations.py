"""Spoiled requests of Oracle NoSQL's protocol are answered, and the server goes on.

`tools/nosql_mutate.py` says what is asked of an answer (nosql-wire §1, §7); here it runs for a few
seconds with a fixed seed, and is shown servers that it must find wanting.
"""

from pathlib import Path

import pytest
from tests.support.nosql_wire import post, read_answer
from tools import nosql_mutate as mutate

from widerow.engine.typed.engine import TypedEngine
from widerow.wire.nosql.operations.names import NAMES
from widerow.wire.nosql.operations.table import BY_CODE

CASES = 1500
STATEMENTS = ("QUERY", "PREPARE", "TABLE_REQUEST")


def test_every_spoiled_request_is_answered(tmp_path: Path) -> None:
    report = mutate.run(1, range(CASES), tmp_path / "store")
    assert report.findings == []
    assert report.cases == CASES
    assert set(report.actions) >= {NAMES[code] for code in BY_CODE}
    assert report.answers["OK"] > CASES // 20  # some do no harm
    assert len(report.answers) > 8  # and the others are refused in many ways


def test_statements_are_right_before_they_are_spoiled() -> None:
    with mutate.serving(None) as server:
        for name, variant, frame in mutate.RECORDED:
            if name in STATEMENTS:
                answer = read_answer(server.wire.ask(post(frame)).body)
                assert answer.get("e", 0) == 0, (name, variant, answer)
                assert server.trouble() == ""


def found() -> set[str]:
    """What is wrong, in the first words of the findings."""
    report = mutate.run(1, range(300))
    return {finding.what.split(":")[0] for finding in report.findings}


def test_a_defect_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a defect")

    monkeypatch.setattr(TypedEngine, "delete_part", fail)
    assert {each.partition(" ")[0] for each in found()} == {"MULTI_DELETE", "the"}


def test_an_answer_that_is_no_map_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def torn(body: bytes) -> dict[str, object]:
        return read_answer(body[:-1])

    monkeypatch.setattr(mutate, "read_answer", torn)
    assert "the body is not an answer" in found()
