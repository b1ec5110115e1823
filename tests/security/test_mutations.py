"""A few thousand spoiled requests of every action are answered, and the server goes on.

`tools/mutate.py` says what is asked of an answer (wire §1.5 to §1.7); here it runs for a few
seconds with fixed seeds, and is shown servers that it must find wanting.
"""

from dataclasses import replace
from pathlib import Path
from random import Random  # noqa: TID251  # seeded: the tool's own source of chance

import pytest
from tests.support.http import Answer, Sender, Wire
from tools import mutate, mutations, recorded

from widerow.engine.tablestore.row_operations import RowOperations
from widerow.wire.tablestore.dialect import TABLESTORE_DIALECT
from widerow.wire.tablestore.operations.table import OPERATIONS

CASES = 2000


def test_every_spoiled_request_is_answered() -> None:
    report = mutate.run(1, range(CASES))
    assert report.findings == []
    assert report.cases == CASES
    assert set(report.actions) == set(OPERATIONS)
    assert report.answers["OK"] > CASES // 20  # some do no harm
    assert len(report.rules) > 40  # and the others are refused in many places


def test_requests_are_right_before_they_are_spoiled() -> None:
    """Statements and points among them, or nothing behind their first check would be met."""
    with mutate.serving(None) as server:
        for action, variant, body in recorded.recorded("T"):
            if action in ("SQLQuery", "PutTimeseriesData"):
                answer = server.wire.ask(server.sender.request(action, body))
                assert answer.status == 200, (variant, answer.error)
                assert server.trouble() == ""


def test_a_store_on_disk_is_whole_afterwards(tmp_path: Path) -> None:
    report = mutate.run(4, range(500), tmp_path / "store")
    assert report.findings == []


def test_a_case_is_a_matter_of_its_seed() -> None:
    requests = recorded.recorded("T")
    first = [mutate.case_of(7, number, requests) for number in range(200)]
    assert first == [mutate.case_of(7, number, requests) for number in range(200)]
    other = [mutate.case_of(8, number, requests) for number in range(200)]
    assert sum(a.body != b.body for a, b in zip(first, other, strict=True)) > 190


@pytest.mark.parametrize(
    ("family", "name"),
    [(family, name) for family, names in mutations.FAMILIES.items() for name in names],
)
def test_a_mutation_changes_bodies(family: str, name: str) -> None:
    mutation = mutations.FAMILIES[family][name]
    bodies = [body for _, _, body in recorded.recorded("T") if body]
    spoiled = [mutation(Random(number), body) for number, body in enumerate(bodies)]  # noqa: S311  # nothing secret
    assert sum(after != before for after, before in zip(spoiled, bodies, strict=True)) > 5


# --- servers that are wrong ----------------------------------------------------------------------


def found(seed: int = 1) -> set[str]:
    """What is wrong, in the first words of the findings."""
    report = mutate.run(seed, range(600))
    return {finding.what.split(":")[0] for finding in report.findings}


@pytest.mark.night
def test_a_defect_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a defect")

    monkeypatch.setattr(RowOperations, "batch_get_row", fail)
    assert found() == {"status 500", "the server logged"}


@pytest.mark.night
def test_a_wrong_signature_and_a_wrong_digest_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sender, "signed", lambda *_: False)
    assert "status 200 is not signed" in found()
    monkeypatch.undo()
    monkeypatch.setattr(mutate, "digest", lambda _: "another")
    assert found() == {"the digest is not that of the body"}


@pytest.mark.night
def test_an_answer_that_is_no_message_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = OPERATIONS["GetRow"]._replace(encode=lambda _: b"\xff")
    dialect = replace(TABLESTORE_DIALECT, paths={**TABLESTORE_DIALECT.paths, b"/GetRow": broken})
    monkeypatch.setattr("widerow.server.lifecycle.DIALECTS", (dialect,))
    assert "status 200 has a body that is not a GetRowResponse" in found()


@pytest.mark.night
def test_a_slow_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "SECONDS_MAX", 0.0)
    told = found()
    assert told
    assert all(each.startswith("it took ") for each in told)


@pytest.mark.night
def test_a_row_that_changes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [each for each in recorded.recorded(mutate.KEPT) if each[0] == "PutRow"]
    monkeypatch.setattr(mutate, "recorded", lambda _: kept)
    assert found() == {"a row changed that nobody asked to change"}


@pytest.mark.night
def test_a_connection_that_ends_without_an_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dropped(Wire):
        def ask(self, request: bytes, *, head_only: bool = False) -> Answer:
            if b"x-ots-request-compress-type" in request:
                raise ConnectionError("it ended")
            return super().ask(request, head_only=head_only)

    monkeypatch.setattr(mutate, "Wire", Dropped)
    assert found() == {"no answer"}
