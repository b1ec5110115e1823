"""The founding page's tables of keys (page 003), as `widerow.keydesign` makes them.

What the store does with such keys is in `test_table_operations.py`; here, what the tools say of
them before any table is made. (semantics §1.2)
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import pytest

from widerow.keydesign import HashPrefix, KeyDesign, KeyPart, PartKind, compare_orders, prove
from widerow.keydesign.advisor import GIGABYTE, KeyAssessment, Question, Verdict, advise
from widerow.keydesign.dry_run import Rehearsal, rehearse
from widerow.keydesign.sketch import mixed
from widerow.row_files.source import FileSource

INTEGER: Final = PartKind.INTEGER
PURCHASES: Final = (
    (16, "a100", 66661),
    (54, "a100", 6777),
    (54, "a1001", 6777),
    (167, "a101", 283408),
)
"""Device, seller and card, in the order of the page's first table."""


def design(connector: str, width: int | None = None, card: int | None = None) -> KeyDesign:
    device = KeyPart("DeviceID", INTEGER, width)
    return KeyDesign((device, KeyPart("SellerID"), KeyPart("CardID", INTEGER, card)), connector)


def keys(made: KeyDesign) -> list[str]:
    """The keys of the page's rows, in the order of their bytes."""
    return sorted((made.build(row) for row in PURCHASES), key=str.encode)


def columns_lost(made: KeyDesign) -> list[str]:
    """The columns in which rows of the page change places."""
    return [made.columns[each.column] for each in compare_orders(made, PURCHASES).inversions]


def proved(made: KeyDesign) -> dict[str, bool]:
    return {proof.column: proof.kept for proof in prove(made)}


def test_the_first_spliced_table_is_in_the_order_of_bytes() -> None:
    """The page prints 16 before 167; `:` is above the digits, so 167 comes first."""
    assert keys(design(":")) == [
        "167:a101:283408",
        "16:a100:66661",
        "54:a1001:6777",
        "54:a100:6777",
    ]


def test_without_zeros_a_range_of_devices_breaks() -> None:
    made = design(":")
    assert "DeviceID" in columns_lost(made)
    run = rehearse(made, [Rehearsal(row) for row in PURCHASES])
    first = run.queries[0]
    assert (first.text, first.works, first.seen) == ("DeviceID from … to …", False, True)
    assert first.counterexample is not None
    assert (first.counterexample.lower[0], first.counterexample.upper[0]) == (54, 167)


def test_zeros_to_six_digits_keep_the_order_of_devices_and_not_of_sellers() -> None:
    made = design(":", 6)
    assert keys(made) == [
        "000016:a100:66661",
        "000054:a1001:6777",
        "000054:a100:6777",
        "000167:a101:283408",
    ]
    assert columns_lost(made) == ["SellerID"]
    assert proved(made) == {"DeviceID": True, "SellerID": False, "CardID": False}


def test_with_a_comma_the_order_is_the_original_one() -> None:
    made = design(",", 6)
    assert keys(made) == [
        "000016,a100,66661",
        "000054,a100,6777",
        "000054,a1001,6777",
        "000167,a101,283408",
    ]
    assert columns_lost(made) == []


def test_cards_without_zeros_would_still_change_places() -> None:
    """The page stops at its four rows; two cards of one device and seller show what is left."""
    made = design(",", 6)
    assert proved(made) == {"DeviceID": True, "SellerID": True, "CardID": False}
    more = [*PURCHASES, (54, "a100", 66661)]
    assert [each.column for each in compare_orders(made, more).inversions] == [2]
    assert proved(design(",", 6, card=6)) == dict.fromkeys(made.columns, True)


@pytest.mark.parametrize("connector", [",", "!", "-", ":", "_", "~"])
def test_a_connector_is_safe_exactly_if_it_is_below_all_other_characters(connector: str) -> None:
    made = KeyDesign((KeyPart("SellerID"), KeyPart("x")), connector)
    assert proved(made)["SellerID"] is (connector < "0")


def test_zeros_are_as_many_as_the_largest_number_has_digits() -> None:
    made = KeyDesign((KeyPart("DeviceID", INTEGER, 6),))
    assert [made.build((number,)) for number in (0, 54, 999_999)] == ["000000", "000054", "999999"]
    assert all(made.parse(made.build((number,))) == (number,) for number in (0, 54, 999_999))


def test_the_hashed_table_is_the_page_s() -> None:
    """Its digits are those of the number and a line feed, as a shell's echo hands to md5sum."""
    made = KeyDesign(
        (KeyPart("OrderNumber", INTEGER),), prefix=HashPrefix("md5", 4, line_feed=True)
    )
    assert sorted(made.build((number,)) for number in range(200_001, 200_006)) == [
        "2e38200004",
        "a5a9200003",
        "c335200005",
        "db6e200002",
        "ddba200001",
    ]


