"""What every test may rely on."""

import gc
import os
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from tests.support.volume import PROFILES
from tools.evidence import VARIABLE

from widerow.cli.collector import collect_rarely

# Tests of the suites of the night leave no lines among those of the night itself.
os.environ.pop(VARIABLE, None)

# Images of containers forbid bytecode. Making it anew takes longer than to collect the tests.
sys.dont_write_bytecode = False

# What is collected lives as long as the run, and is more than what tests make: the collector of
# garbage, which walks all of it again and again, took a sixth of the processor.
gc.disable()

# The time of an example depends more on other work of the machine than on our code: see `bench/`.
# The quick profile draws the examples of a test from its name: what passed passes again. The night
# draws others each time.
for name, examples in PROFILES.items():
    settings.register_profile(
        name, deadline=None, max_examples=examples, derandomize=name == "quick"
    )
# Planted defects are to be caught, and nobody reads how: a failing example is not made smaller.
settings.register_profile(
    "teeth",
    settings.get_profile("night"),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
settings.load_profile("quick")

HERE: Final = Path(__file__).parent
SESSIONS: Final = (  # as the Makefile has it
    *("security", "package", "compat", "conformance"),
    *("crash", "deploy", "fuzz", "wire_limits"),
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of whole systems and of hostile requests, by their folder."""
    for item in items:
        if item.path.relative_to(HERE).parts[0] in SESSIONS:
            item.add_marker(pytest.mark.session)


def pytest_collection_finish() -> None:
    """From here on the collector of garbage looks at what tests make, and at nothing older.

    It does so as rarely as in a process that serves. Hypothesis makes its tables of Unicode before
    any test draws a text: that takes seconds, and the first one to do so may have a limit.
    """
    st.text().validate()
    gc.freeze()
    collect_rarely()
    gc.enable()
