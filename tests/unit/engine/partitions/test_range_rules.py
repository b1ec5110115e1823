"""In which order ranges are divided (src/widerow/engine/partitions/range_rules.py)."""

from bisect import bisect_right

from hypothesis import given
from hypothesis import strategies as st

from widerow.engine.partitions.range_rules import ChangeKind, changes_wanted
from widerow.keys.layout import row_prefix

TABLE = 7
KEYS = st.sets(st.integers(1, 500).map(lambda n: row_prefix(TABLE) + n.to_bytes(2, "big")))


def splits(wanted: set[bytes], bounds: list[bytes]) -> list[bytes]:
    changes = changes_wanted({TABLE: frozenset(wanted)}, bounds, {TABLE: frozenset()}, ())
    return [each.key for each in changes if each.kind is ChangeKind.SPLIT]


@given(KEYS, KEYS)
def test_what_is_missing_is_split_once(wanted: set[bytes], bounds: set[bytes]) -> None:
    found = splits(wanted, sorted(bounds))
    assert sorted(found) == sorted(wanted - bounds)


@given(KEYS, KEYS)
def test_ranges_are_divided_in_as_many_rounds_as_there_are_doublings(
    wanted: set[bytes], bounds: set[bytes]
) -> None:
    """Where a range can be cut once in each round, because the database cleans up behind that."""
    now, rounds = sorted(bounds), 0
    most = max((len(each) for each in parts(wanted - bounds, now)), default=0)
    while left := splits(wanted, now):
        cut: dict[int, bytes] = {}
        for key in left:
            cut.setdefault(bisect_right(now, key), key)
        now = sorted([*now, *cut.values()])
        rounds += 1
    assert rounds == most.bit_length()


def parts(missing: set[bytes], bounds: list[bytes]) -> list[list[bytes]]:
    found: list[list[bytes]] = [[] for _ in range(len(bounds) + 1)]
    for key in missing:
        found[bisect_right(bounds, key)].append(key)
    return found
