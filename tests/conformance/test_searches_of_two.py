"""Two servers over one database, each with search indexes of its own, which are what the table is.

The model of `tests/unit/engine/search/test_search_model.py`, over the databases themselves: what
one engine wrote, the next search of either finds; both write, split, sweep and restart
(search §1.3).
"""

import pytest
from hypothesis import HealthCheck, Phase, settings
from tests import hbase
from tests.postgres import fresh_url
from tests.unit.engine.search.test_search_model import SharedSearchModel

from widerow.storage.interface import Store
from widerow.storage.opener import open_store

QUIETLY = settings(
    max_examples=4,
    stateful_step_count=12,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)


class SearchesOverPostgres(SharedSearchModel):
    """Over PostgreSQL."""

    def open(self) -> list[Store]:
        url = fresh_url()
        return [open_store(url) for _ in range(2)]


class SearchesOverHBase(SharedSearchModel):
    """Over HBase."""

    def open(self) -> list[Store]:
        url = hbase.fresh_url()
        return [open_store(url) for _ in range(2)]


TestSearchesOverPostgres = pytest.mark.timeout(300)(SearchesOverPostgres.TestCase)
TestSearchesOverPostgres.settings = QUIETLY
TestSearchesOverHBase = pytest.mark.night(
    pytest.mark.timeout(hbase.START_SECONDS)(SearchesOverHBase.TestCase)
)
TestSearchesOverHBase.settings = settings(QUIETLY, max_examples=2, stateful_step_count=8)
