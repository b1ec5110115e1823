"""`make near` runs what changed and what depends on it, the nearest first, for a bounded time."""

import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from tools import near

TEXTS = {
    "Makefile": "SESSIONS := tests/compat tests/crash\n",
    "src/widerow/rows/record.py": "",
    "src/widerow/engine/writes.py": "from widerow.rows.record import encode\n",
    "src/widerow/cli/table.py": '_LATER = "widerow.engine.writes"\n',
    "tests/unit/rows/test_record.py": "from widerow.rows import (\n    record,\n)\n",
    "tests/unit/rows/test_words.py": "import widerow.engine.writes\n",
    "tests/unit/engine/test_writes.py": "",
    "tests/unit/cli/test_table.py": "from widerow.cli import table\n",
    "tests/compat/test_rows.py": "from widerow.rows import record\n",
    "tests/pages/test_examples.py": 'ELSEWHERE = {"docs/guide/proxy.md": "tests/unit/x.py"}\n',
    "tests/golden/test_formats.py": 'PAGE = "streams.md"\n',
    "tests/golden/conftest.py": "",
    "docs/guide/streams.md": "```sh\nwiderow\n```\n",
    "docs/guide/proxy.md": "```sh\nwiderow\n```\n",
}
STREAMS = "tests/pages/test_examples.py::test_the_examples_of_a_page_run[docs/guide/streams.md]"


def test_tests_are_as_far_as_there_are_imports_between() -> None:
    """By whatever means it is imported; sessions count, too."""
    assert near.distances(["src/widerow/rows/record.py"], TEXTS) == {
        "tests/unit/rows/test_record.py": 1,
        "tests/compat/test_rows.py": 1,
        "tests/unit/rows/test_words.py": 2,
        "tests/unit/cli/test_table.py": 3,
    }


def test_a_test_of_a_module_by_its_place_is_near_though_it_imports_nothing() -> None:
    found = near.distances(["src/widerow/engine/writes.py"], TEXTS)
    assert found["tests/unit/engine/test_writes.py"] == 1


def test_a_conftest_is_near_to_all_below_it() -> None:
    assert near.distances(["tests/golden/conftest.py"], TEXTS) == {
        "tests/golden/test_formats.py": 1
    }


def test_the_same_package_comes_first_and_sessions_only_if_they_changed() -> None:
    changed = ["src/widerow/rows/record.py"]
    tests = [f"tests/unit/{name}.py" for name in ("rows/test_record", "rows/test_words")]
    assert near.ordered(changed, TEXTS) == [*tests, "tests/unit/cli/test_table.py"]
    assert near.ordered(["tests/compat/test_rows.py"], TEXTS) == ["tests/compat/test_rows.py"]


@pytest.mark.parametrize(
    ("page", "tests"),
    [
        ("docs/guide/streams.md", [STREAMS, "tests/golden/test_formats.py"]),
        ("docs/guide/proxy.md", ["tests/pages/test_examples.py"]),  # which names it
    ],
)
def test_a_page_is_near_to_its_examples_and_to_tests_that_name_it(
    page: str, tests: list[str]
) -> None:
    assert near.ordered([page], TEXTS) == tests


def test_the_examples_of_a_page_can_be_run_alone() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--collect-only", STREAMS]
    done = subprocess.run(command, cwd=near.ROOT, capture_output=True, text=True, check=False)  # noqa: S603  # our own
    assert "1 test collected" in done.stdout


def git(folder: Path, *words: str) -> None:
    person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = ["git", *person, *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603  # in a folder of the test


def test_changed_is_what_a_branch_has_and_what_is_not_committed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-b", "main")
    for name in ("kept", "edited", "removed", "committed"):
        (tmp_path / name).write_text("before")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    assert near.changed_files(tmp_path) == []
    git(tmp_path, "checkout", "-b", "work")
    (tmp_path / "committed").write_text("after")
    git(tmp_path, "commit", "-am", "second")
    (tmp_path / "edited").write_text("after")
    (tmp_path / "removed").unlink()
    (tmp_path / "new").write_text("")
    assert near.changed_files(tmp_path) == ["committed", "edited", "new"]


@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_after_the_deadline_no_test_begins(outcome: Literal["passed", "failed"]) -> None:
    """What had failed by then fails the run."""
    deadline = near.Deadline(0)
    report = pytest.TestReport("a", ("a", None, "a"), {}, outcome, None, "call")
    deadline.pytest_runtest_logreport(report)
    deadline.pytest_xdist_node_collection_finished(["a", "b", "c"])
    with pytest.raises(pytest.exit.Exception, match="2 tests were not run") as ended:
        deadline.pytest_runtest_logfinish("a")
    assert ended.value.returncode == (outcome == "failed")
    later = near.Deadline(1000)
    later.pytest_xdist_node_collection_finished(["a", "b"])
    later.pytest_runtest_logfinish("a")


def test_a_run_that_ends_with_its_last_test_is_whole() -> None:
    deadline = near.Deadline(0)
    deadline.pytest_xdist_node_collection_finished(["a"])
    deadline.pytest_runtest_logfinish("a")
