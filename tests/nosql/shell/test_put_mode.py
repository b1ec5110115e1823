"""`put table` without a row: a mode in which it is put together (cli §6)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from widerow.cli.kv.dispatch import execute

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

TABLE = """
table create -name t
add-field -type STRING -name id
add-field -type INTEGER -name n -default 7
add-field -type BINARY -name b
add-array-field -name tags
add-field -type STRING
exit
add-map-field -name m
add-record-field
add-field -type INTEGER -name x
add-field -type ENUM -name e -enum-values one,two
exit
exit
primary-key -field id
exit
plan add-table -name t
"""


@pytest.fixture(autouse=True)
def table(shell: "Shell") -> None:
    assert shell.run(TABLE)[1] == 0


def test_a_row_is_put_together_and_written_at_exit(shell: "Shell", tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\x00\x01")
    script = f"""
    put table -name t
    add-value -field id -value k
    add-value -field n -null-value
    add-value -field b -file {tmp_path}/bytes
    add-array-value -field tags
    add-value -value red
    add-value -value 'two words'
    exit
    add-map-value -field m
    add-record-value -field key
    add-value -field x -value 5
    add-value -field E -value two
    exit
    exit
    show
    exit
    """
    text, code = shell.run(script)
    assert code == 0
    document, said = text.rsplit("}\n", 1)
    assert json.loads(f"{document}}}")["tags"] == ["red", "two words"]
    assert said == "Operation successful, row inserted.\n"
    assert shell.run("get table -name t -field id -value k")[0] == (
        '{"id":"k","n":null,"b":"AAE=","tags":["red","two words"],"m":{"key":{"x":5,"e":"two"}}}\n'
    )


def test_what_is_left_out_has_its_default(shell: "Shell") -> None:
    shell.run("put table -name t\nadd-value -field id -value k\nexit")
    assert '"n":7' in shell.run("get table -name t -field id -value k")[0]


def test_prompts_show_where_one_is(shell: "Shell") -> None:
    execute(shell.session, "put table -name t")
    assert shell.session.prompt == "t-> "
    execute(shell.session, "add-map-value -field m")
    assert shell.session.prompt == "t.m-> "
    execute(shell.session, "cancel")
    execute(shell.session, "cancel")
    assert shell.session.prompt == "kv-> "
    assert shell.run("aggregate table -name t -count")[0] == "Row count: 0\n"


# what cannot be a value of the row
REFUSED = [
    ("add-value -field zz -value 1", "There is no field with name zz"),
    ("add-value -field n -value abc", "Invalid integer value: abc"),
    ("add-value -field b -value ?", "Invalid Base64 text for field b"),
    ("add-map-value -field tags", "tags is not of type MAP"),
    ("exit", "Missing primary key field: id"),
]


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_values_are_checked_as_they_come(shell: "Shell", line: str, message: str) -> None:
    execute(shell.session, "put table -name t")
    shell.said.clear()
    assert execute(shell.session, line) == 1
    assert shell.said == [f"Error handling command {line}: {message}"]
    assert shell.session.prompt == "t-> "


def test_flags_are_checked(shell: "Shell", tmp_path: Path) -> None:
    execute(shell.session, "put table -name t")
    assert execute(shell.session, "add-value -field n -value 1 -null-value") == 65
    assert execute(shell.session, "add-value -value 1") == 65
    assert execute(shell.session, f"add-value -field b -file {tmp_path}/none") == 65
    assert execute(shell.session, "add-value -field n") == 64
    execute(shell.session, "add-array-value -field tags")
    assert execute(shell.session, "add-value -field n -value 1") == 65


def test_conditions_hold_at_exit(shell: "Shell") -> None:
    shell.run("""put table -name t -json '{"id":"k"}'""")
    text, code = shell.run("put table -name t -if-absent\nadd-value -field id -value k\nexit")
    assert text == (
        'Operation failed, A record was already present with the given primary key: {"id":"k"}\n'
    )
    assert code == 1
