"""GET_INDEXES tells the paths of an index as they were written (nosql-wire §5.4, corrections A)."""

from pathlib import Path

import pytest

from widerow import nosql
from widerow.wire.nosql.envelope import Frame
from widerow.wire.nosql.modes import CLOUD
from widerow.wire.nosql.operations.tables import get_indexes

TABLE = (
    "CREATE TABLE dd (id INTEGER, i INTEGER, s STRING, r RECORD(x INTEGER), m MAP(LONG), j JSON, "
    "PRIMARY KEY(id))"
)
PATHS = [
    ("I", "I"),
    ("R.X, i", "R.X i"),
    ("lower(S)", "lower#S"),
    ("substring(S, 0, 3)", "substring#S"),
    ("M.keys(), M.VALUES()", "M.keys() M.values()"),
    ("J.a.B AS STRING", "J.a.B"),
    ("expiration_time()", "expiration_time#"),
]


@pytest.mark.parametrize(("written", "told"), PATHS)
def test_paths_are_told_as_they_were_written(tmp_path: Path, written: str, told: str) -> None:
    with nosql.open(tmp_path) as store:
        store.run_statement(TABLE)
        store.run_statement(f"CREATE INDEX IX ON DD({written})")
    with nosql.open(tmp_path) as store:
        asked = Frame(4, {"n": "dd"}, {}, CLOUD)
        (index,) = get_indexes(store.engine, "", asked)["ix"]
        assert [index["m"], *(each["pt"] for each in index["f"])] == ["IX", *told.split()]


def test_names_of_paths_are_compared_without_case(tmp_path: Path) -> None:
    with nosql.open(tmp_path) as store:
        store.run_statement(TABLE)
        store.run_statement("CREATE INDEX IX ON dd(I)")
        table = store.table("dd")
        table.put({"id": 1, "i": 5})
        assert [row["id"] for row in table.index_iterator("ix")] == [1]
        assert '"fields" : ["i"]' in store.run_statement("DESCRIBE AS JSON INDEX ix ON dd").text
        for refused in ("CREATE INDEX two ON dd(i, I)", "ALTER TABLE dd (DROP i)"):
            with pytest.raises(nosql.InvalidRequest):
                store.run_statement(refused)
