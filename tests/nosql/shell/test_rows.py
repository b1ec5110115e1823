"""`put`, `get`, `delete`, `aggregate table` (cli §6)."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

HAT1 = '{"productType":"hat","number":1,"inventoryCount":5,"weight":null}'
HAT2 = '{"productType":"hat","number":2,"inventoryCount":8,"weight":null}'
TIE1 = '{"productType":"tie","number":1,"inventoryCount":12,"weight":null}'
PART = '{"productType":"hat","number":1,"part":"brim"}'
PUT = "put table -name myProducts"
GET = "get table -name myProducts"
DELETE = "delete table -name myProducts"
AGGREGATE = "aggregate table -name myProducts"
ONE = "-field productType -value hat -field number -value 1"


@pytest.fixture(autouse=True)
def filled(shell: "Shell") -> None:
    shell.rows()


# cli §6: put and its conditions
PUTS = [
    ("", '{"productType":"cap","number":1}', "Operation successful, row inserted.", 0),
    ("", '{"productType":"hat","number":1}', "Operation successful, row updated.", 0),
    ("-if-absent", '{"productType":"cap","number":1}', "Operation successful, row inserted.", 0),
    (
        "-if-absent",
        '{"number":1,"productType":"hat"}',
        (
            "Operation failed, A record was already present with the given primary key: "
            '{"productType":"hat","number":1}'
        ),
        1,
    ),
    ("-if-present", '{"productType":"hat","number":1}', "Operation successful, row updated.", 0),
    (
        "-if-present",
        '{"productType":"cap","number":1}',
        (
            "Operation failed, No existing record was present with the given primary key: "
            '{"productType":"cap","number":1}'
        ),
        1,
    ),
    ("-update", '{"productType":"hat","number":1}', "Operation successful, row updated.", 0),
    (
        "-update",
        '{"productType":"cap","number":1}',
        (
            "Operation failed, No existing record was present with the given primary key: "
            '{"productType":"cap","number":1}'
        ),
        1,
    ),
]


@pytest.mark.parametrize(("flag", "row", "text", "code"), PUTS)
def test_put_says_what_happened(shell: "Shell", flag: str, row: str, text: str, code: int) -> None:
    assert shell.run(f"{PUT} {flag} -json '{row}'") == (f"{text}\n", code)


def test_put_replaces_and_update_merges(shell: "Shell") -> None:
    shell.run(f"""{PUT} -update -json '{{"productType":"hat","number":1,"weight":1.5}}'""")
    assert shell.run(f"{GET} {ONE}")[0] == HAT1.replace("null", "1.5") + "\n"
    shell.run(f"""{PUT} -json '{{"productType":"hat","number":1,"weight":2.5}}'""")
    assert shell.run(f"{GET} {ONE}")[0] == (
        '{"productType":"hat","number":1,"inventoryCount":null,"weight":2.5}\n'
    )


# model §5 and cli §6: what is wrong with a row
BAD_ROWS = [
    ('{"productType":"hat"}', "", "Missing primary key field: number"),
    (
        '{"productType":"hat","number":1,"zz":1}',
        "-exact",
        (
            'Unexpected field "zz" in JSON input. There is no corresponding field in record type '
            "definition"
        ),
    ),
    (
        '{"productType":"hat"}',
        "-exact",
        "Not enough fields for value in JSON input.Found 1, expected 4",
    ),
    (
        '{"productType":"hat","number":"x"}',
        "",
        "Illegal value for numeric field number. Expected INT, is VALUE_STRING",
    ),
    ('{"productType":1,"number":1}', "", "Illegal value for field productType: 1. Expected STRING"),
]


@pytest.mark.parametrize(("row", "flag", "message"), BAD_ROWS)
def test_put_refuses_rows(shell: "Shell", row: str, flag: str, message: str) -> None:
    line = f"{PUT} -json '{row}' {flag}".strip()
    assert shell.run(line) == (f"Error handling command {line}: {message}\n", 1)


def test_the_rows_of_a_file(shell: "Shell", tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text('{"productType":"cap","number":1}\n\n{"productType":"hat","number":2}\n')
    assert shell.run(f"{PUT} -file {file}")[0] == "Loaded 2 rows to myProducts\n"
    assert shell.run(f"{PUT} -file {file} -if-absent")[0] == "Inserted 0 rows to myProducts\n"
    assert shell.run(f"{PUT} -file {file} -if-present")[0] == "Updated 2 rows to myProducts\n"
    file.write_text('{"productType":"scarf","number":1}\n')
    assert shell.run(f"{PUT} -file {file} -if-absent")[0] == "Inserted 1 row to myProducts\n"
    file.write_text('{"productType":"scarf","number":2}\n{"productType":7}\n')
    line = f"{PUT} -file {file}"
    assert shell.run(line) == (
        (
            f"Error handling command {line}: line 2: "
            "Illegal value for field productType: 7. Expected STRING. "
            "Loaded 1 row to myProducts from the lines before\n"
        ),
        1,
    )
    assert shell.run(f"{PUT} -file {tmp_path}/none") == (
        f"Failed to load file: {tmp_path}/none\n",
        65,
    )


def test_the_rows_before_a_faulty_line_are_written(shell: "Shell", tmp_path: Path) -> None:
    """Those of full batches of 1000 rows and those after them."""
    file = tmp_path / "rows.json"
    good = [f'{{"productType":"many","number":{number}}}' for number in range(1002)]
    file.write_text("\n".join((*good, '{"productType":"many","number":"x"}', good[0])))
    line = f"{PUT} -file {file}"
    said, code = shell.run(line)
    assert (said, code) == (
        (
            f"Error handling command {line}: line 1003: "
            "Illegal value for numeric field number. Expected INT, is VALUE_STRING. "
            "Loaded 1002 rows to myProducts from the lines before\n"
        ),
        1,
    )
    assert shell.run("aggregate table -name myProducts -count")[0] == "Row count: 1005\n"


def test_the_rows_before_bytes_that_are_no_text_are_written(shell: "Shell", tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    first = '{"productType":"many","number":1}\n' * 1000  # more than Python decodes at a time
    file.write_bytes(first.encode() + b'{"productType":"\xff","number":1}\n')
    said, code = shell.run(f"{PUT} -file {file}")
    assert code == 65
    assert said.startswith(f"Failed to load file: {file}: the text after line ")
    assert shell.run("aggregate table -name myProducts -count")[0] == "Row count: 4\n"


def test_get_one_row(shell: "Shell") -> None:
    assert shell.run(f"{GET} {ONE}") == (f"{HAT1}\n", 0)
    assert shell.run(f"""{GET} -json '{{"productType":"hat","number":1}}'""") == (f"{HAT1}\n", 0)
    assert shell.run(f"{GET} {ONE} -keyonly")[0] == '{"productType":"hat","number":1}\n'
    assert shell.run(f"{GET} {ONE} -pretty")[0] == (
        '{\n  "productType" : "hat",\n  "number" : 1,\n'
        '  "inventoryCount" : 5,\n  "weight" : null\n}\n'
    )
    missing = f"{GET} -field number -value 9 -field producttype -value nosuch"
    assert shell.run(missing) == (
        'Key not found in store: {"productType":"nosuch","number":9}\n',
        0,
    )


# cli §6: several rows; bounds are inclusive
GETS = [
    ("", [HAT1, HAT2, TIE1]),
    ("-field productType -value hat", [HAT1, HAT2]),
    ("-field productType -value tie", [TIE1]),
    ("-field productType -value none", []),
    ("-field productType -value hat -field number -start 2", [HAT2]),
    ("-field productType -value hat -field number -start 1 -end 2", [HAT1, HAT2]),
    ("-field productType -value hat -field number -end 1", [HAT1]),
    ("-field productType -start i", [TIE1]),
    ("-field productType -value hat -child myProducts.parts", [HAT1, PART, HAT2]),
]


@pytest.mark.parametrize(("flags", "rows"), GETS)
def test_get_several_rows(shell: "Shell", flags: str, rows: list[str]) -> None:
    assert shell.run(f"put table -name myProducts.parts -json '{PART}'")[1] == 0
    text, code = shell.run(f"{GET} {flags}")
    noun = "row" if len(rows) < 2 else "rows"
    body = "".join(f"{row}\n" for row in rows) + "\n" if rows else ""
    assert (text, code) == (f"\n{body}{len(rows)} {noun} returned\n", 0)


def test_get_with_the_parents_of_a_child(shell: "Shell") -> None:
    shell.run(f"put table -name myProducts.parts -json '{PART}'")
    text, _ = shell.run("get table -name myProducts.parts -ancestor myProducts")
    assert text == f"\n{HAT1}\n{PART}\n\n2 rows returned\n"


def test_get_into_a_file(shell: "Shell", tmp_path: Path) -> None:
    file = tmp_path / "out"
    assert shell.run(f"{GET} -file {file}")[0] == (
        f"3 rows returned from myProducts table\nWrote result to file {file}\n"
    )
    assert file.read_text() == f"{HAT1}\n{HAT2}\n{TIE1}\n"
    line = f"{GET} -file {tmp_path}/none/out"
    text, code = shell.run(line)
    assert text.startswith(f"Error handling command {line}: No such file or directory: ")
    assert code == 1


def test_the_sizes_of_rows(shell: "Shell") -> None:
    text, code = shell.run(f"{GET} -report-size")
    lines = text.splitlines()
    assert lines[:2] == ["Number of records: 3", "Primary Key sizes:"]
    assert [line.partition(":")[0] for line in lines[2:]] == [
        "\tMinimum size",
        "\tMaximum size",
        "\tAverage size",
        "Data sizes",
        "\tMinimum size",
        "\tMaximum size",
        "\tAverage size",
    ]
    assert code == 0


# cli §6: keys that are none
BAD_KEYS = [
    (f"{GET} -field nosuch -value 1", "Not a valid primary key field: nosuch", 1),
    (f"{GET} -field weight -value 1", "Not a valid primary key field: weight", 1),
    (f"{GET} -field number -value abc", "Invalid integer value: abc", 1),
    (
        f"{GET} -field number -value 1",
        "A required field is missing from the Primary Key",
        1,
    ),
    ("get table -name nosuch", "Table not found: nosuch", 1),
    (f"{GET} -child nosuch", "Table not found: nosuch", 1),
    (
        f"{GET} {ONE} -field number -start 1",
        "Cannot specify a FieldRange with a complete primary key",
        1,
    ),
    (
        f"{GET} -field productType -start b -end a",
        "FieldRange: start value must be less than the end value",
        1,
    ),
    (
        "get table -name myProducts.parts -ancestor myProducts.parts",
        "Target table must not appear in included tables list",
        1,
    ),
]


@pytest.mark.parametrize(("line", "message", "code"), BAD_KEYS)
def test_keys_are_refused(shell: "Shell", line: str, message: str, code: int) -> None:
    assert shell.run(line) == (f"Error handling command {line}: {message}\n", code)


# flags that do not go together, and flags that miss another
BAD_FLAGS = [
    (f"{GET} -value 1;", "Missing required argument (-field) for command: table", 64),
    (
        f"{GET} -field number;",
        "Missing required argument (-value | -start | -end) for command: table",
        64,
    ),
    (
        f"{GET} -field number -value 1 -start 2",
        "Invalid argument: -value and -start or -end cannot be used for one field",
        65,
    ),
    (
        f"{GET} -field number -value 1 -json {{}}",
        "Invalid argument: -json and -field cannot be used together",
        65,
    ),
    (
        f"{DELETE};",
        "Missing required argument (-field | -json | -delete-all) for command: table",
        64,
    ),
    (
        f"{DELETE} {ONE} -delete-all",
        "Invalid argument: -delete-all cannot be used with -field or -json",
        65,
    ),
    (
        f"{AGGREGATE};",
        "Missing required argument (-count | -sum | -avg) for command: table",
        64,
    ),
    (f"{PUT} -exact", "Invalid argument: -exact can only be used with -json or -file", 65),
    (
        f"{PUT} -if-absent -if-present",
        "Invalid argument: -if-absent and -if-present cannot be used together",
        65,
    ),
]


@pytest.mark.parametrize(("line", "message", "code"), BAD_FLAGS)
def test_flags_are_refused(shell: "Shell", line: str, message: str, code: int) -> None:
    text, found = shell.run(line)
    assert text.splitlines()[0] == message
    assert found == code


# cli §6: delete; less than the shard key is allowed
DELETES = [
    (ONE, "1 row deleted.", 2),
    (f"{ONE.replace('1', '7')}", "0 row deleted.", 3),
    ("-field productType -value hat", "2 rows deleted.", 1),
    ("-field productType -value hat -field number -start 2", "1 row deleted.", 2),
    ("-field productType -start a -end i", "2 rows deleted.", 1),
    ("-delete-all", "3 rows deleted.", 0),
    ('-json \'{"productType":"tie"}\'', "1 row deleted.", 2),
]


@pytest.mark.parametrize(("flags", "text", "left"), DELETES)
def test_delete_says_how_many(shell: "Shell", flags: str, text: str, left: int) -> None:
    assert shell.run(f"{DELETE} {flags}") == (f"{text}\n", 0)
    assert shell.run(f"{AGGREGATE} -count") == (f"Row count: {left}\n", 0)


def test_children_are_deleted_where_they_are_named(shell: "Shell") -> None:
    shell.run(f"put table -name myProducts.parts -json '{PART}'")
    assert shell.run(f"{DELETE} -delete-all")[0] == "3 rows deleted.\n"
    assert shell.run("aggregate table -name myProducts.parts -count")[0] == "Row count: 1\n"
    assert shell.run(f"{DELETE} -delete-all -child myProducts.parts")[0] == "1 row deleted.\n"


# cli §6: aggregate
SUMS = [
    ("-count", "Row count: 3"),
    ("-sum inventoryCount", "Sum:\n\tinventoryCount(3 values): 25"),
    ("-avg inventoryCount", "Average:\n\tinventoryCount(3 values): 8.33"),
    (
        "-count -sum INVENTORYCOUNT,productType -field productType -value hat",
        "Row count: 2\nSum:\n\tinventoryCount(2 values): 13\n\tproductType: No numerical value",
    ),
    (
        "-avg inventoryCount -field productType -value tie",
        "Average:\n\tinventoryCount(1 value): 12",
    ),
    ("-sum weight", "Sum:\n\tweight: No numerical value"),
    ("-count -field productType -start tie", "Row count: 1"),
]


@pytest.mark.parametrize(("flags", "text"), SUMS)
def test_aggregate(shell: "Shell", flags: str, text: str) -> None:
    assert shell.run(f"{AGGREGATE} {flags}") == (f"{text}\n", 0)


def test_a_sum_that_is_too_large(shell: "Shell") -> None:
    script = """
    table create -name big
    add-field -type LONG -name n
    add-field -type LONG -name v
    add-field -type DOUBLE -name d
    primary-key -field n
    exit
    plan add-table -name big
    put table -name big -json '{"n":1,"v":9223372036854775807,"d":1e308}'
    put table -name big -json '{"n":2,"v":1,"d":1e308}'
    """
    assert shell.run(script)[1] == 0
    assert shell.run("aggregate table -name big -sum v,d")[0] == (
        "Sum:\n\tv: numeric overflow\n\td: numeric overflow\n"
    )
    line = "aggregate table -name big -sum nosuch"
    assert shell.run(line) == (
        f"Error handling command {line}: There is no field with name nosuch\n",
        1,
    )


@pytest.mark.parametrize("how", ["", "-if-absent", "-update", "-exact"])
def test_null_for_a_field_that_takes_none_is_refused(shell: "Shell", how: str) -> None:
    """cli §6: NOT NULL."""
    made, code = shell.run(
        "table create -name ev1\n"
        "add-field -type INTEGER -name a\n"
        "add-field -type STRING -name extra -not-nullable -default none\n"
        "primary-key -field a\n"
        "exit\n"
        "plan add-table -name ev1\n"
        """put table -name ev1 -json '{"a":1}'"""
    )
    assert code == 0, made
    said, code = shell.run(f"""put table -name ev1 {how} -json '{{"a":1,"extra":null}}'""")
    assert code == 1
    assert "The field can not be null: extra" in said
    got, _ = shell.run("get table -name ev1 -field a -value 1")
    assert got == '{"a":1,"extra":"none"}\n'
