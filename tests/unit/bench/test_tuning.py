"""Settings that are compared are settings that the engine runs with."""

import json
from pathlib import Path

import pytest
from bench import tuning

ROWS = tuning.GROUP_ROWS


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GROUPS", "GETS", "SCANS"):
        monkeypatch.setattr(tuning, name, 2)


def recorded(directory: Path, setting: str) -> str:
    """What the engine says it runs with, under one setting; every case is measured once."""
    bench = tuning.Bench(directory, setting, ROWS, bytes(10_000))
    bench.run()
    bench.close()
    assert all(len(figures) == 1 and figures[0] > 0 for figures in bench.figures.values())
    newest = max(directory.glob("OPTIONS-*[0-9]"), key=lambda path: int(path.name[8:]))
    lines = newest.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if str(directory) not in line)


@pytest.mark.parametrize("setting", [each for each in tuning.SETTINGS if each != tuning.AS_SET])
def test_every_setting_reaches_the_engine(setting: str, tmp_path: Path) -> None:
    usual = recorded(tmp_path / "a", tuning.AS_SET)
    assert recorded(tmp_path / "b", tuning.AS_SET) == usual
    assert recorded(tmp_path / "c", setting) != usual


def test_the_command_measures_what_is_asked_for_beside_ours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["--runs", "1", "--rows", str(ROWS), "--json", "--compressible", "blocks of 4 KB"]
    assert tuning.main(arguments) == 0
    measured = json.loads(capsys.readouterr().out)
    assert list(measured) == [tuning.AS_SET, "blocks of 4 KB"]
    assert all(set(figures) == set(tuning.CASES) for figures in measured.values())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["no such"], "no such setting: no such; there are "), (["--runs", "0"], "at least 1")],
)
def test_what_cannot_be_measured_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        tuning.main(arguments)
    assert said in capsys.readouterr().err
