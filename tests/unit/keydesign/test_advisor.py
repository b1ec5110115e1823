"""The advisor's verdicts, on data made for each rule and on the student cards (seed 003)."""

import csv
import importlib.util
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from widerow.keydesign.advisor import (
    GIGABYTE,
    RULES,
    Advice,
    KeyAssessment,
    Question,
    Verdict,
    advise,
)
from widerow.keydesign.candidate import CandidateKind
from widerow.keydesign.figures import decimal_size, percent
from widerow.keydesign.sketch import mixed
from widerow.row_files.source import FileInvalid, FileSource

ROOT: Final = Path(__file__).resolve().parents[3]
ROWS: Final = 12_000


def example(name: str) -> ModuleType:
    """A program of examples/, which is not a package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where its tuples look for their types
    spec.loader.exec_module(module)
    return module


def write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> FileSource:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return FileSource(path)


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> FileSource:
    sample = example("student_card_sample")
    path = tmp_path_factory.mktemp("cards") / "purchases.csv"
    return write(path, sample.Purchase._fields, sample.purchases(20_000))


COLUMNS: Final = ("DeviceID", "SellerID", "CardID", "OrderNumber")


@pytest.fixture(scope="module")
def campus(cards: FileSource) -> Advice:
    return advise(cards, Question(COLUMNS, "Time"))


def by_name(advice: Advice) -> dict[str, KeyAssessment]:
    return {finding.candidate.name: finding for finding in advice.findings}


# --- the student cards ---------------------------------------------------------------------------


def test_student_cards_are_judged_as_the_founding_page_does(campus: Advice) -> None:
    found = by_name(campus)
    assert found["CardID"].verdict is Verdict.GOOD
    assert found["DeviceID"].verdict is Verdict.GOOD
    assert found["SellerID"].verdict is Verdict.BAD
    assert found["SellerID"].reason.startswith("few and skewed: 10 values, and 'a100' alone")
    assert found["OrderNumber"].verdict is Verdict.BAD
    assert found["OrderNumber"].reason.startswith("sequential: ")
    assert found["OrderNumber"].remedy == "hash it: md5-4 + OrderNumber is fair"


def test_the_good_stand_first(campus: Advice) -> None:
    verdicts = [each.verdict for each in campus.findings]
    assert verdicts == sorted(verdicts, key=list(Verdict).index)


def test_a_device_that_grows_too_large_is_spliced_until_its_parts_differ(
    cards: FileSource,
) -> None:
    question = Question(COLUMNS, "Time", expected_rows=10**9, largest_bytes=GIGABYTE // 10)
    found = by_name(advise(cards, question))
    device = found["DeviceID"]
    assert device.verdict is Verdict.TOO_LARGE
    assert device.remedy == "splice it: DeviceID + SellerID + CardID is good"
    # A device has one seller, so two columns are not enough.
    pair = found["DeviceID + SellerID"]
    assert pair.verdict is Verdict.TOO_LARGE
    assert pair.measures.largest_bytes == device.measures.largest_bytes


def test_the_answer_is_the_same_every_time(cards: FileSource, campus: Advice) -> None:
    assert advise(cards, Question(COLUMNS, "Time")).document() == campus.document()


def test_the_sample_has_what_the_page_assumes() -> None:
    """Tills have one seller, and numbers of their own that grow; other tills use them too."""
    sample = example("student_card_sample")
    rows = list(sample.purchases(5_000))
    assert rows == list(sample.purchases(5_000))
    assert len(rows) == 5_000
    assert [row.Time for row in rows] == sorted(row.Time for row in rows)
    sellers: dict[int, set[str]] = {}
    last: dict[int, int] = {}
    for row in rows:
        sellers.setdefault(row.DeviceID, set()).add(row.SellerID)
        assert row.OrderNumber > last.get(row.DeviceID, 0)
        last[row.DeviceID] = row.OrderNumber
    assert {len(each) for each in sellers.values()} == {1}
    assert len({row.OrderNumber for row in rows}) < len(rows)
    assert len(sellers) == sample.TILLS


def test_28_values_are_not_good_and_it_says_why(tmp_path: Path) -> None:
    """docs/guide/key-design.md: few values are judged by their number, however even they are."""
    rows = ([f"v{mixed(number) % 28:02}"] for number in range(ROWS))
    finding = by_name(advise(write(tmp_path / "a.csv", ["k"], rows), Question(("k",))))["k"]
    assert finding.measures.top_share.value < 1 / 16  # by its shares alone it would be good
    assert finding.verdict is Verdict.FAIR
    assert "never works on more than 28 partitions" in finding.reason
    assert "splice it" in finding.reason


# --- the rules one by one ------------------------------------------------------------------------

MADE: Final[dict[str, tuple[Callable[[int], object], Verdict, str]]] = {
    "even integers": (lambda n: mixed(n) % 5000, Verdict.GOOD, "4,"),
    "even texts": (lambda n: f"k{mixed(n) % 5000}", Verdict.GOOD, "4,"),
    "sequential": (lambda n: n, Verdict.BAD, "sequential"),
    "sequential texts": (lambda n: f"2017-{n:08}", Verdict.BAD, "sequential"),
    "few": (lambda n: mixed(n) % 4, Verdict.BAD, "few and skewed"),
    "skewed": (lambda n: 0 if n % 3 else mixed(n) % 5000, Verdict.BAD, "few and skewed"),
    "narrow": (
        lambda n: (n // 1500 * 3 % 8) * 10_000 + mixed(n) % 10_000,
        Verdict.BAD,
        "narrow",
    ),
    "a dozen": (lambda n: mixed(n) % 14, Verdict.FAIR, "few: 14 values, one for every 857 rows"),
    "fewer than partitions": (lambda n: mixed(n) % 28, Verdict.FAIR, "few: 28 values"),
    "too few to be even": (lambda n: mixed(n) % 95, Verdict.FAIR, "few: 95 values"),
    "enough": (lambda n: mixed(n) % 96, Verdict.GOOD, "96 values"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_rule_finds_what_it_is_for(tmp_path: Path, name: str) -> None:
    made, verdict, reason = MADE[name]
    source = write(tmp_path / "a.csv", ["k"], ([made(number)] for number in range(ROWS)))
    finding = by_name(advise(source, Question(("k",))))["k"]
    assert finding.verdict is verdict, finding.reason
    assert finding.reason.startswith(reason)


def test_every_verdict_has_a_rule() -> None:
    assert {verdict for verdict, _, _ in RULES} == set(Verdict)


def test_a_hash_cures_what_is_appended(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", ["k"], ([number] for number in range(ROWS)))
    found = by_name(advise(source, Question(("k",))))
    assert found["md5-4 + k"].verdict is Verdict.GOOD
    assert found["md5-4 + k"].candidate.kind is CandidateKind.HASHED
    assert found["md5-4 + k"].candidate.command("a.csv", {"k": 5}) == (
        "widerow keys hash --input a.csv --columns k --hash md5 --digits 4"
    )


def test_a_splice_names_the_zeros_it_needs(tmp_path: Path) -> None:
    rows = ([mixed(number) % 3, mixed(number + ROWS) % 800] for number in range(ROWS))
    advice = advise(write(tmp_path / "a.csv", ["few", "many"], rows), Question(("few", "many")))
    found = by_name(advice)["few + many"]
    assert found.verdict is Verdict.GOOD
    assert found.candidate.command("a.csv", advice.digits) == (
        "widerow keys splice --input a.csv --columns few,many --pad few=1,many=3"
    )


def test_a_time_column_says_what_came_first(tmp_path: Path) -> None:
    """Sequential by its times, though the file is shuffled."""
    shuffled = sorted(range(ROWS), key=mixed)
    rows = ([number, 1_500_000_000 + number] for number in shuffled)
    source = write(tmp_path / "a.csv", ["k", "t"], rows)
    assert by_name(advise(source, Question(("k",), "t")))["k"].verdict is Verdict.BAD
    assert by_name(advise(source, Question(("k",))))["k"].verdict is Verdict.GOOD


@pytest.mark.parametrize("rows", [1000, 2000, 5000, 10_000])
def test_a_perfect_key_is_good_in_a_short_sample_and_in_batches(tmp_path: Path, rows: int) -> None:
    """A batch has one time, and is read in the order of its keys."""
    keys = [f"{mixed(number):016x}" for number in range(rows)]
    batches = [sorted(keys[first : first + 200]) for first in range(0, rows, 200)]
    few = [[key, number // (rows // 1000)] for number, key in enumerate(keys)]
    timed = [
        [key, number * 8 // len(batches)] for number, each in enumerate(batches) for key in each
    ]
    for number, made in enumerate((few, timed)):
        source = write(tmp_path / f"{number}.csv", ["k", "t"], made)
        finding = by_name(advise(source, Question(("k",), "t")))["k"]
        expected = Verdict.GOOD if len({time for _, time in made}) >= 8 else Verdict.UNCLEAR
        assert finding.verdict is expected, finding.reason


def test_rows_of_one_time_say_nothing_of_where_writes_meet(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", ["k", "t"], ([number, 7] for number in range(ROWS)))
    (finding,) = advise(source, Question(("k",), "t")).findings
    assert finding.verdict is Verdict.UNCLEAR
    assert "written at 1 different times" in finding.reason


def test_few_rows_are_not_judged(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", ["k"], ([number] for number in range(999)))
    (finding,) = advise(source, Question(("k",))).findings
    assert finding.verdict is Verdict.UNCLEAR
    assert "999 rows" in finding.reason


def test_progress_counts_two_passes(tmp_path: Path) -> None:
    for made in (mixed, lambda number: number):
        source = write(tmp_path / "a.csv", ["k"], ([made(number)] for number in range(ROWS)))
        told: list[int] = []
        advise(source, Question(("k",)), told.append)
        assert told == sorted(told)
        assert told[-1] == 2 * source.total


def test_a_column_that_is_missing_is_said(cards: FileSource) -> None:
    with pytest.raises(FileInvalid, match=r"no column Card; did you mean CardID\?"):
        advise(cards, Question(("Card",)))


# --- figures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (13.7e9, "13.7 GB"), (2e12, "2 TB")],
)
def test_sizes_are_decimal(size: float, words: str) -> None:
    assert decimal_size(size) == words


@pytest.mark.parametrize(
    ("part", "words"), [(0, "0.0%"), (0.0003, "<0.1%"), (0.0123, "1.2%"), (0.4, "40%")]
)
def test_shares_are_per_cent(part: float, words: str) -> None:
    assert percent(part) == words
