"""Records of plans are what docs/formats/catalog.md says (section Plans)."""

import json
import re
from pathlib import Path

import pytest

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.check import check_store
from widerow.engine.engine import catalog_models
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.typed.plans import decode_plan, encode_plan, plan_write, read_plans
from widerow.errors import StoreDamaged
from widerow.keys.layout import PLAN_PREFIX, SPACE_STORE
from widerow.limits import PLANS_KEPT_MAX
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.plans import PlanKind, PlanState, TablePlan
from widerow.model.typed.table import Index, IndexField
from widerow.model.typed.types import STRING, Kind, enum_of
from widerow.storage.opener import open_store

PAGE = (Path(__file__).parents[2] / "docs" / "formats" / "catalog.md").read_text(encoding="utf-8")
TABLE = (
    TableBuilder("t")
    .add_field("a", STRING)
    .add_field("e", enum_of(["x", "y"]), default="y")
    .primary_key("a")
    .build()
)


def example() -> bytes:
    found = re.search(r"```plan\n(.*)\n```", PAGE)
    assert found is not None
    return found[1].encode()


def test_the_example_is_what_is_written() -> None:
    plan = decode_plan(example())
    assert encode_plan(plan) == example()
    assert (plan.id, plan.kind, plan.state) == (18, PlanKind.REMOVE_TABLE, PlanState.SUCCEEDED)


def test_the_page_names_every_field() -> None:
    rows = re.findall(r"^\| (.+?) \| ", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named >= {*json.loads(example()), "definition", "index"}


@pytest.mark.parametrize("kind", PlanKind)
@pytest.mark.parametrize("state", PlanState)
def test_every_plan_comes_back(kind: PlanKind, state: PlanState) -> None:
    index = Index("i", (IndexField("a"), IndexField("j.x", Kind.LONG)), comment="both")
    plan = TablePlan(7, kind, "ns:t", "own", state, TABLE, index, 2, 3, 4, 5, "why")
    assert decode_plan(encode_plan(plan)) == plan


@pytest.mark.parametrize(
    ("field", "value"),
    [("format", 2), ("kind", "DROP"), ("state", 1), ("id", "7"), ("new", 1), ("index", {})],
)
def test_what_is_not_understood_is_refused(field: str, value: object) -> None:
    record = json.loads(example()) | {field: value}
    with pytest.raises(StoreDamaged):
        decode_plan(json.dumps(record).encode())


def test_only_the_latest_are_kept() -> None:
    with open_store("memory:") as store:
        store.transact_group(
            [
                plan_write(TablePlan(number, PlanKind.REMOVE_TABLE, "t"))
                for number in range(1, PLANS_KEPT_MAX + 3)
            ]
        )
        kept = [plan.id for plan in read_plans(store.snapshot())]
    assert kept == list(range(3, PLANS_KEPT_MAX + 3))


def test_a_damaged_plan_is_found() -> None:
    with open_store("memory:") as store:
        Catalog(store, catalog_models(TABLE_MODELS))  # makes it a store of ours
        key = PLAN_PREFIX + (17).to_bytes(8, "big")
        store.transact((SPACE_STORE,), lambda txn: txn.put(key, example()))
        store.transact((SPACE_STORE,), lambda txn: txn.put(key[:-1] + b"\x13", b"{}"))
        problems = [finding.problem for finding in check_store(store)]
    assert problems[0] == "the plan has another number than its key"
    assert problems[1].startswith("plan record is not readable")
