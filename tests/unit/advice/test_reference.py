"""Advice against the obvious: make the change and look, add everything up, sort it all.

What a time to live or one version would give back is what is gone of an engine's table once the
change was made. Costs are those of a few loops over all requests. And of samples, as many hit as
the margin of error promises.
"""

from collections import Counter
from collections.abc import Sequence
from random import Random  # noqa: TID251  # seeded: a failure must repeat
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import create, put
from tests.support.engines import open_tablestore
from tests.support.volume import examples
from tests.unit.engine.reading_all import rows_of

from widerow.advice.cost import WorkloadCost
from widerow.advice.expiry import ExpiryFinding, TableOptionsSeen, advise_expiry
from widerow.advice.sampling import TableSample
from widerow.advice.unit_rules import Units
from widerow.advice.version_reads import count_version_reads
from widerow.client.http import HttpAnswer
from widerow.model.tablestore.requests import OptionsChange, UpdateTable
from widerow.model.values import KeyType
from widerow.proxy.exchange import Exchange, ProxiedRequest
from widerow.rows.plain_values import Row, VersionedValue, decode_plain_rows
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import messages as m

DAY_MS: Final = 86_400_000
OLD_DAYS: Final = 30
VERSIONS: Final = 3

Columns = dict[str, dict[int, Any]]
Contents = dict[int, Columns]

values = st.one_of(st.integers(-(2**40), 2**40), st.sampled_from(["", "same", "ä" * 9]))
# Days before now, and milliseconds around that: none at the bound itself, where a clock decides.
ages = st.tuples(st.integers(0, 2 * OLD_DAYS), st.integers(1, 99))
columns_ = st.dictionaries(
    st.sampled_from(["a", "b", "längst"]),
    st.dictionaries(ages, values, min_size=1, max_size=VERSIONS),
    min_size=1,
    max_size=3,
)
tables = st.dictionaries(st.integers(0, 9), columns_, min_size=1, max_size=8)


class Kept:
    """A table of an engine with these rows; versions are `ages` before its clock."""

    def __init__(self, contents: dict[int, dict[str, dict[tuple[int, int], Any]]]) -> None:
        self.clock = FakeClock()
        self.engine = open_tablestore(MemoryStore(), self.clock, FakeEntropy())
        self.now_ms = self.clock.now_us() // 1000
        key = {"k": KeyType.INTEGER}
        made = create("t", key, max_versions=VERSIONS, max_version_offset=10**9)
        self.engine.core.run(self.engine.create_table("i", made))
        for number, columns in contents.items():
            cells = {
                name: [
                    (self.now_ms - days * DAY_MS - ms, value)
                    for (days, ms), value in versions.items()
                ]
                for name, versions in columns.items()
            }
            self.engine.core.run(self.engine.rows.write_row("i", put("t", {"k": number}, cells)))

    def rows(self) -> list[Row]:
        return [row for data in rows_of(self.engine, "i", "t") for row in decode_plain_rows(data)]

    def change(self, options: OptionsChange) -> None:
        asked = UpdateTable("t", options=options)
        self.engine.core.run(self.engine.update_table("i", asked))

    def advise(self, version_reads: int | None = None) -> dict[str, ExpiryFinding]:
        sample = TableSample((tuple(self.rows()),), True, None)  # noqa: FBT003  # a field
        seen = TableOptionsSeen(-1, VERSIONS)
        found = advise_expiry(seen, sample, self.now_ms, OLD_DAYS, version_reads)
        assert found.bytes == weight(self.rows())
        for each in found.findings:
            assert found.reclaimable(each) == each.bytes
        return {each.kind: each for each in found.findings}


def weight(rows: Sequence[Row]) -> int:
    """Bytes of names, values and versions (semantics §9)."""

    def of_value(value: Any) -> int:  # noqa: ANN401  # any value of a cell
        return len(value.encode()) if isinstance(value, str) else 8

    total = 0
    for row in rows:
        total += sum(len(name.encode()) + of_value(value) for name, value in row.key)
        total += sum(len(cell.column.encode()) + of_value(cell.value) + 8 for cell in row.cells)
    return total


