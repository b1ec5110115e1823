"""Every test of results runs over each implementation of the index."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.search.results.asking import BUILDERS, Index, Rows

from widerow.model.search.schema import SearchSchema

Make = Callable[[SearchSchema, Rows], Index]


@pytest.fixture(params=BUILDERS)
def make(request: pytest.FixtureRequest) -> Make:
    """Builds an index of rows."""
    build: Any = BUILDERS[request.param]
    return lambda schema, rows: Index(build, schema, rows)