def test_the_prefix_is_computed_again_and_ranges_are_gone() -> None:
    made = KeyDesign(
        (KeyPart("OrderNumber", INTEGER),), prefix=HashPrefix("md5", 4, line_feed=True)
    )
    rows = [(number,) for number in range(200_001, 200_006)]
    assert [made.parse(made.build(row)) for row in rows] == rows
    run = rehearse(made, [Rehearsal(row) for row in rows])
    assert [query.works for query in run.queries] == [False]
    assert "from 200001 to 200002" in run.queries[0].evidence


# --- which column --------------------------------------------------------------------------------

COLUMNS: Final = ("DeviceID", "SellerID", "CardID", "OrderNumber")
TILLS: Final = 100


def purchases(count: int) -> Iterable[tuple[int, str, int, int]]:
    """Purchases as the page assumes them, one after another.

    Each till has one seller, of whom one has half the tills, and counts its orders up.
    """
    orders = [200_001 + mixed(till, 1) % 5 for till in range(TILLS)]
    for number in range(count):
        till = mixed(number, 2) % TILLS
        seller = f"a{100 + till % 7 if till >= TILLS // 2 else 100}"
        yield 16 + till * 31, seller, 6000 + mixed(number, 3) % 4000, orders[till]
        orders[till] += 1


def judged(
    folder: Path, columns: Sequence[str], *, rows: int | None = None
) -> dict[str, KeyAssessment]:
    """What is said of columns of such purchases; `rows` is what the table will have."""
    path = folder / "purchases.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(purchases(20_000))
    question = Question(tuple(columns), expected_rows=rows, largest_bytes=GIGABYTE)
    found = advise(FileSource(path), question).findings
    return {finding.candidate.name: finding for finding in found}


def test_card_and_device_are_judged_good_seller_and_order_bad(tmp_path: Path) -> None:
    found = judged(tmp_path, COLUMNS)
    assert {name: found[name].verdict for name in COLUMNS} == {
        "DeviceID": Verdict.GOOD,
        "SellerID": Verdict.BAD,
        "CardID": Verdict.GOOD,
        "OrderNumber": Verdict.BAD,
    }
    assert found["SellerID"].reason.startswith("few and skewed")
    assert found["OrderNumber"].reason.startswith("sequential")
    assert found["OrderNumber"].remedy is not None
    assert found["OrderNumber"].remedy.startswith("hash it")


def test_data_and_accesses_have_to_be_spread_evenly(tmp_path: Path) -> None:
    """Both count: a column is bad for what its rows are, or for when they come."""
    found = judged(tmp_path, COLUMNS)
    even, skewed, growing = (found[name].measures for name in ("CardID", "SellerID", "OrderNumber"))
    assert even.top_share.value < 0.01 < skewed.top_share.value
    assert even.gini < skewed.gini
    assert growing.top_share.value < 0.02  # its rows are spread well
    assert even.appended_share < 0.15
    assert growing.appended_share > 0.3
    assert even.hot_range_share < growing.hot_range_share / 2


def test_pressure_on_a_small_range_of_neighbours_is_found(tmp_path: Path) -> None:
    """Even if every value of the range is read and written as often as the others."""
    found = judged(tmp_path, ["CardID", "OrderNumber"])
    assert found["OrderNumber"].measures.hot_range_share > 1 / 8
    assert "meet in one narrow range" in found["OrderNumber"].reason
    assert found["CardID"].measures.hot_range_share < 1 / 16
    assert found["md5-4 + OrderNumber"].measures.hot_range_share < 1 / 8


def test_a_gigabyte_under_one_value_is_advice_and_named(tmp_path: Path) -> None:
    few, many = (judged(tmp_path, ["DeviceID"], rows=rows) for rows in (10**6, 10**10))
    assert few["DeviceID"].verdict is Verdict.GOOD
    assert many["DeviceID"].verdict is Verdict.TOO_LARGE
    assert "over the advised 1 GB" in many["DeviceID"].reason


def test_splicing_columns_that_agree_changes_nothing(tmp_path: Path) -> None:
    """A device has one seller, so the card has to be spliced in too."""
    found = judged(tmp_path, ["DeviceID", "SellerID", "CardID"], rows=10**10)
    assert found["DeviceID"].remedy == "splice it: DeviceID + SellerID + CardID is good"
    pair = found["DeviceID + SellerID"]
    assert pair.verdict is Verdict.TOO_LARGE
    assert pair.measures.distinct == found["DeviceID"].measures.distinct
