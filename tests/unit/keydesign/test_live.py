"""What is said of a key in use, by the statistics that a server keeps of its load."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from widerow.engine.partitions.rules import REMEDIES, Report, Thresholds, decide
from widerow.engine.partitions.table_load import TableLoad
from widerow.keydesign.advisor import GIGABYTE, Verdict
from widerow.keydesign.live import LiveFinding, judge_live
from widerow.keydesign.script import recorded_script
from widerow.keydesign.sketch import mixed
from widerow.keys.encode import encode_key_value


def document(key: Callable[[int], int], *, rate: int = 40, minutes: int = 20) -> dict[str, Any]:
    """What `widerow partitions --history --json` says after so much load under the rules."""
    thresholds = Thresholds(split_units=1000)
    load = TableLoad((), 0.0, thresholds)
    reports: list[Report] = []
    for second in range(minutes * 60):
        for number in range(second * rate, (second + 1) * rate):
            load.note(encode_key_value(key(number)), 0, 4000 // rate, 1, 1000)
        load.tick(second + 1.0)
        decided = decide(load.facts(), thresholds)
        reports = [each for each in decided if isinstance(each, Report)]
        for each in decided:
            load.apply(each)
    return described(load, reports)


def described(load: TableLoad, reports: Sequence[Report] = ()) -> dict[str, Any]:
    facts = load.facts()
    whole = sum(each.rate for each in facts)
    return {
        "instance": "i",
        "table": "t",
        "key": {"name": "k", "type": "INTEGER"},
        "partitions": [
            {
                "bytes": each.size,
                "share": each.rate / whole if whole else 0.0,
                "append_share": each.append_share,
                "top_keys": [{"key": top.hex(), "share": share} for top, share in each.top],
            }
            for each in facts
        ],
        "reports": [
            {
                "reason": each.reason.value,
                "key": each.key.hex(),
                "words": each.words,
                "remedy": REMEDIES[each.reason],
            }
            for each in reports
        ],
        "history": [
            {
                "start_s": each.start_s,
                "seconds": each.seconds,
                "partitions": [],
                "bins": [[at.hex(), units] for at, units in each.bins],
            }
            for each in load.intervals
        ],
    }


def judged(key: Callable[[int], int], **more: int) -> LiveFinding:
    return judge_live(document(key, **more), 10 * GIGABYTE)


def test_an_even_load_is_good() -> None:
    found = judged(lambda number: mixed(number) % 5000)
    assert found.verdict is Verdict.GOOD, found.reason
    assert found.partitions > 2
    assert found.units == pytest.approx(4000 * 1200, rel=0.02)
    assert found.seconds == pytest.approx(1200, abs=20)
    assert found.reports == ()


def test_a_growing_key_is_bad_and_the_cure_is_a_hash() -> None:
    found = judged(lambda number: number)
    assert found.verdict is Verdict.BAD
    assert "hash in front" in found.reason
    assert any(words.startswith("keys-grow") for words in found.reports)


def test_one_hot_value_is_bad_and_named() -> None:
    found = judged(lambda number: 7 if number % 3 else mixed(number) % 5000)
    assert found.verdict is Verdict.BAD
    assert found.busiest == encode_key_value(7).hex()
    assert found.busiest in found.reason
    assert found.top_share == pytest.approx(2 / 3, abs=0.1)


def test_little_load_says_nothing_and_what_is_needed() -> None:
    found = judge_live({**document(lambda number: number, minutes=1), "history": []}, GIGABYTE)
    assert found.verdict is Verdict.UNCLEAR
    assert "0 capacity units in 0 seconds say too little: at least 8 stretches" in found.reason
    assert "512 units each, and there are 0" in found.reason


def random_key(number: int) -> str:
    return f"{mixed(number):016x}"


@pytest.mark.parametrize("seconds", [1, 10, 30, 60, 120, 300, 900])
def test_a_perfect_key_is_not_blamed_for_a_short_record_or_its_batches(seconds: int) -> None:
    """60 batches of 200 random keys in the first second, then one in each second."""
    load, number = TableLoad((), 0.0), 0
    for second in range(seconds):
        for _ in range(60 if second == 0 else 1):
            for key in sorted(random_key(each) for each in range(number, number + 200)):
                load.note(encode_key_value(key), 0, 1, 1, 100)
            number += 200
        load.tick(second + 1.0)
    for second in range(seconds, seconds + 10):  # until the interval has ended
        load.tick(second + 1.0)
    found = judge_live(described(load), 10 * GIGABYTE)
    assert found.verdict in {Verdict.UNCLEAR, Verdict.GOOD}, found.reason
    assert (found.verdict is Verdict.GOOD) == (seconds >= 300), found.reason


def test_one_batch_of_one_value_does_not_make_a_key_bad() -> None:
    load = TableLoad((), 0.0)
    for second in range(1200):
        for number in range(20):
            load.note(encode_key_value(random_key(20 * second + number)), 0, 1, 1, 100)
        if second == 1190:
            load.note(encode_key_value("one"), 0, 200_000, 1, 100)
        load.tick(second + 1.0)
    found = judge_live(described(load), 10 * GIGABYTE)
    assert found.top_share > 1 / 2
    assert found.verdict is not Verdict.BAD, found.reason


def test_a_finding_is_plain_data() -> None:
    told = judged(lambda number: mixed(number) % 5000, minutes=2).document()
    assert told["table"] == "i/t"
    assert told["verdict"] in {each.value for each in Verdict}


def test_what_was_recorded_can_be_replayed() -> None:
    history = document(lambda number: mixed(number) % 5000, minutes=2)["history"]
    script = recorded_script(history)
    assert script.seconds == pytest.approx(120, abs=10)
    assert sum(load.write_units for load in script.loads) == pytest.approx(480_000, rel=0.1)
    assert len(script.pieces) > 8
