"""What every test may rely on."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st

# How long one example takes says more of the machine's other work than of ours; `bench/` measures.
settings.register_profile("widerow", deadline=None)
settings.load_profile("widerow")


@pytest.fixture(scope="session", autouse=True)
def unicode_tables() -> None:
    """Hypothesis's tables of Unicode are there before any test draws a text.

    It makes them with the first text in a folder, which takes a second or more and would count as
    the time of whichever test comes first: more than its own limit, on a machine that is busy.
    """
    st.text().validate()
