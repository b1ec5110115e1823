"""Numbers are read as they are written elsewhere: ASCII digits, nothing between or around them."""

from collections.abc import Callable

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.support.search_index import one_field

from widerow.cli.main import app
from widerow.cli.search_text import value_of_text
from widerow.console.forms import typed_value
from widerow.errors import WiderowError
from widerow.model.search.schema import SearchFieldType
from widerow.model.typed.texts import value_from_text
from widerow.model.typed.types import DOUBLE, FLOAT, INTEGER, LONG, NUMBER
from widerow.row_files.values import seconds
from widerow.search.queries.values import asked_number, literal_of
from widerow.transfer.layout import KINDS
from widerow.written_numbers import real_number, whole_number

FOREIGN = ["1_000", "１５", "１.５", "٣.٥", "٣", "1 0", "0x10", "inf", "nan", "1e", "--1", "", "²"]
(LONGS,) = one_field(SearchFieldType.LONG).root.fields
(DOUBLES,) = one_field(SearchFieldType.DOUBLE).root.fields
READERS: dict[str, Callable[[str], object]] = {
    "whole": whole_number,
    "real": real_number,
    "queries of LONG": lambda text: asked_number(LONGS, text),
    "queries of DOUBLE": lambda text: asked_number(DOUBLES, text),
    "missing": lambda text: literal_of(LONGS, text),
    "lines of search": lambda text: value_of_text(LONGS.definition, text),
    "typed INTEGER": lambda text: value_from_text(text, INTEGER, "f"),
    "typed LONG": lambda text: value_from_text(text, LONG, "f"),
    "typed DOUBLE": lambda text: value_from_text(text, DOUBLE, "f"),
    "typed FLOAT": lambda text: value_from_text(text, FLOAT, "f"),
    "typed NUMBER": lambda text: value_from_text(text, NUMBER, "f"),
    "import, integer": lambda text: KINDS["integer"]("f", text),
    "import, double": lambda text: KINDS["double"]("f", text),
    "times of files": lambda text: seconds("f", text),
    "console, integer": lambda text: typed_value("f", "integer", text),
    "console, double": lambda text: typed_value("f", "double", text),
}


@pytest.mark.parametrize("reader", READERS)
def test_what_python_alone_takes_for_a_number_is_none(reader: str) -> None:
    assert READERS[reader]("15") in (15, 15.0)
    for text in FOREIGN:
        with pytest.raises((ValueError, WiderowError)):
            READERS[reader](text)


def test_flags_take_numbers_as_they_are_written() -> None:
    for text in ("1_0", "１", "٣"):
        done = CliRunner().invoke(app, ["tail", "t", "--limit", text])
        assert done.exit_code == 2
        assert "is not a valid integer" in done.output
        done = CliRunner().invoke(app, ["tail", "t", "--interval", text])
        assert done.exit_code == 2


@given(st.integers(-(2**70), 2**70))
def test_whole_numbers_are_read(number: int) -> None:
    assert whole_number(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read(number: float) -> None:
    assert real_number(repr(number)) == number
    assert real_number(f"{number:e}") == pytest.approx(number, rel=1e-5)


@given(st.text(st.sampled_from("0123456789+-.eE_ ٣１\n")))
def test_no_other_text_is_a_number(text: str) -> None:
    try:
        found = real_number(text)
    except ValueError:
        return
    assert set(text) <= set("0123456789+-.eE")
    assert found == float(text)
