"""Indexes in the shell: their plans, `show indexes`, reading by them (cli §4-§6, model §11)."""

from typing import TYPE_CHECKING

import pytest

from widerow.model.typed.plans import PlanKind, PlanState, TablePlan
from widerow.model.typed.table import Index, IndexField

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

KIND = "oracle.kv.impl.admin."
ADD = "plan add-index -name idx1 -table myProducts -field inventoryCount"
GET = "get table -name myProducts -index idx1"
HAT1 = '{"productType":"hat","number":1,"inventoryCount":5,"weight":null}'
HAT2 = '{"productType":"hat","number":2,"inventoryCount":8,"weight":null}'
TIE1 = '{"productType":"tie","number":1,"inventoryCount":12,"weight":null}'
NONE = '{"productType":"cap","number":1,"inventoryCount":null,"weight":null}'


@pytest.fixture(autouse=True)
def filled(shell: "Shell") -> None:
    shell.rows()


def test_an_index_is_added_over_the_rows_that_are_there(shell: "Shell") -> None:
    assert shell.run(f"{ADD} -desc stock -wait") == (
        "Executed plan 3, waiting for completion...\nPlan 3 ended successfully\n\n",
        0,
    )
    assert shell.run("show indexes -table myProducts")[0] == (
        "Indexes on table myProducts\n\tidx1 (inventoryCount), type: SECONDARY -- stock\n"
    )
    shell.run("plan add-index -name two -table myProducts -field weight -field productType")
    assert shell.run("show indexes -table myproducts -name TWO")[0] == (
        "Indexes on table myProducts\n\ttwo (weight, productType), type: SECONDARY\n"
    )
    assert '"indexes" : [' in shell.run("show tables -name myProducts")[0]
    assert shell.run("plan remove-index -name idx1 -table myProducts -wait")[1] == 0
    assert "idx1" not in shell.run("show indexes")[0]


# cli §4: the table of errors
ERRORS = [
    (
        ADD,
        (
            f"{KIND}IndexAlreadyExistsException:"
            "Index idx1 already exists in table myProducts (25.3.21)"
        ),
    ),
    (
        "plan add-index -name i -table myProducts -field nofield",
        (
            f"{KIND}IllegalCommandException:Invalid index field definition : nofield\n"
            "There is no field named nofield"
        ),
    ),
    (
        "plan add-index -name i -table t7 -field a",
        f"{KIND}IllegalCommandException:Could not find table: t7",
    ),
    (
        "plan remove-index -name nosuch -table myProducts",
        f"{KIND}IndexNotFoundException:Index nosuch does not exists in table myProducts (25.3.21)",
    ),
    (
        "plan remove-index -name i -table t7",
        f"{KIND}IllegalCommandException:Could not find table: t7",
    ),
    (
        "plan add-index -name 1bad -table myProducts -field weight",
        (
            f"{KIND}IllegalCommandException:"
            'Index names may contain only alphanumeric values plus the character "_": 1bad'
        ),
    ),
]


@pytest.mark.parametrize(("line", "message"), ERRORS)
def test_plans_of_indexes_are_refused(shell: "Shell", line: str, message: str) -> None:
    assert shell.run(ADD)[1] == 0
    assert shell.run(line) == (f"{message}\n", 1)


# cli §6: reading by an index, in its order; NULLs come last
GETS = [
    ("", [HAT1, HAT2, TIE1, NONE]),
    ("-field inventoryCount -value 8", [HAT2]),
    ("-field INVENTORYCOUNT -start 6", [HAT2, TIE1]),
    ("-field inventoryCount -start 5 -end 8", [HAT1, HAT2]),
    ("-field inventoryCount -null-value", [NONE]),
]


@pytest.mark.parametrize(("flags", "rows"), GETS)
def test_rows_come_in_the_order_of_the_index(shell: "Shell", flags: str, rows: list[str]) -> None:
    shell.run(f"{ADD}\nput table -name myProducts -json '{NONE}'")
    noun = "row" if len(rows) < 2 else "rows"
    text = "\n" + "".join(f"{row}\n" for row in rows) + f"\n{len(rows)} {noun} returned\n"
    assert shell.run(f"{GET} {flags}") == (text, 0)
    count = shell.run(f"aggregate table -name myProducts -index idx1 -count {flags}")
    assert count == (f"Row count: {len(rows)}\n", 0)


REFUSED = [
    (f"{GET} -field number -value 1", "Not a valid index key field: number", 1),
    (f"{GET} -field inventoryCount -value x", "Invalid integer value: x", 1),
    (
        "get table -name myProducts -index nosuch",
        "Index does not exist: nosuch on table: myProducts",
        1,
    ),
    (
        f"{GET} -child myProducts.parts",
        "Child table returns are not supported for index scan operations",
        1,
    ),
]


@pytest.mark.parametrize(("line", "message", "code"), REFUSED)
def test_keys_of_indexes_are_checked(shell: "Shell", line: str, message: str, code: int) -> None:
    shell.run(ADD)
    assert shell.run(line) == (f"Error handling command {line}: {message}\n", code)


@pytest.mark.parametrize(
    "flags",
    ["-index idx1 -json {}", "-index idx1 -ancestor myProducts", "-field number -null-value"],
)
def test_flags_that_do_not_go_together(shell: "Shell", flags: str) -> None:
    assert shell.run(f"get table -name myProducts {flags}")[1] == 65


def test_a_build_that_was_cut_off_is_gone_on_with(shell: "Shell") -> None:
    index = Index("idx1", (IndexField("inventoryCount"),))
    plan = TablePlan(9, PlanKind.ADD_INDEX, "myProducts", state=PlanState.RUNNING, index=index)
    shell.session.store.save_plan(plan)
    assert "INTERRUPTED" in shell.run("show plans")[0]
    assert shell.run("plan execute -id 9 -wait")[1] == 0
    assert shell.run(f"{GET} -field inventoryCount -value 5")[0] == f"\n{HAT1}\n\n1 row returned\n"


def test_an_indexed_column_stays(shell: "Shell") -> None:  # model §12
    text, code = shell.run(
        f"{ADD}\ntable evolve -name myProducts\nremove-field -name inventoryCount"
    )
    assert text.endswith(
        "Error handling command remove-field -name inventoryCount: "
        "Evolution cannot remove indexed fields\n"
    )
    assert code == 1
