"""The founding page's tables of keys (page 003), as `widerow.keydesign` makes them.

What the store does with such keys is in `test_table_operations.py`; here, what the tools say of
them before any table is made. (semantics §1.2)
"""

from typing import Final

import pytest

from widerow.keydesign import HashPrefix, KeyDesign, Part, PartKind, check_order, prove
from widerow.keydesign.dry_run import Rehearsal, rehearse

INTEGER: Final = PartKind.INTEGER
PURCHASES: Final = (
    (16, "a100", 66661),
    (54, "a100", 6777),
    (54, "a1001", 6777),
    (167, "a101", 283408),
)
"""Device, seller and card, in the order of the page's first table."""


def design(connector: str, width: int | None = None, card: int | None = None) -> KeyDesign:
    device = Part("DeviceID", INTEGER, width)
    return KeyDesign((device, Part("SellerID"), Part("CardID", INTEGER, card)), connector)


def keys(made: KeyDesign) -> list[str]:
    """The keys of the page's rows, in the order of their bytes."""
    return sorted((made.build(row) for row in PURCHASES), key=str.encode)


def columns_lost(made: KeyDesign) -> list[str]:
    """The columns in which rows of the page change places."""
    return [made.columns[each.column] for each in check_order(made, PURCHASES).inversions]


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
    assert [each.column for each in check_order(made, more).inversions] == [2]
    assert proved(design(",", 6, card=6)) == dict.fromkeys(made.columns, True)


@pytest.mark.parametrize("connector", [",", "!", "-", ":", "_", "~"])
def test_a_connector_is_safe_exactly_if_it_is_below_all_other_characters(connector: str) -> None:
    made = KeyDesign((Part("SellerID"), Part("x")), connector)
    assert proved(made)["SellerID"] is (connector < "0")


def test_zeros_are_as_many_as_the_largest_number_has_digits() -> None:
    made = KeyDesign((Part("DeviceID", INTEGER, 6),))
    assert [made.build((number,)) for number in (0, 54, 999_999)] == ["000000", "000054", "999999"]
    assert all(made.parse(made.build((number,))) == (number,) for number in (0, 54, 999_999))


def test_the_hashed_table_is_the_page_s() -> None:
    """Its digits are those of the number and a line feed, as a shell's echo hands to md5sum."""
    made = KeyDesign((Part("OrderNumber", INTEGER),), prefix=HashPrefix("md5", 4, line_feed=True))
    assert sorted(made.build((number,)) for number in range(200_001, 200_006)) == [
        "2e38200004",
        "a5a9200003",
        "c335200005",
        "db6e200002",
        "ddba200001",
    ]


def test_the_prefix_is_computed_again_and_ranges_are_gone() -> None:
    made = KeyDesign((Part("OrderNumber", INTEGER),), prefix=HashPrefix("md5", 4, line_feed=True))
    rows = [(number,) for number in range(200_001, 200_006)]
    assert [made.parse(made.build(row)) for row in rows] == rows
    run = rehearse(made, [Rehearsal(row) for row in rows])
    assert [query.works for query in run.queries] == [False]
    assert "from 200001 to 200002" in run.queries[0].evidence
