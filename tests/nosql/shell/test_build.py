"""Build mode: every sub-command, every text of add-field, the check of the whole (cli §3)."""

import json
from typing import TYPE_CHECKING, Any

import pytest

from widerow.cli.kv.dispatch import execute

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

ALL_TYPES = """
table create -name t -desc "all types"
add-field -type string -name id
add-field -type INTEGER -name i -default -5 -desc "a number"
add-field -type Long -name l -default 9223372036854775807 -not-nullable
add-field -type DOUBLE -name d -default 1.5
add-field -type FLOAT -name f
add-field -type BOOLEAN -name yes -default TRUE
add-field -type BOOLEAN -name no -default sure
add-field -type BINARY -name b -default AAEC
add-field -type FIXED_BINARY -name fb -size 4
add-field -type ENUM -name e -enum-values x,y,z -default y
add-field -type TIMESTAMP -name ts -precision 3
add-field -type TIMESTAMP -name seconds
primary-key -field id
"""


def definition(shell: "Shell", script: str) -> dict[str, Any]:
    """What `show` says after the commands of a build mode."""
    shell.said.clear()
    for line in script.strip().splitlines():
        assert execute(shell.session, line.strip()) == 0, shell.said
    assert shell.said == []
    execute(shell.session, "show")
    document: dict[str, Any] = json.loads(shell.said.pop())
    return document


def after(shell: "Shell", *lines: str) -> tuple[list[str], int]:
    """What the last of these lines says inside a table t, and its exit code."""
    execute(shell.session, "table create -name t")
    for line in lines[:-1]:
        execute(shell.session, line)
    shell.said.clear()
    code = execute(shell.session, lines[-1])
    return [text.partition("\n\tUsage: ")[0] for text in shell.said], code


def failed(line: str, message: str) -> tuple[list[str], int]:
    return [f"Error handling command {line}: {message}"], 1


def refused(message: str) -> tuple[list[str], int]:
    return [f"Invalid argument: {message}"], 65


def test_add_field_takes_every_type_and_flag(shell: "Shell") -> None:
    document = definition(shell, ALL_TYPES)
    assert document["comment"] == "all types"
    assert document["primaryKey"] == ["id"]
    assert document["shardKey"] == []
    fields = {field.pop("name"): field for field in document["fields"]}
    assert fields == {
        "id": {"type": "STRING", "nullable": True},
        "i": {"type": "INTEGER", "nullable": True, "comment": "a number", "default": -5},
        "l": {"type": "LONG", "nullable": False, "default": 2**63 - 1},
        "d": {"type": "DOUBLE", "nullable": True, "default": 1.5},
        "f": {"type": "FLOAT", "nullable": True},
        "yes": {"type": "BOOLEAN", "nullable": True, "default": True},
        "no": {"type": "BOOLEAN", "nullable": True, "default": False},
        "b": {"type": "BINARY", "nullable": True, "default": "AAEC"},
        "fb": {"type": "FIXED_BINARY", "size": 4, "nullable": True},
        "e": {"type": "ENUM", "symbols": ["x", "y", "z"], "nullable": True, "default": "y"},
        "ts": {"type": "TIMESTAMP", "precision": 3, "nullable": True},
        "seconds": {"type": "TIMESTAMP", "precision": 0, "nullable": True},
    }


def test_exit_says_that_the_table_was_built_and_the_plan_makes_it(shell: "Shell") -> None:
    assert shell.run(ALL_TYPES + "exit") == ("Table t built.\n", 0)
    assert shell.run("plan add-table -name t -wait")[1] == 0
    text, _ = shell.run("show tables -name t")
    document = json.loads(text)
    assert document["shardKey"] == ["id"]
    assert document["fields"][0]["nullable"] is False


