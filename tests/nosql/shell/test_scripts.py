"""The scripts of the key design page, one line a command, and what they print (cli §1)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from widerow import nosql

if TYPE_CHECKING:
    from tests.nosql.shell.conftest import Shell

EMPTY = "table create -name t{0}\nadd-field -type LONG -name a\nprimary-key -field a\nexit\n"


def test_the_first_script_prints_exactly_this(shell: "Shell", scripts: Path) -> None:
    for number in range(17):  # so that the next plan is the 18th
        shell.run(EMPTY.format(number) + f"plan add-table -name t{number} -noexecute")
    assert shell.run(f"load -file '{scripts}/products.kv'") == (
        (
            "Table myProducts built.\n"
            "Executed plan 18, waiting for completion...\n"
            "Plan 18 ended successfully\n"
            "\n"
        ),
        0,
    )
    definition = shell.store.table("myProducts").definition
    assert definition.primary_key == definition.shard_key == ("productName",)
    assert definition.fields[3].type.symbols == ("small", "medium", "blue")


def test_a_key_of_three_columns(shell: "Shell", scripts: Path) -> None:
    assert shell.run(f"load -file '{scripts}/products-by-class.kv'")[1] == 0
    definition = shell.store.table("myProducts").definition
    assert definition.primary_key == ("productName", "productType", "productClass")
    row = '{"productName":"a","productType":"b","productClass":"c"}'
    assert shell.run(f"put table -name myProducts -json '{row}'")[1] == 0
    get = "get table -name myProducts -keyonly"
    valid = (
        "-field productName -value a",
        "-field productName -value a -field productType -value b",
    )
    for flags in valid:
        assert shell.run(f"{get} {flags}") == (f"\n{row}\n\n1 row returned\n", 0)
    # a partial key begins with the first column and leaves no gap
    line = f"{get} -field productType -value b -field productClass -value c"
    assert shell.run(line) == (
        f"Error handling command {line}: A required field is missing from the Primary Key\n",
        1,
    )


def test_a_shard_key_of_two_columns(shell: "Shell", scripts: Path) -> None:
    assert shell.run(f"load -file '{scripts}/products-by-shard.kv'")[1] == 0
    definition = shell.store.table("myProducts").definition
    assert definition.shard_key == ("productType", "productName")


def test_a_shard_key_that_is_no_prefix_is_refused(shell: "Shell", scripts: Path) -> None:
    assert shell.run(f"load -file '{scripts}/refused-shard-key.kv'") == (
        (
            "Error handling command exit: Shard key must be a subset of the primary key\n"
            'Script error in line "exit", ending execution\n'
        ),
        1,
    )
    assert shell.store.tables() == []
    assert shell.session.prompt == "kv-> "


KEY_TYPES = ["INTEGER", "LONG", "FLOAT", "DOUBLE", "STRING", "ENUM -enum-values a,b"]
OTHER_TYPES = ["BINARY", "FIXED_BINARY -size 4"]


@pytest.mark.parametrize("kind", KEY_TYPES)
def test_types_that_can_be_keys(shell: "Shell", kind: str) -> None:
    build = f"table create -name t\nadd-field -name k -type {kind}\nprimary-key -field k\nexit"
    assert shell.run(f"{build}\nplan add-table -name t")[1] == 0


@pytest.mark.parametrize("kind", OTHER_TYPES)
def test_types_that_cannot_be_keys(shell: "Shell", kind: str) -> None:
    build = f"table create -name t\nadd-field -name k -type {kind}\nprimary-key -field k"
    text, code = shell.run(build)
    assert f"Field type cannot be part of a primary key: {kind.split(maxsplit=1)[0]}" in text
    assert code == 1


def test_a_primary_key_is_never_changed(shell: "Shell") -> None:
    shell.products()
    text, code = shell.run("table evolve -name myProducts\nprimary-key -field color")
    assert text.startswith("Could not find  subcommand: primary-key\n")
    assert code == 64
    remove = "remove-field -name productClass"
    assert shell.run(f"table evolve -name myProducts\n{remove}") == (
        f"Error handling command {remove}: Cannot remove a primary key field: productClass\n",
        1,
    )


def test_rows_of_one_shard_key_are_read_and_deleted_at_one_stroke(
    shell: "Shell", scripts: Path
) -> None:
    shell.run(f"load -file '{scripts}/products-by-shard.kv'")
    table = shell.store.table("myProducts")
    key = {"productType": "hat", "productName": "bowler"}
    table.put_many(key | {"productClass": each} for each in ("c", "a", "b"))
    table.put({"productType": "hat", "productName": "brim", "productClass": "a"})
    assert [row["productClass"] for row in table.multi_get(key)] == ["a", "b", "c"]
    with pytest.raises(nosql.InvalidRequest, match="without a complete major path"):
        table.multi_get({"productType": "hat"})
    assert table.multi_delete(key) == 3
    assert len(list(table.table_iterator())) == 1


ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def test_texts_of_files_are_stored_as_they_are(shell: "Shell", tmp_path: Path) -> None:
    """By `load -file` and by `put table -file`: a line feed alone ends a line."""
    assert shell.run(EMPTY.replace("LONG", "STRING").format(0) + "plan add-table -name t0")[1] == 0
    script, rows = tmp_path / "texts.kv", tmp_path / "rows.json"
    texts = [f"one{end}two" for end in ENDS]
    put = "put table -name t0\r\nadd-value -field a -value '{}'\r\nexit\r\n"
    script.write_bytes("".join(put.format(text) for text in texts).encode())
    assert shell.run(f"load -file '{script}'")[1] == 0
    # Control characters are escaped in JSON, the others stand there as they are.
    raw = [json.dumps({"a": f"{text} three"}, ensure_ascii=False) for text in texts]
    rows.write_bytes("".join(f"{line}\n" for line in raw).encode())
    assert shell.run(f"put table -name t0 -file '{rows}'")[1] == 0
    stored = [row["a"] for row in shell.store.table("t0").table_iterator({})]
    assert stored == sorted(texts + [f"{text} three" for text in texts], key=str.encode)
