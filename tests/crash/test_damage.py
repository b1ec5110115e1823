"""Damaged files are refused, or answered with errors, or do no harm: no answer is wrong.

The short form of `python -m tools.trust damage`, and the control that shows that it can fail.
"""

import os
from pathlib import Path

import pytest
from tools.crash.damage import Damage, Report, Template, damages, make_template, try_damage

from widerow.storage import rocksdb_engine

pytestmark = pytest.mark.timeout(300)  # seconds, on a machine that others load as well


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """A store whose server was killed, so that its last writes are in the log alone."""
    return make_template(tmp_path_factory.mktemp("killed"), killed=True, seed=1)


def test_no_answer_of_a_damaged_store_is_wrong(template: Template, tmp_path: Path) -> None:
    report = Report()
    for damage in damages(template, each=1, seed=1):
        try_damage(template, damage, tmp_path, report)
    assert report.wrong == []
    assert report.tried > 40
    assert min(report.refused, report.errors, report.right) > 0


def test_a_store_that_takes_a_short_log_for_a_torn_one_is_caught(
    template: Template, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rocksdb_engine, "read_note", lambda _: None)
    # An older one may still be there: the kill came before the engine had removed it.
    logs = [file for file in template.files if file.suffix == ".log" and file.stat().st_size]
    log = max(logs, key=lambda file: file.name)
    half = log.stat().st_size // 2
    cut = Damage("truncate", log.name, "half", lambda place: os.truncate(place / log.name, half))
    report = Report()
    try_damage(template, cut, tmp_path, report)
    assert len(report.wrong) == 1
