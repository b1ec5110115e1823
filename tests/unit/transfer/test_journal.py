"""The notes of an import: what a kill or a power cut leaves is read as less, never as more."""

from pathlib import Path

import pytest

from widerow.transfer.failures import TransferFailed
from widerow.transfer.journal import Journal, Rejects

RUN = {"size": 7, "versions_ms": 1}


def test_a_note_is_there_when_the_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "f.progress"
    with Journal(path, RUN) as journal:
        assert not journal.resumed
        journal.note((0, 3), 200)
        journal.note((1, 0), 50)
        journal.note_window(0)
    with Journal(path, {"size": 7, "versions_ms": 2}) as journal:
        assert journal.resumed
        assert journal.run["versions_ms"] == 1
        assert journal.rows == 250
        assert journal.has((0, 9))
        assert journal.has_window(0)
        assert journal.has((1, 0))
        assert not journal.has((1, 1))
        journal.forget()
    assert not path.exists()


def test_any_beginning_of_the_file_is_a_run_that_did_less(tmp_path: Path) -> None:
    path = tmp_path / "f.progress"
    with Journal(path, RUN) as journal:
        for number in range(3):
            journal.note((0, number), 10)
    data = path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with Journal(path, RUN) as journal:
            whole = data[:size].count(b"\n")
            done = [number for number in range(3) if journal.has((0, number))]
            assert done == list(range(max(0, whole - 1)))
            journal.note((5, 5), 1)
        with Journal(path, RUN) as journal:
            assert journal.has((5, 5))


def test_two_runs_do_not_share_notes(tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "f", RUN),
        pytest.raises(TransferFailed, match="another import works"),
        Journal(tmp_path / "f", RUN),
    ):
        pass  # the second is refused


def test_notes_of_another_run_are_refused(tmp_path: Path) -> None:
    with Journal(tmp_path / "f", RUN):
        pass
    with pytest.raises(TransferFailed, match="another size"):
        Journal(tmp_path / "f", {"size": 8, "versions_ms": 1})


def test_a_row_is_put_aside_once(tmp_path: Path) -> None:
    path = tmp_path / "r"
    first = Rejects(path, 2, resumed=False)
    first.add(4, "why", {"a": 1})
    path.write_bytes(path.read_bytes() + b'{"line": 5, "rea')  # killed while it wrote
    second = Rejects(path, 2, resumed=True)
    assert second.places == {4}
    second.add(4, "why", {"a": 1})
    second.add(5, "why", {"a": 1})
    assert path.read_bytes().count(b"\n") == 2
    with pytest.raises(TransferFailed, match="More than 2 rows"):
        second.add(6, "why", {})


def test_the_first_row_of_the_file_that_was_put_aside_is_known(tmp_path: Path) -> None:
    rejects = Rejects(tmp_path / "r", 9, resumed=False)
    assert rejects.first == ""
    rejects.add(7, "late", None)
    rejects.add(3, "early", None)
    assert rejects.first == "3: early"
    assert Rejects(tmp_path / "r", 9, resumed=True).first == "3: early"
