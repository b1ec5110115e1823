"""`plan …`, `show plans`: numbers, states, texts (cli §4)."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from widerow import nosql
from widerow.model.typed.plans import PlanKind, PlanState, TablePlan
from widerow.model.typed.table import Index, IndexField

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

T1 = "table create -name t1\nadd-field -type STRING -name a\nprimary-key -field a\nexit\n"


def test_wait_prints_that_it_waits_and_how_it_ended(shell: "Shell") -> None:
    shell.run(T1)
    assert shell.run("plan add-table -name t1 -wait") == (
        "Executed plan 1, waiting for completion...\nPlan 1 ended successfully\n\n",
        0,
    )


def test_without_wait_it_says_how_to_look(shell: "Shell") -> None:
    shell.run(T1)
    assert shell.run("plan add-table -name t1") == (
        (
            "Started plan 1. Use show plan -id 1 to check status.\n"
            "\tTo wait for completion, use plan wait -id 1\n"
        ),
        0,
    )
    assert shell.run("plan wait -id 1 -seconds 5") == ("Plan 1 ended successfully\n\n", 0)
    assert shell.run("plan wait -last") == ("Plan 1 ended successfully\n\n", 0)


def test_a_plan_can_be_made_now_and_executed_later(shell: "Shell") -> None:
    shell.run(T1)
    created = shell.run("plan add-table -name t1 -noexecute -plan-name first")
    assert created == ("Created plan without execution: 1\n", 0)
    assert shell.run("show tables") == ("No table found.\n", 0)
    assert "first" in shell.run("show plans")[0]
    assert shell.run("plan wait -last")[1] == 1
    assert shell.run("plan execute -last -wait") == (
        "Executed plan 1, waiting for completion...\nPlan 1 ended successfully\n\n",
        0,
    )
    assert shell.run("show tables")[0] == "Tables in all namespaces: \n\tt1\n\t\n"
    assert shell.run("plan execute -id 1") == (
        (
            "Error handling command plan execute -id 1: "
            "Plan 1 is SUCCEEDED and cannot be executed again\n"
        ),
        1,
    )


def test_a_plan_that_was_overtaken_ends_with_errors(shell: "Shell") -> None:
    shell.run(T1 + "plan add-table -name t1 -noexecute\n" + T1 + "plan add-table -name t1")
    assert shell.run("plan execute -id 1 -wait") == (
        (
            "Executed plan 1, waiting for completion...\n"
            'Plan 1 ended with errors. Use "show plan -id 1" for more information\n'
        ),
        1,
    )
    text, _ = shell.run("show plan -id 1")
    assert "State:      ERROR\n" in text
    assert "TableAlreadyExistsException:Table t1 already exists" in text
    assert shell.run("plan cancel -id 1") == ("Plan 1 was canceled\n", 0)
    assert shell.run("plan wait -id 1") == ("Plan 1 has been canceled\n", 1)


def test_numbers_count_up_and_survive_reopening(shell: "Shell", tmp_path: Path) -> None:
    path = tmp_path / "store"
    for number in (1, 2):
        with nosql.open(path, housekeeping=False) as store:
            shell.session.store = store
            table = T1.replace("t1", f"t{number}")
            text, _ = shell.run(f"{table}plan add-table -name t{number} -noexecute")
            assert text.endswith(f"Created plan without execution: {number}\n")
    with nosql.open(path, housekeeping=False) as store:
        shell.session.store = store
        assert shell.run("show plans")[0] == (
            "     1 Add Table t1                             APPROVED\n"
            "     2 Add Table t2                             APPROVED\n"
        )
        assert shell.run("plan execute -id 1\nplan execute -last")[1] == 0
        assert shell.run("show tables")[0] == "Tables in all namespaces: \n\tt1\n\tt2\n\t\n"


def test_a_plan_that_was_cut_off_is_interrupted_and_may_be_run_again(shell: "Shell") -> None:
    shell.run(T1)
    table = shell.session.staged["t1"].table
    plan = TablePlan(7, PlanKind.ADD_TABLE, "t1", state=PlanState.RUNNING, definition=table)
    shell.session.store.save_plan(plan)  # what is there when the process dies in the middle
    assert shell.run("plan wait -id 7") == (
        "Plan 7 has been interrupted. Please cancel or retry the plan.\n",
        1,
    )
    assert shell.run("plan execute -id 7 -wait")[1] == 0


def test_an_interrupted_plan_of_an_index_says_what_to_do(shell: "Shell") -> None:
    """Housekeeping may have dropped its index, and the reason was in that process's memory only."""
    shell.rows()
    index = Index("i", (IndexField("inventoryCount"),))
    plan = TablePlan(7, PlanKind.ADD_INDEX, "myProducts", state=PlanState.RUNNING, index=index)
    shell.session.store.save_plan(plan)
    to_do = "To do:      run plan execute -id 7: it builds the index, or says why"
    assert to_do in shell.run("show plans -id 7")[0]
    assert shell.run("plan execute -id 7 -wait")[1] == 0
    assert "To do" not in shell.run("show plans -id 7")[0]


