"""The tests have teeth: each planted defect is caught by the suite that it names (tools/teeth.py).

Slow for what it shows, so each suite is as small as it can be. `python -m tools.teeth` records it.
"""

import shutil
from pathlib import Path

import pytest
from tools.teeth import (
    ROOT,
    Defect,
    PatchMisfit,
    apply,
    copy_of_repository,
    defects,
    misfits,
    verdict,
)

DEFECTS = defects()
COMMANDS = sorted({defect.command for defect in DEFECTS})
PLANTED_MIN = 12

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None, reason="git is not installed, and patches need it"
)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_planted_defect_is_caught(defect: Defect) -> None:
    with copy_of_repository() as copy:
        apply(defect, copy)
        assert not verdict(defect.command, copy), f"nothing noticed: {defect.told}"


@pytest.mark.timeout(400)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_a_defect_nothing_is_caught(command: tuple[str, ...]) -> None:
    with copy_of_repository() as copy:
        assert verdict(command, copy)


def test_there_are_enough_defects_of_every_kind() -> None:
    assert len(DEFECTS) >= PLANTED_MIN
    assert len({defect.told for defect in DEFECTS}) == len(DEFECTS)


def test_a_suite_that_cannot_run_catches_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="could not run"):
        verdict(("tests/no_such_test.py",), tmp_path)


def test_a_patch_that_fits_no_more_is_told(tmp_path: Path) -> None:
    (tmp_path / "src").symlink_to(ROOT / "src" / "widerow" / "testing")
    with pytest.raises(PatchMisfit, match="fits no more"):
        apply(DEFECTS[0], tmp_path)
    with pytest.raises(PatchMisfit, match="fits no more"):
        apply(DEFECTS[0], tmp_path, "--check")


def test_a_defect_is_in_one_copy_only() -> None:
    """The files of copies are links to the same ones."""
    broken = Path("src", "widerow", "storage", "rocksdb.py")
    with copy_of_repository() as first, copy_of_repository() as second:
        planted = [defect for defect in DEFECTS if str(broken) in defect.patch.read_text()]
        apply(planted[0], first)
        assert (first / broken).read_bytes() != (second / broken).read_bytes()
        assert (second / broken).read_bytes() == (ROOT / broken).read_bytes()


def test_every_patch_fits_and_none_is_planted_by_looking() -> None:
    broken = ROOT / "src" / "widerow" / "storage" / "rocksdb.py"
    before = broken.read_bytes()
    assert misfits(DEFECTS) == []
    assert broken.read_bytes() == before
