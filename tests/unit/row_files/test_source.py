"""Rows of files: what is read, and what is said of what cannot be."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from widerow.row_files.source import FileInvalid, FileSource


def source(folder: Path, content: str | bytes, name: str = "a.csv") -> FileSource:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return FileSource(path)


def fields(made: FileSource, *columns: str) -> list[dict[str, object]]:
    return [dict(record.fields) for record in made.records(columns or None)]


def refusal(made: FileSource, *columns: str) -> str:
    with pytest.raises(FileInvalid) as caught:
        fields(made, *columns)
    return str(caught.value)


# --- CSV -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("a,b\n1,2\n", [{"a": "1", "b": "2"}]),
        ("a,b\r\n1,2\r\n", [{"a": "1", "b": "2"}]),
        (b"\xef\xbb\xbfa,b\n1,2", [{"a": "1", "b": "2"}]),
        ('a,b\n"x,y","say ""hi"""\n', [{"a": "x,y", "b": 'say "hi"'}]),
        ('a,b\n"two\nlines",2\n', [{"a": "two\nlines", "b": "2"}]),
        ("a,b\n\n1,2\n\n", [{"a": "1", "b": "2"}]),
        ("a,b\n,\n", [{"a": "", "b": ""}]),
        ("a,b\n", []),
        ("ä,b\n杭,=1+1\n", [{"ä": "杭", "b": "=1+1"}]),
    ],
)
def test_csv_is_read(tmp_path: Path, content: str | bytes, rows: list[dict[str, str]]) -> None:
    assert fields(source(tmp_path, content)) == rows


def test_fields_may_be_separated_by_tabs(tmp_path: Path) -> None:
    assert fields(source(tmp_path, "a\tb\n1,5\t2\n", "a.tsv")) == [{"a": "1,5", "b": "2"}]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n1\n", "line 3: 1 fields, and the header has 2"),
        ("a,b\n1,2,3\n", "line 2: 3 fields, and the header has 2"),
        ('a,b\n"x\ny",2\n1\n', "line 4: 1 fields"),
        ('a,b\n1,"2\n', "line 2: unexpected end of data"),
        ('a,b\n1,"2"x\n', "line 2: ',' expected after"),
        (
            b"a,b\n1,2\nM\xfcller,2\n",
            "a.csv, line 3: not UTF-8 at byte 1 of the line (0xFC, offset 9 of the file); in",
        ),
        (
            b"a,b\n1,2\nM\xfcller,2\n",
            "it is '\xfc': if that is right, give --encoding latin-1, else convert the file to",
        ),
        (b"\xef\xbb\xbfa\n1\n\xfc\n", "line 3: not UTF-8 at byte 0 of the line (0xFC, offset 7 of"),
        (
            b"a\n10 \x80\n",
            "in Windows-1252 it is '\u20ac': if that is right, give --encoding cp1252",
        ),
        (b"a,Gr\xf6\xdfe\n1,2\n", "a.csv, line 1: not UTF-8 at byte 4 of the line (0xF6"),
        ("a,b\n".encode("utf-16"), "line 1: not UTF-8 at byte 0 of the line (0xFF, offset 0 of"),
        ("a,b\n".encode("utf-16"), "the file is UTF-16: convert it"),
        ("", "is empty"),
        ("x,y\n1,2\n", "has no column a; it has x, y"),
        ("aa,b\n1,2\n", "has no column a; did you mean aa?"),
        ("a;b\n1;2\n", "separated by semicolons"),
        ("a,a\n1,2\n", "2 columns named a"),
    ],
)
def test_what_is_wrong_with_csv_is_said_with_its_line(
    tmp_path: Path, content: str | bytes, words: str
) -> None:
    assert words in refusal(source(tmp_path, content), "a")


def test_a_header_in_another_encoding_is_refused_where_rows_are_put_aside(tmp_path: Path) -> None:
    made = source(tmp_path, b"a,Gr\xf6\xdfe\n1,2\n")
    with pytest.raises(FileInvalid, match="line 1: not UTF-8 at byte 4"):
        list(made.records(rejected=lambda *_: None))


