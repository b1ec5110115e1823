"""What the ledger of a crash run calls lost, resurrected, torn and indeterminate."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tools.crash.ledger import COUNTER, Change, Key, Ledger, content

from widerow.model.values import Value

KEY: Key = ("c/0", 7)
PUT = Change("put", KEY, ("a", "b"))
Found = Mapping[str, tuple[int, Value]]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger("c", tmp_path / "c.ledger")
    yield made
    made.close()


def row(version: int = 1, **stamps: int) -> dict[str, tuple[int, Value]]:
    return {name: (version, content("c", stamp, KEY, name)) for name, stamp in stamps.items()}


def kinds(ledger: Ledger, found: Found | None, key: Key = KEY) -> list[str]:
    return [each.kind for each in ledger.verify({} if found is None else {key: found})]


def acknowledged(ledger: Ledger, change: Change) -> None:
    sequence = ledger.next()
    ledger.intend(sequence, [change])
    ledger.acknowledge(sequence)


def left_open(ledger: Ledger, change: Change) -> None:
    sequence = ledger.next()
    ledger.intend(sequence, [change])
    ledger.leave_open(sequence)


def test_what_was_acknowledged_must_be_found(ledger: Ledger) -> None:
    acknowledged(ledger, PUT)
    assert kinds(ledger, row(a=1, b=1)) == []
    assert kinds(ledger, None) == ["lost"]


def test_the_state_before_an_acknowledged_change_is_a_loss(ledger: Ledger) -> None:
    acknowledged(ledger, PUT)
    acknowledged(ledger, Change("update", KEY, ("b",)))
    assert kinds(ledger, row(a=1, b=1)) == ["lost"]


def test_what_is_open_may_have_happened_or_not_and_is_settled_by_looking(ledger: Ledger) -> None:
    acknowledged(ledger, PUT)
    left_open(ledger, PUT)
    assert kinds(ledger, row(a=2, b=2)) == []
    assert kinds(ledger, row(a=1, b=1)) == ["lost"]


@pytest.mark.parametrize("stamps", [{"a": 1, "b": 1}, {"a": 2, "b": 2}])
def test_either_end_of_an_open_change_is_right(ledger: Ledger, stamps: dict[str, int]) -> None:
    acknowledged(ledger, PUT)
    left_open(ledger, PUT)
    assert kinds(ledger, row(**stamps)) == []


def test_half_an_open_change_is_torn(ledger: Ledger) -> None:
    acknowledged(ledger, PUT)
    left_open(ledger, PUT)
    assert kinds(ledger, row(a=1, b=2)) == ["torn"]


def test_a_row_that_was_deleted_does_not_come_back(ledger: Ledger) -> None:
    acknowledged(ledger, PUT)
    acknowledged(ledger, Change("delete", KEY))
    assert kinds(ledger, None) == []
    assert kinds(ledger, row(a=1, b=1)) == ["resurrected"]


def test_a_refused_change_must_not_be_found(ledger: Ledger) -> None:
    acknowledged(ledger, PUT)
    sequence = ledger.next()
    ledger.intend(sequence, [PUT])
    ledger.refuse(sequence)
    assert kinds(ledger, row(a=2, b=2)) != []


def test_what_nobody_meant_to_write_is_alien(ledger: Ledger) -> None:
    acknowledged(ledger, PUT)
    assert kinds(ledger, row(a=5, b=5)) == ["alien"]


def test_a_value_of_another_row_or_column_or_of_two_halves_is_torn(ledger: Ledger) -> None:
    acknowledged(ledger, PUT)
    good = content("c", 1, KEY, "a")
    for bad in (content("c", 1, ("c/0", 8), "a"), content("c", 1, KEY, "b"), good[:-1], good[1:]):
        assert kinds(ledger, row(b=1) | {"a": (1, bad)}) == ["torn"]


def test_a_counter_counts_every_acknowledged_increment_once(ledger: Ledger) -> None:
    for _ in range(3):
        acknowledged(ledger, Change("increment", KEY, (COUNTER,)))
    assert kinds(ledger, {COUNTER: (1, 3)}) == []
    left_open(ledger, Change("increment", KEY, (COUNTER,)))
    assert kinds(ledger, {COUNTER: (1, 4)}) == []
    assert kinds(ledger, {COUNTER: (1, 3)}) == ["lost"]


def test_a_version_that_goes_back_is_told(ledger: Ledger) -> None:
    acknowledged(ledger, PUT)
    assert kinds(ledger, row(9, a=1, b=1)) == []
    acknowledged(ledger, PUT)
    assert kinds(ledger, row(8, a=2, b=2)) == ["backwards"]


def test_what_a_reader_saw_may_not_vanish(ledger: Ledger) -> None:
    acknowledged(ledger, PUT)
    left_open(ledger, PUT)
    ledger.seen(KEY, 2)
    assert kinds(ledger, row(a=1, b=1)) == ["lost"]


def test_every_entry_is_a_line_in_the_file(ledger: Ledger, tmp_path: Path) -> None:
    acknowledged(ledger, PUT)
    left_open(ledger, Change("delete", KEY))
    ledger.close()
    assert (tmp_path / "c.ledger").read_text().splitlines() == [
        "c 1 intent put:c/0/7",
        "c 1 acknowledged ",
        "c 2 intent delete:c/0/7",
        "c 2 open ",
    ]
