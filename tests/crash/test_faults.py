"""Calls that fail: the server answers with an error or does without them, and loses nothing.

The short form of `python -m tools.trust faults`, which lets every call of every kind fail.
"""

from pathlib import Path

import pytest
from tools.crash.faults import Call, Load, Report, make_base, try_fault, why_not

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "strace is here"),
    pytest.mark.timeout(300),  # seconds, on a machine that others load as well
]

SYNCS = [Call("fdatasync", error, number) for error in ("EIO", "ENOSPC") for number in (1, 5, 15)]
WRITES = [Call("write", error, number) for error in ("EIO", "EDQUOT") for number in (2, 9, 15)]
OPENINGS = [
    *(Call("openat", "EMFILE", number) for number in (1, 5, 9, 14, 20)),
    *(Call("read", "EIO", number) for number in (1, 3, 6, 10)),
    *(Call("pread64", "EIO", number) for number in (1, 4)),
    *(Call("fsync", "EIO", number) for number in (1, 3)),
]
OTHERS = [
    *(Call("pwrite64", "ENOSPC", number) for number in (1, 9)),
    *(Call(name, "EIO", 1) for name in ("ftruncate", "rename", "unlink")),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_base(tmp_path_factory.mktemp("base"))


SAMPLE = [Call("fdatasync", "EIO", 1), Call("write", "EIO", 2), Call("openat", "EMFILE", 9)]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(call, id=str(call), marks=[] if call in SAMPLE else pytest.mark.night)
        for call in [*SYNCS, *WRITES, *OPENINGS, *OTHERS]
    ],
)
def test_a_failing_call_is_never_a_silent_loss(call: Call, base: Path, tmp_path: Path) -> None:
    report = Report()
    assert try_fault(base, tmp_path, call, report), "there is such a call"
    assert report.wrong == []
    assert report.tried == 1


def test_a_server_that_ignores_a_failed_sync_is_caught(base: Path, tmp_path: Path) -> None:
    report = Report()
    load = Load(clients=1, requests=1, variant="sync-error-ignored", logs_only=True)
    assert try_fault(base, tmp_path, Call("fdatasync", "EIO", 1), report, load)
    assert [each for each in report.wrong if "nobody was told" in each]