@given(tables)
@settings(max_examples=examples(60), deadline=None)
def test_a_time_to_live_gives_back_what_was_promised(contents: dict[int, Any]) -> None:
    """Semantics §1.6: the table, before and after the command that is advised."""
    kept = Kept(contents)
    before = kept.rows()
    found = kept.advise().get("never expires")
    kept.change(OptionsChange(time_to_live=OLD_DAYS * 86_400))
    gone = weight(before) - weight(kept.rows())
    assert (found.bytes if found else 0) == gone
    if found is not None:
        lost = {row.key for row in before} - {row.key for row in kept.rows()}
        assert found.text.startswith(f"nothing expires, and {len(lost)} of {len(before)} rows")
        assert found.share == pytest.approx(gone / weight(before))
        assert found.options == f"--ttl {OLD_DAYS}d"


@given(tables)
@settings(max_examples=examples(60), deadline=None)
def test_one_version_gives_back_what_was_promised(contents: dict[int, Any]) -> None:
    """Semantics §1.5: nobody reads older versions, so that is what is advised."""
    kept = Kept(contents)
    before = weight(kept.rows())
    found = kept.advise(version_reads=0).get("versions for nothing")
    assert "versions for nothing" not in kept.advise(version_reads=1)
    kept.change(OptionsChange(max_versions=1))
    gone = before - weight(kept.rows())
    assert (found.bytes if found else 0) == gone
    assert (found is not None) is (gone > 0)


@given(tables)
@settings(max_examples=examples(60), deadline=None)
def test_versions_are_for_nothing_where_half_of_them_repeat(contents: dict[int, Any]) -> None:
    """An older version repeats where the next newer one of its column has the same value."""
    kept = Kept(contents)
    older = repeats = 0
    for row in kept.rows():
        for name in {cell.column for cell in row.cells}:
            versions = [cell for cell in row.cells if cell.column == name]
            versions.sort(key=lambda cell: -cell.version)
            for at in range(1, len(versions)):
                size = weight([Row((), (versions[at],))])
                older += size
                same = versions[at].value == versions[at - 1].value
                repeats += size * same
    expected = older > 0 and repeats * 2 >= older
    assert ("versions for nothing" in kept.advise()) is expected


def test_samples_hit_as_often_as_their_margin_says() -> None:
    """Of places whose rows are alike: 95 of 100 samples, or nearly, contain the true share."""
    random = Random(3)  # noqa: S311  # to repeat, not to keep a secret
    now_ms = FakeClock().now_us() // 1000

    def place() -> tuple[Row, ...]:
        old = random.random()
        return tuple(
            Row(
                (("k", number),),
                (VersionedValue("c", now_ms - DAY_MS * 100 * (random.random() < old), 1),),
            )
            for number in range(20)
        )

    places = [place() for _ in range(400)]
    total = weight([row for each in places for row in each])
    old_rows = [
        row for each in places for row in each if row.cells[0].version < now_ms - 30 * DAY_MS
    ]
    truth = weight(old_rows) / total
    hits, draws = 0, 300
    for _ in range(draws):
        drawn = tuple(random.sample(places, 30))
        sample = TableSample(drawn, False, total)  # noqa: FBT003  # a field
        advice = advise_expiry(TableOptionsSeen(-1, 1), sample, now_ms, OLD_DAYS)
        (found,) = advice.findings
        hits += abs(found.share - truth) <= found.error
        reclaimable = advice.reclaimable(found)
        assert reclaimable is not None
        assert abs(reclaimable - found.share * total) <= 1
    assert 0.90 <= hits / draws <= 0.99


# --- costs ------------------------------------------------------------------------------------

Request = tuple[str, str, int, int, int, int]  # action, table, second, read, write, versions
requests = st.lists(
    st.tuples(
        st.sampled_from(("GetRow", "PutRow", "UpdateRow", "GetRange")),
        st.sampled_from(("t", "u")),
        st.integers(0, 40) | st.integers(0, 500),
        st.integers(0, 30),
        st.integers(0, 30),
        st.integers(1, 3),
    ),
    max_size=40,
)


