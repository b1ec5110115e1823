"""What a start costs (design: first PutRow within half a second, at most 100 MiB).

Time is measured by `make bench`, where nobody else uses the machine. Here: memory, which does not
depend on others, and that what costs most of both is not loaded.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def run(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  # our own programs
        [sys.executable, *arguments], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout


def test_a_start_is_measured_and_stays_small() -> None:
    document: dict[str, Any] = json.loads(run("-m", "bench.startup", "--runs", "1", "--json"))
    (start,) = document["runs"]
    assert 0 < start["ready_seconds"] < start["written_seconds"]
    assert 0 < start["processor_seconds"] < 60
    assert 10 < start["resident_mebibytes"] <= document["goal"]["resident_mebibytes"]
    assert document["met"]["resident_mebibytes"] is True


def test_serving_loads_nothing_it_does_not_need() -> None:
    """Tables on a terminal, test tools and SDKs would cost half of the time that a start has."""
    program = "import sys, widerow.cli.main, widerow.cli.serving; print(*sys.modules)"
    modules = run("-c", program).split()
    assert "widerow.wire.nosql.dialect" in modules
    assert "widerow.wire.nosql.sql.run" not in modules  # 60 modules, with the first statement
    loaded = {name.partition(".")[0] for name in modules}
    assert "httptools" in loaded
    others = {"rich", "pytest", "hypothesis", "tablestore", "grpc", "multiprocessing"}
    assert loaded & {*others, "pydantic", "jinja2", "numpy"} == set()
