"""Rows of files: what is read, and what is said of what cannot be."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from widerow.keydesign.key import PartKind
from widerow.keydesign.sample import FileSource, SampleInvalid, accesses, kinds, seconds

INTEGER, TEXT = PartKind.INTEGER, PartKind.TEXT


def source(folder: Path, content: str | bytes, name: str = "a.csv") -> FileSource:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return FileSource(path)


def fields(made: FileSource, *columns: str) -> list[dict[str, object]]:
    return [dict(record.fields) for record in made.records(columns or None)]


def refusal(made: FileSource, *columns: str) -> str:
    with pytest.raises(SampleInvalid) as caught:
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
    with pytest.raises(SampleInvalid, match="line 1: not UTF-8 at byte 4"):
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
    with pytest.raises(SampleInvalid, match="cannot read"):
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


# --- kinds of columns ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["0", "-5", "9223372036854775807"], INTEGER),
        (["1", "007"], TEXT),
        (["1", "-0"], TEXT),
        (["1", "+2"], TEXT),
        (["1", ""], TEXT),
        (["1", " 2"], TEXT),
        (["1", "9223372036854775808"], TEXT),
        (["1", "٣"], TEXT),
        (["1", "1.0"], TEXT),
    ],
)
def test_a_column_of_csv_holds_integers_if_all_are_written_so(
    tmp_path: Path, values: list[str], kind: PartKind
) -> None:
    made = source(tmp_path, "a,b\n" + "".join(f'"{value}",x\n' for value in values))
    assert kinds(made, ["a", "b"]) == {"a": kind, "b": TEXT}
    assert kinds(made, ["a"], texts=["a"]) == {"a": TEXT}


def test_json_knows_its_types(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": "1"}, {"a": 2, "b": "2"}]
    made = source(tmp_path, "\n".join(map(json.dumps, rows)), "a.jsonl")
    assert kinds(made, ["a", "b"]) == {"a": INTEGER, "b": TEXT}


def test_no_rows_have_no_kinds(tmp_path: Path) -> None:
    with pytest.raises(SampleInvalid, match="has no rows"):
        kinds(source(tmp_path, "a\n"), ["a"])


def test_a_late_text_among_integers_is_said_with_its_line(tmp_path: Path) -> None:
    made = source(tmp_path, "a\n1\nx\n")
    with pytest.raises(SampleInvalid, match=r"line 3: a holds 'x'.*--text a"):
        list(accesses(made, {"a": INTEGER}))


@pytest.mark.parametrize("value", ["null", "1.5", "true", "[1]"])
def test_other_values_are_no_keys(tmp_path: Path, value: str) -> None:
    made = source(tmp_path, f'{{"a": {value}}}\n', "a.jsonl")
    with pytest.raises(SampleInvalid, match="line 1: a holds"):
        list(accesses(made, {"a": TEXT}))


# --- times ---------------------------------------------------------------------------------------

MOMENT = datetime(2017, 8, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2017-08-01T12:00:00Z",
        "2017-08-01 14:00:00+02:00",
        "2017-08-01 12:00:00",
        "1501588800",
        1501588800,
        1501588800.0,
        1501588800_000,
        1501588800_000_000,
        "1501588800000000000",
        MOMENT,
        MOMENT.replace(tzinfo=None),
    ],
)
def test_a_time_is_told_in_any_usual_way(value: object) -> None:
    assert seconds("t", value) == MOMENT.timestamp()


def test_a_day_is_a_time() -> None:
    assert seconds("t", date(2017, 8, 1)) == datetime(2017, 8, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("value", ["soon", "", "nan", "inf", None, True, [1]])
def test_what_is_no_time_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="t is no time"):
        seconds("t", value)


def test_without_a_time_the_number_of_the_row_is_one(tmp_path: Path) -> None:
    found = list(accesses(source(tmp_path, "a\n5\n6\n"), {"a": INTEGER}))
    assert [(each.values, each.time) for each in found] == [((5,), 0.0), ((6,), 1.0)]


def test_a_bad_time_is_said_with_its_line(tmp_path: Path) -> None:
    made = source(tmp_path, "a,t\n5,2017-08-01\n6,then\n")
    with pytest.raises(SampleInvalid, match="line 3: t is no time: 'then'"):
        list(accesses(made, {"a": INTEGER}, "t"))


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_integer_of_64_bits_is_one(tmp_path_factory: pytest.TempPathFactory, n: int) -> None:
    made = source(tmp_path_factory.mktemp("one"), f"a\n{n}\n")
    assert [each.values for each in accesses(made, kinds(made, ["a"]))] == [(n,)]