@pytest.mark.parametrize(
    ("name", "encoding", "content"),
    [
        ("a.csv", "latin-1", "k,Gr\u00f6\u00dfe\nM\u00fcller,1\n"),
        ("a.csv", "cp1252", "k,Gr\u00f6\u00dfe\n10 \u20ac,1\n"),
        ("a.tsv", "gb18030", "k\t\u676d\u5dde\n\u5361,1\t2\n"),
        ("a.jsonl", "latin-1", '{"k": "M\u00fcller"}\n'),
        ("a.csv", "UTF8", "k,Gr\u00f6\u00dfe\nM\u00fcller,1\n"),
    ],
)
def test_another_encoding_is_read_where_it_is_named(
    tmp_path: Path, name: str, encoding: str, content: str
) -> None:
    made = FileSource(source(tmp_path, content.encode(encoding), name).path, encoding)
    same = source(tmp_path, content, f"same-{name}")
    assert fields(made) == fields(same)


@pytest.mark.parametrize(
    ("encoding", "name", "words"),
    [
        ("klingon", "a.csv", "--encoding klingon: no encoding is known by this name"),
        ("base64", "a.csv", "no encoding is known by this name"),
        ("utf-16", "a.csv", "convert it to UTF-8, for example with iconv -f utf-16"),
        ("utf-7", "a.jsonl", "cannot be read line by line"),
        ("latin-1", "a.parquet", "Parquet says how it is encoded"),
        ("cp1252", "a.csv", "line 2: not cp1252 at byte 0 of the line (0x81"),
    ],
)
def test_an_encoding_that_does_not_do_is_said(
    tmp_path: Path, encoding: str, name: str, words: str
) -> None:
    made = source(tmp_path, b"a\n\x81\n", name)
    assert words in refusal(FileSource(made.path, encoding))


def test_records_know_their_lines_and_bytes(tmp_path: Path) -> None:
    made = source(tmp_path, 'a,b\n1,2\n"x\ny",2\n\n3,4\n')
    found = [(record.place, record.size) for record in made.records()]
    assert [place for place, _ in found] == [2, 3, 6]
    assert [size for _, size in found][:2] == [4, 8]


# --- JSON lines ----------------------------------------------------------------------------------


def test_json_lines_are_read(tmp_path: Path) -> None:
    made = source(tmp_path, '{"a": 1, "b": [2]}\n\n{"a": "x"}', "a.jsonl")
    assert fields(made, "a") == [{"a": 1, "b": [2]}, {"a": "x"}]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"a": 1}\n{"a": \n', "line 2: not JSON"),
        ("[1]\n", "line 1: an object is wanted"),
        ('{"a": 1}\n{"b": 1}\n', "line 2: no field a; it has b"),
    ],
)
def test_what_is_wrong_with_json_is_said_with_its_line(
    tmp_path: Path, content: str, words: str
) -> None:
    assert words in refusal(source(tmp_path, content, "a.jsonl"), "a")


# --- Parquet -------------------------------------------------------------------------------------


def test_parquet_is_read_in_batches(tmp_path: Path) -> None:
    rows = [{"a": number, "b": f"x{number}"} for number in range(20_000)]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    made = FileSource(tmp_path / "a.parquet")
    told: list[int] = []
    found = list(made.records(["a"], told.append))
    assert [record.fields["a"] for record in found] == list(range(20_000))
    assert found[-1].place == 20_000
    assert min(record.size for record in found) > 0
    assert told == sorted(told)
    assert told[-1] == made.total


def test_what_is_no_parquet_is_refused(tmp_path: Path) -> None:
    assert "is not Parquet" in refusal(source(tmp_path, "a,b\n", "a.parquet"))
    parquet.write_table(pa.table({"x": [1]}), tmp_path / "b.parquet")
    assert "no column a" in refusal(FileSource(tmp_path / "b.parquet"), "a")


# --- files ---------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    assert "there is no file" in refusal(FileSource(tmp_path / "absent.csv"))
    assert "name the file by what is in it" in refusal(source(tmp_path, "", "a.xlsx"))
    with pytest.raises(FileInvalid, match="cannot read"):
        FileSource(tmp_path / "absent.csv").total  # noqa: B018  # it raises


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_progress_ends_with_the_whole_file(tmp_path: Path, name: str) -> None:
    line = '{"a": 1}\n' if name.endswith("jsonl") else "1\n"
    head = "" if name.endswith("jsonl") else "a\n"
    made = source(tmp_path, head + line * 5000, name)
    told: list[int] = []
    assert len(list(made.records(["a"], told.append))) == 5000
    assert told[-1] == made.total
    assert len(told) > 2
