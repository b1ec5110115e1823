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


def broken_contracts(project: Path) -> dict[str, str]:
    """The contracts that the package in `project`/src breaks, each with what is told of it."""
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
    broken = [name for name, verdict in verdicts.items() if verdict == "BROKEN"]
    assert (run.returncode == 0) == (not broken)
    parts = re.split(rf"^({'|'.join(broken)})\n-+$", run.stdout, flags=re.MULTILINE)[1:]
    told = dict(zip(parts[::2], parts[1::2], strict=True)) if broken else {}
    assert told.keys() == set(broken)
    return told


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    return tmp_path


def test_the_package_keeps_every_contract(project: Path) -> None:
    assert broken_contracts(project) == {}


PLANTED: dict[str, set[str]] = {
    "engine.engine -> socket": {PURE},
    "engine.tablestore.writes -> time": {PURE},
    "rows.stopwatch -> time": set(),
    "engine.timeseries.puts -> widerow.rows.stopwatch": {PURE},
    "engine.engine -> widerow.storage.memory": {DRIVERS, CONTRACT_ONLY},
    "engine.engine -> widerow.storage.opener": {CONTRACT_ONLY},
    "cli.planted -> widerow.storage.rocksdb": {DRIVERS},
    "wire.tablestore.envelope -> widerow.server": {LAYERS},
    "wire.tablestore.envelope -> os": {PURE},
    "auth.signing -> random": {PURE},
    "model.tablestore.row -> widerow.engine.plan": {LAYERS},
    "keys.encode -> widerow.rows.cells": {LAYERS},
    "server.planted -> widerow.testing": {LAYERS},
    "keydesign.key -> widerow.server": {LAYERS},
    "server.planted -> widerow.client.connection": {LAYERS},
    "server.planted -> jinja2": {PAGES},
    "engine.engine -> widerow.engine.tablestore.writes": {CORE},
    "engine.sweep.sweep -> widerow.engine.typed.form": {CORE},
    "engine.partitions.rules -> widerow.model.search.schema": {CORE},
    "engine.typed.planted -> widerow.engine.tablestore.select": {MODELS},
    "keys.encode -> widerow.keys.decode": set(),
    "keys.decode -> widerow.keys.encode": set(),
}
"""Imports that are forbidden, as they are told, and the contracts that each breaks."""


def test_every_planted_violation_is_told_under_its_contract(project: Path) -> None:
    package = project / "src" / "widerow"
    for planted in PLANTED:
        importer, imported = planted.split(" -> ")
        path = package / f"{importer.replace('.', '/')}.py"
        with path.open("a") as file:
            file.write(f"\nimport {imported}\n")
    (package / "misplaced").mkdir()
    (package / "misplaced" / "__init__.py").touch()
    told = broken_contracts(project)
    assert told.keys() == ALL
    assert "- widerow.misplaced" in told[LAYERS]
    assert "No cycles are allowed in widerow.keys." in told[ACYCLIC]
    for planted, contracts in PLANTED.items():
        for each in contracts:
            assert f"widerow.{planted}" in told[each], (planted, told[each])
