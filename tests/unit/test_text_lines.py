"""Lines end at line feeds, and texts keep every other character (docs/formats/export.md)."""

import csv

from hypothesis import given
from hypothesis import strategies as st

from widerow.text_lines import CsvLines, text_lines, whole_lines

# What `str.splitlines` takes for the end of a line, among other characters.
texts = st.text(st.sampled_from("a\"',;\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029 "))


@given(texts)
def test_joined_lines_are_the_text(text: str) -> None:
    assert "".join(whole_lines(text)) == text
    assert all(line.find("\n") in (-1, len(line) - 1) for line in whole_lines(text))


@given(st.lists(texts.filter(lambda text: "\n" not in text and not text.endswith("\r"))))
def test_lines_that_were_written_are_read(lines: list[str]) -> None:
    for end in ("\n", "\r\n"):
        assert text_lines("".join(line + end for line in lines)) == lines


@given(st.lists(st.tuples(texts, texts)))
def test_rows_of_csv_are_read_as_they_were_written(rows: list[tuple[str, str]]) -> None:
    written: list[str] = []
    csv.writer(CsvLines(written.append)).writerows(rows)
    text = "".join(written)
    assert [tuple(row) for row in csv.reader(whole_lines(text), strict=True)] == rows
    assert text == "" or text.endswith("\n")
