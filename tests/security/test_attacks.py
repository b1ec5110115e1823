"""The attacks of the table, against a server as it is started for real (`tools/hostile.py`).

More than a thousand requests, in the night ten thousand, by people without the secret, or with a
key to something else. None may be accepted, none may find a defect, and no secret may show
anywhere.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.support.requests import BODIES
from tests.support.volume import examples
from tools import hostile
from tools.hostile import CANARY, OWNER, Attack, Victim

READ: Final = {
    *("ListTable", "DescribeTable", "GetRow", "BatchGetRow", "GetRange", "BulkExport"),
    *("ComputeSplitPointsBySize", "WiderowPartitions", "WiderowIndexes", "WiderowNodes"),
    *("ListTimeseriesTable", "DescribeTimeseriesTable", "GetTimeseriesData"),
    *("QueryTimeseriesMeta", "SplitTimeseriesScanTask", "ScanTimeseriesData"),
    "DescribeTimeseriesAnalyticalStore",
    *("ListSearchIndex", "DescribeSearchIndex", "Search", "ComputeSplits", "ParallelScan"),
    *("ListStream", "DescribeStream", "GetShardIterator", "GetStreamRecord"),
    *(f"tunnel/{name}" for name in ("list", "describe", "connect", "heartbeat", "shutdown")),
    *(f"tunnel/{name}" for name in ("getcheckpoint", "readrecords", "checkpoint")),
    *("tunnel/getrpo", "tunnel/getrpobyoffset"),
    *("DescribeDeliveryTask", "ListDeliveryTask", "SQLQuery"),
}
WRITE: Final = {
    *("PutRow", "UpdateRow", "DeleteRow", "BatchWriteRow", "BulkImport"),
    *("StartLocalTransaction", "CommitTransaction", "AbortTransaction"),
    *("PutTimeseriesData", "UpdateTimeseriesMeta", "DeleteTimeseriesMeta"),
}
MANAGE: Final = {
    *("CreateTable", "UpdateTable", "DeleteTable"),
    *("AddDefinedColumn", "DeleteDefinedColumn", "CreateIndex", "DropIndex"),
    *("tunnel/create", "tunnel/delete", "tunnel/schedule"),
    *("CreateDeliveryTask", "DeleteDeliveryTask"),
    *("CreateSearchIndex", "UpdateSearchIndex", "DeleteSearchIndex"),
    *("CreateTimeseriesTable", "UpdateTimeseriesTable", "DeleteTimeseriesTable"),
    *("CreateTimeseriesAnalyticalStore", "UpdateTimeseriesAnalyticalStore"),
    *("DeleteTimeseriesAnalyticalStore", "CreateTimeseriesLastpointIndex"),
    "DeleteTimeseriesLastpointIndex",
}


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Victim]:
    started = Victim(tmp_path)
    started.start()
    yield started
    started.stop()


def _share(attacks: Iterable[Attack]) -> list[Attack]:
    """As many of each family as this run takes of examples: the night all, others each n-th."""
    families: defaultdict[str, list[Attack]] = defaultdict(list)
    for attack in attacks:
        families[attack.family].append(attack)
    found: list[Attack] = []
    for family in families.values():
        taken = examples(len(family))
        found += (family[number * len(family) // taken] for number in range(taken))
    return found


def test_no_attack_is_accepted_finds_a_defect_changes_anything_or_is_told_a_secret(
    tmp_path: Path,
) -> None:
    victim = Victim(tmp_path)
    victim.start()
    try:
        report = hostile.run(victim, _share(hostile.attacks()))
    finally:
        victim.stop()
    assert report.attacks >= 1000
    assert len(report.families) >= 15
    assert report.accepted == []
    assert report.defects == []
    assert report.refused == report.attacks
    assert report.changed == 0
    # Logs at their most talkative, answers, metrics, the engine's own log, a backup.
    assert report.secrets == 0
    assert report.locked_out == 0  # those who may do what the table below says


def test_everyone_may_do_what_the_table_says_and_nothing_else() -> None:
    allowed: dict[str, set[str]] = {"read": set(), "write": set(), "manage": set()}
    for action, key, may in hostile.matrix():
        if may:
            allowed[key].add(action)
    assert allowed == {"read": READ, "write": WRITE, "manage": MANAGE}


# --- what would be found -------------------------------------------------------------------------


@pytest.mark.night
def test_an_accepted_attack_is_reported(victim: Victim) -> None:
    body = BODIES["PutRow"](hostile.TABLE)
    report = hostile.run(victim, [Attack("control", "signed", OWNER.request("PutRow", body))])
    assert report.accepted == ["control: signed"]
    assert report.changed == 1
    assert report.violations == 2


@pytest.mark.night
def test_an_answer_to_what_was_smuggled_in_is_reported(victim: Victim) -> None:
    refused = OWNER.request("GetRow", b"\xff")  # a frame that is sound: what follows is answered
    behind = OWNER.request("ListTable")
    report = hostile.run(victim, [Attack("control", "behind", refused + behind)])
    assert report.accepted == ["control: behind"]


@pytest.mark.night
@pytest.mark.parametrize("form", [CANARY, CANARY.encode().hex()])
def test_a_secret_that_shows_is_reported(victim: Victim, form: str) -> None:
    report = hostile.run(victim, [Attack("control", "told", OWNER.request(form))])
    assert report.secrets > 0  # the answer names the action that does not exist


# --- bombs ---------------------------------------------------------------------------------------


def _least(victim: Victim, request: bytes) -> hostile.Cost:
    """Of three tries: what others do on the machine makes one dearer, never cheaper."""
    tries = [hostile.cost_of(victim, request) for _ in range(3)]
    return hostile.Cost(
        tries[0].status,
        min(each.cpu_ms for each in tries),
        max(each.peak_mb for each in tries),
    )


def test_ten_gigabytes_cost_a_tenth_of_a_second_and_64_mb_at_most(victim: Victim) -> None:
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("needs /proc to see what a process costs")
    costs = {name: _least(victim, request) for name, request in hostile.bombs()}
    assert {name for name, cost in costs.items() if "5 MB" in name and cost.status == 400}
    for name, cost in costs.items():
        assert cost.status in {400, 413}, name
        assert cost.peak_mb <= hostile.BOMB_MB, name
        assert cost.cpu_ms <= hostile.BOMB_CPU_MS, name
