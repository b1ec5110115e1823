"""`table create`, `evolve`, `list`, `clear`: definitions in the shell (cli §2)."""

from typing import TYPE_CHECKING

import pytest

from widerow.cli.kv.dispatch import execute

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

BUILD = "table create -name {}\nadd-field -type STRING -name a\nprimary-key -field a\nexit\n"

# cli §2: names, and parents that are not there
REFUSED = [
    (
        "table create -name bad-name",
        'Table names may contain only alphanumeric values plus the character "_": bad-name',
    ),
    ("table create -name SYS$x", "Can not create table with name prefix 'SYS$': SYS$x"),
    ("table create -name kid.child", "Table: kid does not exist in TableMetadata[0 tables]"),
    ("table evolve -name nosuch", "Table: nosuch does not exist in TableMetadata[0 tables]"),
    (
        "table create -name t -namespace 1x",
        'Namespaces may contain only alphanumeric values plus the characters "_" and "." : 1x',
    ),
]


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_names_are_checked_at_once(shell: "Shell", line: str, message: str) -> None:
    assert shell.run(line) == (f"Error handling command {line}: {message}\n", 1)
    assert shell.session.prompt == "kv-> "


def test_create_begins_build_mode_without_a_word(shell: "Shell") -> None:
    shell.store.create_namespace("ns")
    assert execute(shell.session, "table create -name ns:users") == 0
    assert shell.session.prompt == "ns:users-> "
    assert execute(shell.session, "add-map-field -name m") == 0
    assert shell.session.prompt == "ns:users.m-> "
    assert shell.said == []


def test_evolve_shows_the_short_name(shell: "Shell") -> None:
    shell.rows()
    shell.said.clear()
    assert execute(shell.session, "table evolve -name MYPRODUCTS.parts") == 0
    assert shell.session.prompt == "parts-> "
    assert shell.said == []


def test_list_shows_what_was_built(shell: "Shell") -> None:
    assert shell.run("table list") == ("No tables available.\n", 0)
    shell.rows()
    shell.run(BUILD.format("t3 -desc 'a third'") + BUILD.format("T3"))
    shell.run("table evolve -name myProducts\nadd-field -type STRING -name note\nexit")
    assert shell.run("table list") == (
        "Tables to be added: \n\tT3\n\tt3 -- a third\nTables to be evolved: \n\tmyProducts\n",
        0,
    )
    assert shell.run("table list -create")[0] == "Tables to be added: \n\tT3\n\tt3 -- a third\n"
    assert shell.run("table list -evolve")[0] == "Tables to be evolved: \n\tmyProducts\n"
    text, code = shell.run("table list -name t3")
    assert text.startswith('Add table t3: \n{\n  "json_version" : 2,\n  "type" : "table",\n')
    assert code == 0
    assert shell.run("table list -name myProducts")[0].startswith("Evolve table myProducts: \n{")
    assert shell.run("table list -name x") == ("Table x does not exist.\n", 0)


def test_clear_forgets(shell: "Shell") -> None:
    assert shell.run("table clear -all") == ("No available table.\n", 0)
    shell.run(BUILD.format("b") + BUILD.format("a") + BUILD.format("t"))
    assert shell.run("table clear -name t") == ("Table t cleared.\n", 0)
    assert shell.run("table clear -name zz") == ("Table zz does not exist.\n", 0)
    assert shell.run("table clear -all") == ("2 tables cleared: a, b.\n", 0)
    shell.run(BUILD.format("a"))
    assert shell.run("table clear -all") == ("1 table cleared: a.\n", 0)
    assert shell.run("table list") == ("No tables available.\n", 0)


def test_names_that_were_built_keep_their_case(shell: "Shell") -> None:  # cli §2
    shell.run(BUILD.format("t"))
    text, code = shell.run("plan add-table -name T")
    assert text.startswith(
        "Invalid argument: table T is not yet built, please run the 'table create'"
    )
    assert code == 65


def test_create_does_not_ask_whether_the_table_exists(shell: "Shell") -> None:  # cli §2
    shell.products()
    assert shell.run(BUILD.format("myProducts")) == ("Table myProducts built.\n", 0)
    assert shell.run("plan add-table -name myProducts") == (
        (
            "oracle.kv.impl.admin.TableAlreadyExistsException:"
            "Table myProducts already exists (25.3.21)\n"
        ),
        1,
    )