# cli §3: the table of add-field errors
ENUM = "add-field -name e -type ENUM"
INT, LONG = "add-field -name i -type INTEGER", "add-field -name l -type LONG"
FLOAT, DOUBLE = "add-field -name f -type FLOAT", "add-field -name d -type DOUBLE"
ADD_FIELD = [
    ("add-field -name a -type BLOB", refused("BLOB")),
    *(
        (f"add-field -name a -type {kind}", failed(f"add-field -name a -type {kind}", message))
        for kind, message in [
            ("NUMBER", "Unsupported datatype: NUMBER"),
            ("json", "Unsupported datatype: JSON"),
            ("ARRAY", "Unsupported datatype: ARRAY"),
        ]
    ),
    (f"{INT} -size 4", refused("-size can only be used with FIXED_BINARY")),
    (f"{INT} -enum-values a", refused("-enum-values can only be used with ENUM")),
    (f"{INT} -precision 1", refused("-precision can only be used with TIMESTAMP")),
    (f"{INT} -default abc", refused("abc, not a valid integer number.")),
    (f"{INT} -default 1.0", refused("1.0, not a valid integer number.")),
    (f"{INT} -default 2147483648", refused("2147483648, not a valid integer number.")),
    (f"{LONG} -default x", refused("x, not a valid long number.")),
    (f"{LONG} -default 1_0", refused("1_0, not a valid long number.")),
    (f"{FLOAT} -default x", refused("x, not a valid float.")),
    (f"{DOUBLE} -default 1,5", refused("1,5, not a valid double.")),
    (
        f"{ENUM} -enum-values a,b,c -default d",
        failed(
            f"{ENUM} -enum-values a,b,c -default d",
            "Invalid enumeration value 'd', must be in values: [a, b, c]",
        ),
    ),
    (
        f'{ENUM} -enum-values "a b,c"',
        failed(
            f'{ENUM} -enum-values "a b,c"',
            'Enumeration string names may contain only alphanumeric values plus the character "_"'
            ": a b",
        ),
    ),
    (
        f"{ENUM} -enum-values a,b,a",
        failed(f"{ENUM} -enum-values a,b,a", "Duplicated enumeration value: a"),
    ),
    (
        "add-field -name 1bad -type STRING",
        failed(
            "add-field -name 1bad -type STRING",
            'Field names may contain only alphanumeric values plus the character "_": 1bad',
        ),
    ),
    (
        "add-field -name A -type STRING",
        failed("add-field -name A -type STRING", "Column already exists: A"),
    ),
    ("add-field -name x -type FIXED_BINARY -size four", refused("four")),
    (
        "add-field -name x -type TIMESTAMP -precision 10",
        failed(
            "add-field -name x -type TIMESTAMP -precision 10",
            "Timestamp precision exceeds the maximum allowed precision (9)",
        ),
    ),
]


@pytest.mark.parametrize(("line", "expected"), ADD_FIELD, ids=[line for line, _ in ADD_FIELD])
def test_add_field_refuses(shell: "Shell", line: str, expected: tuple[list[str], int]) -> None:
    execute(shell.session, "table create -name t")
    execute(shell.session, "add-field -name a -type STRING")
    shell.said.clear()
    code = execute(shell.session, line)
    said = [text.partition("\n\tUsage: ")[0] for text in shell.said]
    assert (said, code) == expected


# cli §3: what is missing; in a script a blank line ends the command
MISSING = [
    ("add-field -name a", "Missing required argument (-type) for command: add-field"),
    ("add-field -type STRING", "Missing required argument (-name) for command: add-field"),
    (
        "add-field -name a -type ENUM",
        "Missing required argument (-enum-values) for command: add-field",
    ),
    (
        "add-field -name a -type FIXED_BINARY",
        "Missing required argument (-size) for command: add-field",
    ),
    ("add-field -name", "Flag -name requires an argument"),
    ("add-map-field", "Missing required argument (-name) for command: add-map-field"),
    ("remove-field", "Missing required argument (-name) for command: remove-field"),
    ("primary-key", "Missing required argument (-field) for command: primary-key"),
    ("shard-key", "Missing required argument (-field) for command: shard-key"),
    ("set-description", "Missing required argument (-desc) for command: set-description"),
]


@pytest.mark.parametrize(("line", "message"), MISSING, ids=[line for line, _ in MISSING])
def test_what_is_missing_is_waited_for_and_then_said(
    shell: "Shell", line: str, message: str
) -> None:
    text, code = shell.run(f"table create -name t\n{line}\n\nshow")
    assert text.startswith(f"{message}\nUsage: ")
    assert code == 64


def test_an_unfinished_command_goes_on_in_the_next_line(shell: "Shell") -> None:
    script = "table create -name t\nadd-field -name a\n-type STRING;\nprimary-key -field a\nexit"
    assert shell.run(script) == ("Table t built.\n", 0)


# cli §8: flags of older releases are not known
@pytest.mark.parametrize("flag", ["-min", "-max", "-min-exclusive", "-not-required", "-nullable"])
def test_flags_of_older_releases_are_refused(shell: "Shell", flag: str) -> None:
    text, code = shell.run(f"table create -name t\nadd-field -type INTEGER -name i {flag} 1")
    assert text.startswith(f"Unknown argument: {flag}\n")
    assert code == 64


