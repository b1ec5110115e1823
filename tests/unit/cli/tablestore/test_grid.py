"""Tables of text (docs/guide/shell.md)."""

from hypothesis import given
from hypothesis import strategies as st

from widerow.cli.tablestore.grid import Grid, render_grid
from widerow.cli.tablestore.output import text_width

CELLS = st.text("abc é漢字 ", max_size=40)
GRIDS = st.integers(1, 6).flatmap(
    lambda count: st.builds(
        Grid,
        st.lists(st.text("abcdef", min_size=1, max_size=20), min_size=count, max_size=count),
        st.lists(st.lists(CELLS, min_size=count, max_size=count), max_size=4),
        st.lists(st.booleans(), min_size=count, max_size=count),
    )
)


@given(GRIDS, st.integers(20, 120))
def test_no_line_is_wider_than_the_terminal(grid: Grid, width: int) -> None:
    for ruled in (False, True):
        rendered = render_grid(grid, width, text_width, ruled=ruled)
        assert all(text_width(line) <= width for line in rendered.lines)


@given(GRIDS, st.one_of(st.none(), st.integers(20, 120)))
def test_what_is_not_cut_is_whole(grid: Grid, width: int | None) -> None:
    rendered = render_grid(grid, width, text_width)
    shown = "\n".join(rendered.lines)
    missing = [cell for row in grid.rows for cell in row if cell.strip() not in shown]
    assert len(missing) <= rendered.cut
    assert width is not None or rendered.cut == 0


@given(GRIDS)
def test_a_ruled_table_is_whole_and_its_lines_are_equally_long(grid: Grid) -> None:
    rendered = render_grid(grid, None, text_width, ruled=True)
    assert rendered.cut == 0
    assert len({text_width(line) for line in rendered.lines}) == 1
    assert all(cell in "\n".join(rendered.lines) for row in grid.rows for cell in row)


def test_the_widest_column_is_cut_first_and_numbers_are_to_the_right() -> None:
    grid = Grid(
        ("name", "n", "note"), [["ada", "7", "x" * 50], ["bo", "1234", ""]], [False, True, False]
    )
    assert render_grid(grid, 30).lines == [
        "name     n  note",
        "ada      7  xxxxxxxxxxxxxxxxx…",
        "bo    1234",
    ]
    assert render_grid(grid, 30).cut == 1


def test_rows_are_blocks_where_the_terminal_is_too_narrow() -> None:
    grid = Grid([f"column{n}" for n in range(4)], [["a" * 9, "", "b" * 9, "c" * 9]])
    rendered = render_grid(grid, 25)
    assert rendered.lines == [
        "-- row 1",
        "column0  " + "a" * 9,
        "column2  " + "b" * 9,
        "column3  " + "c" * 9,
    ]
    assert rendered.headings == 0
