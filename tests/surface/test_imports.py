"""The direction of imports holds, and the contracts notice when it does not."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
VERDICT = re.compile(r"^(?P<name>\S.*) (?P<verdict>KEPT|BROKEN)\b", re.MULTILINE)

LAYERS = "layers point downwards only"
PURE = "pure packages do no input or output and read no clock"
DRIVERS = "only the opener knows the drivers"
CONTRACT_ONLY = "the engine knows the storage contract only"
CORE = "the core of the engine knows no table model"
MODELS = "table models do not know each other"
ACYCLIC = "no cycles among siblings"
PAGES = "only the console makes pages"
ALL = {LAYERS, PURE, DRIVERS, CONTRACT_ONLY, CORE, MODELS, ACYCLIC, PAGES}


def broken_contracts(project: Path) -> set[str]:
    """The contracts that the package in `project`/src breaks."""
    run = subprocess.run(  # noqa: S603  # our own interpreter and text
        [sys.executable, "-c", LINT, "--no-logo", "--no-cache", "--config", "../pyproject.toml"],
        cwd=project / "src",
        env={**os.environ, "PYTHONPATH": str(project / "src"), "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    verdicts = {found["name"]: found["verdict"] for found in VERDICT.finditer(run.stdout)}
    assert verdicts.keys() == ALL, run.stdout + run.stderr
    broken = {name for name, verdict in verdicts.items() if verdict == "BROKEN"}
    assert (run.returncode == 0) == (not broken)
    return broken


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    return tmp_path


def test_the_package_keeps_every_contract(project: Path) -> None:
    assert broken_contracts(project) == set()


PLANTED = {
    "engine does input and output": ({"engine/engine.py": "import socket"}, {PURE}),
    "engine reads a clock": ({"engine/tablestore/writes.py": "from time import time"}, {PURE}),
    "engine reads a clock through a neighbour": (
        {
            "rows/stopwatch.py": "import time",
            "engine/tablestore/writes.py": "import widerow.rows.stopwatch",
        },
        {PURE},
    ),
    "engine knows a driver": (
        {"engine/engine.py": "import widerow.storage.memory"},
        {DRIVERS, CONTRACT_ONLY},
    ),
    "engine opens a store": (
        {"engine/engine.py": "from widerow.storage import opener"},
        {CONTRACT_ONLY},
    ),
    "command line knows a driver": (
        {"cli/planted.py": "from widerow.storage.rocksdb import *"},
        {DRIVERS},
    ),
    "wire knows the server": ({"wire/tablestore/envelope.py": "import widerow.server"}, {LAYERS}),
    "wire reads a file": ({"wire/tablestore/envelope.py": "import os"}, {PURE}),
    "identity knows chance": ({"auth/signing.py": "import random"}, {PURE}),
    "model knows the engine": ({"model/tablestore/row.py": "import widerow.engine.plan"}, {LAYERS}),
    "keys know rows": ({"keys/encode.py": "import widerow.rows.cells"}, {LAYERS}),
    "product knows the tests' tools": ({"server/planted.py": "import widerow.testing"}, {LAYERS}),
    "key design knows the server": ({"keydesign/key.py": "import widerow.server"}, {LAYERS}),
    "the server knows clients": (
        {"server/planted.py": "import widerow.client.connection"},
        {LAYERS},
    ),
    "the server makes a page": ({"server/planted.py": "import jinja2"}, {PAGES}),
    "a package without a layer": ({"misplaced/__init__.py": ""}, {LAYERS}),
    "the core knows Tablestore": (
        {"engine/engine.py": "import widerow.engine.tablestore.writes"},
        {CORE},
    ),
    "the core knows typed tables": (
        {"engine/sweep/sweep.py": "import widerow.engine.typed.form"},
        {CORE},
    ),
    "the core knows search indexes": (
        {"engine/partitions/rules.py": "import widerow.model.search.schema"},
        {CORE},
    ),
    "one table model knows another": (
        {"engine/typed/planted.py": "import widerow.engine.tablestore.select"},
        {MODELS},
    ),
    "modules in a circle": (
        {
            "keys/encode.py": "import widerow.keys.decode",
            "keys/decode.py": "import widerow.keys.encode",
        },
        {ACYCLIC},
    ),
}


@pytest.mark.parametrize("violation", PLANTED)
def test_a_planted_violation_breaks_its_contract(project: Path, violation: str) -> None:
    files, contracts = PLANTED[violation]
    for name, line in files.items():
        path = project / "src" / "widerow" / name
        path.parent.mkdir(exist_ok=True)
        old = path.read_text() if path.exists() else ""
        path.write_text(f"{old}\n{line}\n")
    assert broken_contracts(project) >= contracts
