"""Arrays and dictionaries are loaded with the first search index, not by those who have none."""

import subprocess
import sys

_PROGRAM = """
import sys
import widerow.cli.main, widerow.cli.serving, widerow.wire.dialects
from tests.unit.engine.search.tables import engine_of, make_index, make_table, search, write
from widerow.storage.opener import open_store
from tests.support.changes import put
from widerow.testing.clock import FakeClock, FakeEntropy

def heavy():
    light = {"widerow.search", "widerow.search.dates"}  # schemas are checked with it
    names = ("numpy", "jieba", "widerow.search")
    return len([each for each in sys.modules if each.startswith(names) and each not in light])

engine = engine_of(open_store("memory:"), FakeClock(), FakeEntropy(1))
make_table(engine)
write(engine, put("t", {"k": 1}, {"n": 1}))
engine.search.list("i", None), engine.search.statistics()
engine.search.work(), engine.search.gather(), engine.search.merge(), engine.search.write_down()
print(heavy())
make_index(engine)
search(engine)
print(heavy(), "jieba" in sys.modules)
"""


def test_an_engine_without_an_index_loads_no_arrays_and_no_dictionary() -> None:
    """The second figure shows that the first one would be seen (search §11.4)."""
    said = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, check=True)  # noqa: S603  # our own program
    before, after, dictionary = said.stdout.split()
    assert int(before) == 0
    assert int(after) > 0
    assert dictionary == b"False", "only texts in Chinese need it"