def test_a_staged_table_is_consumed_by_its_plan_and_kept_where_there_is_none(
    shell: "Shell",
) -> None:
    shell.run(T1 + "plan add-table -name t1\n" + T1)
    assert shell.run("plan add-table -name t1")[1] == 1
    assert shell.run("table list")[0] == "Tables to be added: \n\tt1\n"
    shell.run("plan remove-table -name t1\nplan add-table -name t1")
    assert shell.run("table list")[0] == "No tables available.\n"


# cli §4: the table of errors
KIND = "oracle.kv.impl.admin."
ERRORS = [
    (
        "plan add-table -name nosuch",
        (
            "Invalid argument: table nosuch is not yet built, please run the 'table create' "
            "command to build it first."
        ),
        65,
    ),
    (
        "plan evolve-table -name nosuch",
        (
            "Invalid argument: table nosuch is not yet built, please run command 'table evolve' to "
            "build it first."
        ),
        65,
    ),
    ("plan remove-table -name t7", f"{KIND}IllegalCommandException:Could not find table: t7", 1),
    (
        "plan remove-table -name myProducts",
        (
            f"{KIND}IllegalCommandException:"
            "Cannot remove table myProducts, it is still referenced by child tables"
        ),
        1,
    ),
    (
        "plan remove-table -name myProducts -keep-data",
        "Invalid argument: -keep-data is no longer supported",
        65,
    ),
    ("plan wait -id 99", "Error handling command plan wait -id 99: Plan id 99 does not exist", 1),
    ("plan wait -id x", "Invalid argument: x", 65),
    ("plan execute -id 1 -last", "Invalid argument: -id and -last cannot be used together", 65),
]


@pytest.mark.parametrize(("line", "message", "code"), ERRORS)
def test_errors(shell: "Shell", line: str, message: str, code: int) -> None:
    shell.rows()
    text, found = shell.run(line)
    assert text.partition("\n\tUsage: ")[0].rstrip("\n") == message
    assert found == code


def test_a_refused_plan_takes_no_number(shell: "Shell") -> None:
    shell.run("plan remove-table -name nosuch")
    shell.run(T1)
    assert shell.run("plan add-table -name t1 -noexecute")[0].endswith(": 1\n")


def test_removing_and_evolving_a_table_that_is_gone(shell: "Shell") -> None:
    shell.run(T1 + "plan add-table -name t1\ntable evolve -name t1\nexit")
    assert shell.run("plan remove-table -name T1 -wait")[1] == 0
    assert shell.run("plan evolve-table -name t1") == (
        f"{KIND}IllegalCommandException:Could not find table: t1\n",
        1,
    )


def test_a_table_whose_place_is_gone_is_refused(shell: "Shell") -> None:
    build = "\nadd-field -name b -type LONG\nprimary-key -field b\nexit\n"
    shell.run(
        f"{T1}plan add-table -name t1\ntable create -name t1.kid{build}plan remove-table -name t1"
    )
    assert shell.run("plan add-table -name t1.kid") == (
        f"{KIND}IllegalCommandException:Parent table does not exist (t1) in table path t1.kid\n",
        1,
    )
    shell.run(f"table create -name t -namespace nosuch{build}")
    assert shell.run("plan add-table -name t -namespace nosuch") == (
        f"{KIND}IllegalCommandException:Namespace does not exist: nosuch\n",
        1,
    )


def test_json_reports_the_number_of_the_plan(shell: "Shell") -> None:
    shell.run(T1)
    text, code = shell.run("plan add-table -name t1 -json")
    assert '"returnCode" : 5000' in text
    assert '"plan_id" : 1' in text
    assert code == 0


def test_there_are_no_plans_at_first(shell: "Shell") -> None:
    assert shell.run("show plans") == ("There are no plans.\n", 0)
    assert shell.run("show plan -last")[1] == 1