# cli §3: the whole definition is checked after every command that took effect
QUIRK = [
    (
        ["primary-key -field zzz"],
        "Field does not exist: zzz",
    ),
    (
        ["add-field -name a -type STRING -default x", "primary-key -field a"],
        "Primary key fields can not have default values",
    ),
    (
        ["add-field -name cnt2 -type INTEGER -not-nullable"],
        "Not nullable field cnt2 must have a default value",
    ),
    (
        ["add-field -name cnt2 -type INTEGER -not-nullable", "add-field -name b -type STRING"],
        "Not nullable field cnt2 must have a default value",
    ),
    (
        ["add-field -name b -type BINARY", "primary-key -field b"],
        "Field type cannot be part of a primary key: BINARY, field name: b",
    ),
]


@pytest.mark.parametrize(("lines", "message"), QUIRK)
def test_the_whole_is_checked_after_each_command(
    shell: "Shell", lines: list[str], message: str
) -> None:
    assert after(shell, *lines) == failed(lines[-1], message)
    # it took effect all the same, and everything after it complains until it is mended
    shell.said.clear()
    assert execute(shell.session, "show") == 1
    assert shell.said[1] == f"Error handling command show: {message}"
    assert execute(shell.session, "cancel") == 1
    assert shell.session.prompt == "kv-> "


def test_a_column_that_poisons_the_mode_can_be_removed(shell: "Shell") -> None:
    add = "add-field -name n -type INTEGER -not-nullable"
    assert after(shell, add, "remove-field -name n") == ([], 0)


# model §3 and cli §3: keys
KEYS = [
    (
        ["primary-key -field a", "primary-key -field a"],
        "The primary key field already exists: a",
    ),
    (["shard-key -field a", "shard-key -field A"], "The shard key field already exists: A"),
    (["exit"], "Table is missing state required for construction: primary key"),
    (
        ["primary-key -field a", "shard-key -field zz", "exit"],
        "Key field has not been created in table: zz",
    ),
    (["primary-key -field a -field zz", "exit"], "Key field has not been created in table: zz"),
    (
        ["primary-key -field a -field b", "shard-key -field b", "exit"],
        "Shard key must be a subset of the primary key",
    ),
    (
        ["primary-key -field a -field b", "shard-key -field b -field a", "exit"],
        "Shard key must be a subset of the primary key",
    ),
    (
        ["primary-key -field a", "shard-key -field a -field b", "exit"],
        "Shard key must be a subset of the primary key",
    ),
    (["remove-field -name x"], "Field does not exist: x"),
]


@pytest.mark.parametrize(("lines", "message"), KEYS)
def test_keys_are_refused_and_the_mode_goes_on(
    shell: "Shell", lines: list[str], message: str
) -> None:
    fields = ["add-field -name a -type STRING", "add-field -name b -type STRING"]
    assert after(shell, *fields, *lines) == failed(lines[-1], message)
    assert shell.session.prompt == "t-> "


def test_keys_may_be_declared_piece_by_piece(shell: "Shell") -> None:
    document = definition(
        shell,
        """
        table create -name t
        add-field -name a -type STRING
        add-field -name b -type STRING
        primary-key -field a
        primary-key -field b
        shard-key -field a
        set-description -desc "in pieces"
        """,
    )
    assert document["primaryKey"] == ["a", "b"]
    assert document["shardKey"] == ["a"]
    assert document["comment"] == "in pieces"


def test_nested_types_are_built_in_modes_of_their_own(shell: "Shell") -> None:
    for line in ["table create -name t", "add-record-field -name r -desc inner"]:
        execute(shell.session, line)
    document = definition(
        shell,
        """
        add-field -name street -type STRING -not-nullable -default none
        add-map-field -name m
        add-array-field
        add-field -type INTEGER
        exit
        exit
        """,
    )
    assert document["fields"][1] == {
        "name": "m",
        "type": "MAP",
        "collection": {"type": "ARRAY", "collection": {"type": "INTEGER"}},
        "nullable": True,
    }
    assert shell.session.prompt == "t.r-> "
    assert execute(shell.session, "exit") == 0
    document = definition(shell, "add-field -name id -type STRING\nprimary-key -field id")
    assert [field["type"] for field in document["fields"]] == ["RECORD", "STRING"]


# cli §3: inside a collection
NESTED = [
    (
        "add-array-field -name x",
        "add-field -type STRING -default a",
        refused("-default is not allowed for the type field of Array"),
    ),
    (
        "add-map-field -name x",
        "add-field -type STRING -default a",
        refused("-default is not allowed for the type field of Map"),
    ),
    (
        "add-map-field -name x",
        "add-field -type STRING -name a",
        refused("-name is not allowed for the type field of Map"),
    ),
    ("add-map-field -name x", "exit", failed("exit", "Map has no field and cannot be built")),
    (
        "add-record-field -name x",
        "exit",
        failed("exit", "Record has no fields and cannot be built"),
    ),
    (
        "add-record-field -name x",
        "add-field -type STRING -name a -not-nullable",
        failed(
            "add-field -type STRING -name a -not-nullable",
            "Not nullable field a must have a default value",
        ),
    ),
    (
        "add-record-field -name x",
        "remove-field -name a",
        failed("remove-field -name a", "Field does not exist: a"),
    ),
    (
        "add-record-field -name x",
        "show -original",
        refused("-original can only be used with table evolve"),
    ),
]


