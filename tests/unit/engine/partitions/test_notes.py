"""Loads wait in a bounded queue and come out in order, neighbours about one key as one."""

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.partitions.notes import Notes

UNITS = st.integers(0, 9)
NOTES = st.lists(
    st.tuples(
        st.integers(1, 2), st.sampled_from([b"a", b"b"]), UNITS, UNITS, UNITS, st.integers(-9, 9)
    ),
    max_size=30,
)
Note = tuple[int, bytes, int, int, int, int]


def summed(notes: list[Note]) -> list[Note]:
    """Neighbours of one table and key added up."""
    found: list[Note] = []
    for (table, key), group in groupby(notes, key=lambda note: note[:2]):
        columns = list(zip(*group, strict=True))[2:]
        reads, writes, rows, size = (sum(column) for column in columns)
        found.append((table, key, reads, writes, rows, size))
    return found


@given(NOTES, st.integers(0, 30))
def test_what_is_taken_is_what_was_noted(given_notes: list[Note], count: int) -> None:
    notes = Notes(100)
    for note in given_notes:
        notes.add(*note)
    count = min(count, len(given_notes))
    assert list(notes.taken(count)) == summed(given_notes[:count])
    assert len(notes) == len(given_notes) - count
    assert list(notes.taken(len(notes))) == summed(given_notes[count:])


def test_beyond_the_bound_the_oldest_are_forgotten() -> None:
    notes = Notes(3)
    for number in range(5):
        notes.add(number, b"k", 1, 0)
    assert [note[0] for note in notes.taken(len(notes))] == [2, 3, 4]


def test_growth_may_be_left_out() -> None:
    notes = Notes(1)
    notes.add(7, b"k", 2, 3)
    assert list(notes.taken(1)) == [(7, b"k", 2, 3, 0, 0)]