def exchange(asked: Request) -> Exchange:
    """A request that was answered with these units."""
    action, table, second, read, write, versions = asked
    units = m.ConsumedCapacity(capacity_unit=m.CapacityUnit(read=read, write=write))
    condition = m.Condition(row_existence=0)
    sent: dict[str, Any] = {
        "GetRow": m.GetRowRequest(table_name=table, primary_key=b"", max_versions=versions),
        "PutRow": m.PutRowRequest(table_name=table, row=b"", condition=condition),
        "UpdateRow": m.UpdateRowRequest(table_name=table, row_change=b"", condition=condition),
        "GetRange": m.GetRangeRequest(
            table_name=table,
            direction=0,
            max_versions=versions,
            inclusive_start_primary_key=b"",
            exclusive_end_primary_key=b"",
        ),
    }
    told: dict[str, Any] = {
        "GetRow": m.GetRowResponse(consumed=units, row=b""),
        "PutRow": m.PutRowResponse(consumed=units),
        "UpdateRow": m.UpdateRowResponse(consumed=units),
        "GetRange": m.GetRangeResponse(consumed=units, rows=b""),
    }
    request = ProxiedRequest(action, "i", {}, sent[action].SerializeToString())
    answer = HttpAnswer(200, {}, told[action].SerializeToString())
    return Exchange(request, answer, second * 1_000_000 + 5, 1)


@given(requests, st.integers(1, 5))
def test_costs_are_the_sums_of_what_was_told(asked: list[Request], dearest: int) -> None:
    """Semantics §9; where an answer tells units, and so nothing has to be worked out."""
    asked = [each for each in asked if each[3] or each[4]]
    cost = WorkloadCost(dearest)
    for each in asked:
        cost.add(exchange(each))
    reads: Counter[tuple[str, str]] = Counter()
    writes: Counter[tuple[str, str]] = Counter()
    counts: Counter[tuple[str, str]] = Counter()
    for action, table, _, read, write, _ in asked:
        counts[table, action] += 1
        reads[table, action] += read
        writes[table, action] += write
    assert cost.requests == counts
    assert cost.units == {each: Units(reads[each], writes[each]) for each in counts}
    assert cost.total() == Units(reads.total(), writes.total())
    begin, end = (
        (min(each[2] for each in asked), max(each[2] for each in asked)) if asked else (0, -1)
    )
    assert cost.seconds == end - begin + 1
    check_reserves(cost, asked, range(begin, end + 1))
    sorted_units = sorted((each[3] + each[4] for each in asked), reverse=True)
    found = [each.units.read + each.units.write for each in cost.dearest()]
    assert found == sorted_units[:dearest]


def check_reserves(cost: WorkloadCost, asked: list[Request], window: range) -> None:
    """The peak, and the least reserve that is enough in 99 of 100 seconds of the window."""
    told = {(each.table, each.kind): each for each in cost.reserves()}
    for table in ("t", "u"):
        for kind, at in (("read", 0), ("write", 1)):
            spent: Counter[int] = Counter()
            for _, of, second, *units, _ in asked:
                spent[second] += units[at] if of == table else 0
            loads = [spent[second] for second in window]
            if not sum(loads):
                assert (table, kind) not in told
                continue
            found = told[table, kind]
            enough = [
                reserve
                for reserve in {0, *loads}
                if sum(load > reserve for load in loads) <= len(loads) * 0.01
            ]
            assert (found.peak, found.p99) == (max(loads), min(enough))
            beyond = sum(load - found.p99 for load in loads if load > found.p99)
            assert found.additional == pytest.approx(beyond / sum(loads))


@given(requests)
def test_reads_of_older_versions_are_counted(asked: list[Request]) -> None:
    reading = [each for each in asked if each[0] in {"GetRow", "GetRange"}]
    expected = Counter(each[1] for each in reading if each[5] > 1)
    assert count_version_reads(map(exchange, asked), "i") == expected
    assert not count_version_reads(map(exchange, asked), "another")
