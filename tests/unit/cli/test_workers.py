"""How many processes `widerow serve` starts (docs/operating/cluster.md, Workers)."""

from typing import Literal

import pytest

from widerow.cli.workers import workers_of
from widerow.server.settings import Settings, SettingsInvalid

SHARED = "postgresql://widerow@db/widerow"


@pytest.mark.parametrize(("asked", "count"), [(1, 1), (2, 2), (64, 64), ("auto", 6)], ids=str)
def test_a_number_is_taken_and_auto_is_that_of_processors(
    asked: int | Literal["auto"], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widerow.cli.workers.processors_granted", lambda: 6)
    assert workers_of(Settings(store=SHARED, workers=asked)) == count


@pytest.mark.parametrize("asked", [2, "auto"])
@pytest.mark.parametrize("store", ["memory:", "rocksdb:data", "data"])
def test_an_embedded_store_is_refused_whatever_the_machine_has(
    asked: int | Literal["auto"], store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widerow.cli.workers.processors_granted", lambda: 1)
    assert workers_of(Settings(store=store)) == 1
    with pytest.raises(SettingsInvalid, match="by one process alone; leave workers out, or name"):
        workers_of(Settings(store=store, workers=asked))
