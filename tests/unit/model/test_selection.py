"""What decides whether a stored row can be copied unread (semantics §5.1, §5.2)."""

import dataclasses

import pytest

from widerow.model.tablestore.filter import Comparator, Comparison, Pagination
from widerow.model.tablestore.selection import Selection, TimeRange


@pytest.mark.parametrize(
    "selection", [Selection(), Selection(max_versions=1), Selection(columns=frozenset())]
)
def test_only_versions_are_bounded_where_all_columns_are_read(selection: Selection) -> None:
    assert selection.everything


@pytest.mark.parametrize(
    "selection",
    [
        Selection(columns=frozenset({"a"})),
        Selection(time_range=TimeRange(0, 0)),
        Selection(filter=Comparison("a", Comparator.EQUAL, 1)),
        Selection(pagination=Pagination(0, 1)),
        Selection(start_column=""),
        Selection(end_column=""),
    ],
)
def test_any_restriction_means_reading_cells(selection: Selection) -> None:
    assert not selection.everything


def test_every_restriction_is_among_those_tested() -> None:
    """A new field must be weighed in `everything` before this list grows."""
    names = {field.name for field in dataclasses.fields(Selection)}
    assert names == {
        "columns",
        "max_versions",
        "time_range",
        "filter",
        "pagination",
        "start_column",
        "end_column",
        "everything",
    }


def test_selections_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Selection().max_versions = 1  # type: ignore[misc]  # that it cannot be set is the test
