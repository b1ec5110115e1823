"""docs/compat.md claims what tests showed, and all of it."""

import ast
import re

import pytest
from tests.compat.matrix import MATRIX, SDKS
from tests.compat.page import HERE, PAGE, REFUSED_BY, page, read_record

from widerow.wire.tablestore.operations.table import OPERATIONS, UNSUPPORTED

RECORD = read_record()
CALLS = [(action, sdk) for action, calls in MATRIX.items() for sdk in calls]


def test_the_page_is_made_from_the_record() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(RECORD), "python -m tests.compat.page"


@pytest.mark.parametrize(("action", "sdk"), CALLS)
def test_what_a_test_calls_was_answered_in_the_recorded_run(action: str, sdk: str) -> None:
    assert "OK" in RECORD["answers"][sdk].get(action, ()), "record the tests anew"


def test_what_was_answered_has_its_test() -> None:
    """`other` is every action that is not served."""
    answered = {(action, sdk) for sdk in SDKS for action in RECORD["answers"][sdk]}
    assert {(action, sdk) for action, sdk in answered if action in OPERATIONS} == {*CALLS}


def test_a_claim_falls_with_its_proof() -> None:
    answers = RECORD["answers"]
    lost = {"go": {"GetRow": ["OTSAuthFailed"]}}
    claims = page({**RECORD, "answers": {**answers, "go": {**answers["go"], **lost["go"]}}})
    (row,) = re.findall(r"^\| GetRow \| (.*) \|$", claims, re.MULTILINE)[:1]
    assert row.split(" | ")[SDKS.index("go")] == "no test"
    assert row.count("[yes]") == len(SDKS) - 1


@pytest.mark.parametrize("action", REFUSED_BY)
def test_a_refused_action_is_asked_for_by_a_test_that_is_there(action: str) -> None:
    assert action in UNSUPPORTED
    for file, name in REFUSED_BY[action].values():
        body = ast.parse((HERE / file).read_text(encoding="utf-8")).body
        assert name in {each.name for each in body if isinstance(each, ast.FunctionDef)}
