"""A backup of records restores to what it was made of, from and to any store.

That is the law (docs/operating/backup.md), for tables of all models, whatever waits to be moved
between shards when the backup is made.
"""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import example, given, settings
from tests.support.volume import examples
from tests.unit.backups.filled import Filled, backed_up, content, restored
from tests.unit.backups.stores import CHANGES, KINDS, QUICK, STORES

from widerow.engine.check import check_store
from widerow.storage.interface import Store

EVERYTHING: Final = [
    *[("row", n) for n in range(6)],
    *[(kind, 1) for kind in ("wide", "count", "user", "note", "point", "split", "settle")],
    *[("row", n) for n in range(3, 9)],
    *[(kind, 2) for kind in ("no_row", "count", "user", "point", "consume", "split")],
]


def check(source: Store, target: Store, folder: Path, changes: list[tuple[str, int]]) -> None:
    filled = Filled(source)
    for kind, number in changes:
        filled.change(kind, number)
    backup = backed_up(source, folder / "backup")
    assert backup.facts is not None
    assert backup.facts.one_moment == source.capabilities.shows_one_moment
    assert restored(target, folder / "backup") == []
    assert check_store(target) == []
    for each in (filled, Filled.of(target)):
        each.settle()  # what was dropped before the backup is removed in both
    assert content(target) == content(source)


@given(CHANGES, QUICK, QUICK)
@example(EVERYTHING, "strict", "memory")
@example(EVERYTHING, "memory", "strict")
@example(EVERYTHING, "remote", "remote")
@settings(max_examples=examples(60), deadline=None)
def test_a_restored_store_has_what_was_backed_up(
    changes: list[tuple[str, int]], source: str, target: str
) -> None:
    with TemporaryDirectory() as name, ExitStack() as opened:
        folder = Path(name)
        stores = [
            opened.enter_context(STORES[kind](folder / at))
            for at, kind in (("source", source), ("target", target))
        ]
        check(stores[0], stores[1], folder, changes)


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_moves_to_another_kind_and_back(kind: str, tmp_path: Path) -> None:
    with STORES["rocksdb"](tmp_path / "a") as first, STORES[kind](tmp_path / "b") as second:
        check(first, second, tmp_path, EVERYTHING)
        moved = Filled.of(second)
        for each, number in EVERYTHING:
            moved.change(each, number)
        backed_up(second, tmp_path / "back")
        with STORES["rocksdb"](tmp_path / "c") as third:
            assert restored(third, tmp_path / "back") == []
            moved.settle()
            assert content(third) == content(second)
