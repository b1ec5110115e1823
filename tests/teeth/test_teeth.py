"""The tests have teeth: some planted defects are caught by the suite that each names.

All of them take long: `python -m tools.teeth` plants and records each, in `make night`.
"""

import shutil
from pathlib import Path

import pytest
from tools.teeth import (
    ROOT,
    PatchMisfit,
    apply,
    copy_of_repository,
    defects,
    misfits,
    verdict,
)

DEFECTS = {defect.name: defect for defect in defects()}
SAMPLE = ("version-order",)
PLANTED_MIN = 12

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None, reason="git is not installed, and patches need it"
)


@pytest.mark.timeout(400)
def test_defects_are_caught_and_without_them_nothing_is() -> None:
    for defect in map(DEFECTS.__getitem__, SAMPLE):
        with copy_of_repository() as copy:
            assert verdict(defect.command, copy), f"caught without a defect: {defect.told}"
            apply(defect, copy)
            assert not verdict(defect.command, copy), f"nothing noticed: {defect.told}"


def test_there_are_enough_defects_of_every_kind() -> None:
    assert len(DEFECTS) >= PLANTED_MIN
    assert len({defect.told for defect in DEFECTS.values()}) == len(DEFECTS)


def test_a_suite_that_cannot_run_catches_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="could not run"):
        verdict(("tests/no_such_test.py",), tmp_path)


def test_a_patch_that_fits_no_more_is_told(tmp_path: Path) -> None:
    (tmp_path / "src").symlink_to(ROOT / "src" / "widerow" / "testing")
    with pytest.raises(PatchMisfit, match="fits no more"):
        apply(DEFECTS["sync-off"], tmp_path)
    with pytest.raises(PatchMisfit, match="fits no more"):
        apply(DEFECTS["sync-off"], tmp_path, "--check")


def test_a_defect_is_in_one_copy_only_and_looking_plants_none() -> None:
    """The files of copies are links to the same ones."""
    broken = Path("src", "widerow", "storage", "rocksdb.py")
    before = (ROOT / broken).read_bytes()
    with copy_of_repository() as first, copy_of_repository() as second:
        apply(DEFECTS["sync-off"], first)
        assert (first / broken).read_bytes() != (second / broken).read_bytes()
        assert (second / broken).read_bytes() == before
    assert misfits([DEFECTS["sync-off"]]) == []
    assert (ROOT / broken).read_bytes() == before
