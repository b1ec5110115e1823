"""Every target holds over its seeds and its corpus; `make night` looks for more with a fuzzer."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.prepared import Prepared, ask
from tests.fuzz.run import FOLDER, TARGETS, corpus, load

from widerow.engine.check import check_store
from widerow.errors import NotFound
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.operations.table import OPERATIONS


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_breaks_nothing(name: str) -> None:
    check, seeds = load(name)
    inputs = [*seeds, *corpus(name)]
    assert len(seeds) > 0
    for each in inputs:
        check(each)


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_cut_and_spliced_break_nothing(name: str) -> None:
    """What a fuzzer would try first, where there is none."""
    check, seeds = load(name)
    for number, seed in enumerate(seeds):
        for at in range(0, min(len(seed), 200), 7):
            check(seed[:at])
            check(seed[:at] + seeds[(number + at) % len(seeds)][at:])
            check(seed[:at] + bytes((at % 256,)) + seed[at + 1 :])


def test_prepared_requests_are_answered_by_any_engine_that_is_prepared() -> None:
    """What the fuzzer spoils is right before: one of them begins a transaction again, too late."""
    engine, refused = Prepared().engine, []
    for name, body in Prepared().requests():
        try:
            ask(engine, OPERATIONS[name], body)
        except NotFound as error:
            refused.append((name, error.rule))
    assert refused == [("AbortTransaction", TablestoreRule.TRANSACTION_ENDED)]
    assert check_store(engine.core.store) == []


def test_every_target_says_its_invariant_first() -> None:
    for name in TARGETS:
        first = (FOLDER / f"{name}.py").read_text().splitlines()[0]
        assert first.startswith('"""')
        assert len(first) > 40, name


def test_every_corpus_belongs_to_a_target() -> None:
    assert {file.stem for file in (FOLDER / "corpus").glob("*")} <= set(TARGETS)


@pytest.mark.night
@pytest.mark.timeout(180)  # loading everything instrumented takes most of it
def test_a_second_of_fuzzing_finds_nothing() -> None:
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed: it has wheels for Linux on x86_64 only")
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-m", "tests.fuzz.run", "--seconds", "1", TARGETS[0]],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert '"volume": 0' not in done.stdout