@pytest.mark.parametrize(("begin", "line", "expected"), NESTED)
def test_nested_types_are_checked(
    shell: "Shell", begin: str, line: str, expected: tuple[list[str], int]
) -> None:
    assert after(shell, begin, line) == expected


def test_a_collection_has_one_element(shell: "Shell") -> None:
    lines = ("add-array-field -name x", "add-field -type STRING", "add-field -type LONG")
    assert after(shell, *lines) == failed(lines[-1], "Field for collection is already defined")


def test_keys_and_plans_are_not_understood_inside(shell: "Shell") -> None:
    said, code = after(shell, "add-record-field -name r", "primary-key -field a")
    assert said[0].startswith("Could not find  subcommand: primary-key\nUsage: add-array-field |")
    assert code == 64
    execute(shell.session, "cancel")
    shell.said.clear()
    assert execute(shell.session, "plan add-table -name t") == 64
    assert shell.said[0].startswith("Could not find  subcommand: plan\n")
    shell.said.clear()
    assert execute(shell.session, "help") == 0
    assert "set-description" in shell.said[0]


def test_cancel_leaves_one_level(shell: "Shell") -> None:
    after(shell, "add-map-field -name m", "cancel")
    assert shell.session.prompt == "t-> "
    execute(shell.session, "cancel")
    assert shell.session.staged == {}


def test_a_child_table_has_no_shard_key_and_no_columns_of_its_parents_key(shell: "Shell") -> None:
    shell.products()  # model §10
    execute(shell.session, "table create -name myProducts.kid")
    shell.said.clear()
    execute(shell.session, "shard-key -field a")
    execute(shell.session, "add-field -name productname -type STRING")
    execute(shell.session, "exit")
    assert shell.said == [
        "Error handling command shard-key -field a: Child tables cannot have a shard key.",
        (
            "Error handling command add-field -name productname -type STRING: Cannot add field, it "
            "already exists in primary key fields of its parent table: productname"
        ),
        "Error handling command exit: Child table needs a primary key component",
    ]


def test_the_end_of_a_script_discards_what_was_begun(shell: "Shell") -> None:  # cli §7
    assert shell.run("table create -name t\nadd-field -name a -type STRING") == ("", 0)
    assert shell.session.prompt == "kv-> "
    assert shell.run("table list") == ("No tables available.\n", 0)


def test_evolve_adds_and_removes_columns(shell: "Shell") -> None:
    shell.rows()
    script = """
    table evolve -name myProducts
    add-field -name note -type STRING -default none
    remove-field -name weight
    exit
    """
    assert shell.run(script) == ("Table myProducts built.\n", 0)
    assert shell.run("plan evolve-table -name myProducts -wait")[1] == 0
    text, _ = shell.run("get table -name myProducts -field productType -value tie")
    assert '{"productType":"tie","number":1,"inventoryCount":12,"note":"none"}' in text


# cli §4, model §12: what an evolution cannot do
EVOLVE = [
    ("remove-field -name productType", "Cannot remove a primary key field: productType"),
    ("remove-field -name nosuch", "Field does not exist: nosuch"),
    ("add-field -name weight -type LONG", "Cannot add field, weight, it already exists"),
    (
        "add-field -name n -type LONG -not-nullable",
        "Not nullable field n must have a default value",
    ),
]


@pytest.mark.parametrize(("line", "message"), EVOLVE)
def test_evolve_refuses_at_once(shell: "Shell", line: str, message: str) -> None:
    shell.rows()
    execute(shell.session, "table evolve -name myProducts")
    shell.said.clear()
    assert execute(shell.session, line) == 1
    assert shell.said == failed(line, message)[0]


def test_evolve_has_no_keys_and_shows_what_it_began_with(shell: "Shell") -> None:
    shell.rows()
    execute(shell.session, "table evolve -name myProducts")
    assert execute(shell.session, "primary-key -field a") == 64
    execute(shell.session, "remove-field -name weight")
    shell.said.clear()
    execute(shell.session, "show")
    execute(shell.session, "show -original")
    now, before = (json.loads(text)["fields"] for text in shell.said)
    assert len(before) == len(now) + 1
