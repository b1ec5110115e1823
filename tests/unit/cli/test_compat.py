"""`widerow compat` prints the operation table (issue text; protos §1)."""

import json

import pytest
from tests.compat.matrix import MATRIX

from widerow.cli.compat import show_compatibility
from widerow.wire.tablestore.operations.table import OPERATIONS, UNSUPPORTED


def test_every_action_is_listed_once(capsys: pytest.CaptureFixture[str]) -> None:
    show_compatibility({"as_json": True, "supported": False})
    every = json.loads(capsys.readouterr().out)
    assert {row["protocol"] for row in every} == {"Tablestore", "Oracle NoSQL"}
    rows = [row for row in every if row["protocol"] == "Tablestore"]
    assert [row["action"] for row in rows] == [*OPERATIONS, *UNSUPPORTED]
    served = {row["action"]: row for row in rows if row["status"] == "served"}
    assert served.keys() == OPERATIONS.keys()
    for name, entry in OPERATIONS.items():
        told = served[name]["permission"], served[name]["feature"]
        assert told == (entry.permission.value, "commits" if entry.writes else "reads")
    refused = {row["action"]: row["feature"] for row in rows if row["status"] == "refused"}
    assert refused == dict(UNSUPPORTED)


def test_actions_of_the_matrix_are_served(capsys: pytest.CaptureFixture[str]) -> None:
    show_compatibility({"as_json": True, "supported": True})
    served = {row["action"] for row in json.loads(capsys.readouterr().out)}
    assert MATRIX.keys() - served == set()


def test_the_table_counts_what_is_served(capsys: pytest.CaptureFixture[str]) -> None:
    show_compatibility({"as_json": False, "supported": True})
    shown = capsys.readouterr().out
    assert all(name in shown for name in OPERATIONS)
    assert "LoadTable" not in shown
    total = len(OPERATIONS) + len(UNSUPPORTED)
    assert f"Tablestore: {len(OPERATIONS)} of {total} actions are served." in shown
