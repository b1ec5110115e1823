"""`widerow doctor` says whether each search index is what its table says (search §11.5)."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.changes import delete, put
from tests.unit.engine.search.tables import (
    engine_of,
    make_index,
    make_table,
    rows,
    search,
    stored,
    write,
)

from widerow.cli.backup import backup_store, restore_store
from widerow.cli.doctor import examine
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.search import comparison
from widerow.search.documents import document_of
from widerow.search.fields import SearchFields
from widerow.search.index import DocumentChange, DocumentIndex
from widerow.server.search.files import IndexDirectory, SearchDirectory
from widerow.server.search.host import ServerSearchHost
from widerow.storage.opener import open_store
from widerow.system import SystemClock, SystemEntropy

ROWS = 12


@pytest.fixture(autouse=True)
def no_other_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable of recorded runs is not a setting."""
    monkeypatch.delenv("WIDEROW_EVIDENCE", raising=False)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store with a searched table, whose index was written down before its last changes."""
    place = tmp_path / "data"
    with open_store(str(place)) as store:
        host = ServerSearchHost(SearchDirectory(place), 0)
        engine = engine_of(store, SystemClock(), SystemEntropy(), host)
        make_table(engine)
        make_index(engine)
        write(engine, *[put("t", {"k": number}, {"n": number, "s": "a"}) for number in range(ROWS)])
        kept_up(engine)
        engine.search.write_down(all_of_them=True)
        write(engine, put("t", {"k": 3}, {"n": 30}), delete("t", {"k": 4}))
    return place


def kept_up(engine: TablestoreEngine) -> None:
    while engine.search.work():
        pass


def report(place: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """The exit code, and what `--json` says of the index."""
    code = examine({"path": str(place), "as_json": True, "digest": False})
    document = json.loads(capsys.readouterr().out)
    assert document["findings"] == []
    assert document["clean"] is (code == 0)
    (index,) = document["search"]
    return code, index


def plant(place: Path, change: Callable[[SearchFields], list[DocumentChange]]) -> None:
    """Write another state of the index than its table has."""
    files = index_files(place)
    with open_store(str(place)) as store:
        engine = engine_of(store, SystemClock(), SystemEntropy())
        fields = SearchFields(engine.describe_table("i", "t").search[0].schema)
    opened = DocumentIndex.open(fields, files)
    assert opened is not None
    index, state = opened
    index.apply(change(fields))
    index.checkpoint(files, state)


def directory_of(place: Path) -> Path:
    (found,) = (place / "search").iterdir()
    return found


def index_files(place: Path) -> IndexDirectory:
    return IndexDirectory(directory_of(place))


def key(number: int) -> bytes:
    return (number + 2**63).to_bytes(8, "big")


def test_an_index_that_is_behind_its_table_is_right(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, index = report(place, capsys)
    assert (code, index["rows"], index["built"]) == (0, ROWS - 1, True)
    assert examine({"path": str(place), "as_json": False, "digest": False}) == 0
    assert f"search index x of i/t: {ROWS - 1} rows, as the table has them" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize("rows_at_once", [1, 3, 50_000])
def test_planted_differences_are_found(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    rows_at_once: int,
) -> None:
    """Missing, too many, otherwise: each by its key, with what to do about it."""
    monkeypatch.setattr(comparison, "SEARCH_COMPARED_ROWS", rows_at_once)

    def change(fields: SearchFields) -> list[DocumentChange]:
        other = document_of(fields, (("k", 7),), {"n": 700, "s": "a"})
        return [
            DocumentChange(key(0), None, 0),
            DocumentChange(key(5), None, 0),
            DocumentChange(key(7), other, 1),
            DocumentChange(key(99), other, 1),
        ]

    plant(place, change)
    code, index = report(place, capsys)
    assert code == 1
    assert index["missing"] == {"count": 2, "keys": [[0], [5]]}
    assert index["extra"] == {"count": 1, "keys": [[99]]}
    assert index["stale"] == {"count": 1, "keys": [[7]]}
    files = directory_of(place)
    assert (
        index["advice"] == f"remove {files}; the next start builds the index again from its table"
    )
    shutil.rmtree(files)
    assert examine({"path": str(place), "as_json": False, "digest": False}) == 0
    assert "the next start builds it" in capsys.readouterr().out


def test_the_store_of_an_index_that_differs_is_served(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table is the truth: there is no damage that the next start must refuse."""
    plant(place, lambda _: [DocumentChange(key(0), None, 0)])
    assert examine({"path": str(place), "as_json": False, "digest": False}) == 1
    said = capsys.readouterr().out
    assert "rows of the table that it lacks: 1, [0]\n" in said
    assert "the next start builds the index again" in said
    with open_store(str(place)):
        pass


def test_damaged_files_are_said(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = index_files(place)
    name = next(each for each in files.names() if each.startswith("segment-"))
    content = bytearray(files.map(name))
    content[64] ^= 1
    files.write(name, [bytes(content)])
    code, index = report(place, capsys)
    assert code == 1
    assert name in index["damage"]


def test_without_files_there_is_nothing_to_compare(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(place / "search")
    code, index = report(place, capsys)
    assert (code, index["built"]) == (0, False)


def test_what_is_restored_is_built(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A backup has the table and the definition of its index; the index follows from them."""
    flags = {"path": str(place)}
    assert backup_store(tmp_path / "backup", {**flags, "as_json": True, "records": False}) == 0
    restored = tmp_path / "restored"
    assert (
        restore_store(tmp_path / "backup", {"path": str(restored), "check": False, "as_json": True})
        == 0
    )
    capsys.readouterr()
    assert not (restored / "search").exists()
    with open_store(str(restored)) as store:
        host = ServerSearchHost(SearchDirectory(restored), 0)
        engine = engine_of(store, SystemClock(), SystemEntropy(), host)
        assert rows(search(engine)) == stored(engine)
        assert search(engine).total == ROWS - 1
