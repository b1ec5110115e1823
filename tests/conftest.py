"""What every test may rely on."""

import sys

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from tests.support.volume import PROFILES

# Images of containers forbid bytecode. Making it anew takes longer than to collect the tests.
sys.dont_write_bytecode = False

# How long one example takes says more of the machine's other work than of ours; `bench/` measures.
for name, examples in PROFILES.items():
    settings.register_profile(name, deadline=None, max_examples=examples)
settings.load_profile("quick")


@pytest.fixture(scope="session", autouse=True)
def unicode_tables() -> None:
    """Hypothesis's tables of Unicode are there before any test draws a text.

    It makes them with the first text in a folder, which takes a second or more and would count as
    the time of whichever test comes first: more than its own limit, on a machine that is busy.
    """
    st.text().validate()
