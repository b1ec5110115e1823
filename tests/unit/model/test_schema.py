"""Tables know their auto-increment column (semantics §4.7)."""

import pytest

from widerow.model.tablestore.schema import (
    KeyColumn,
    Table,
    TableOptions,
    Throughput,
    ThroughputState,
)
from widerow.model.values import KeyType

PARTITION = KeyColumn("p", KeyType.STRING)
PLAIN = KeyColumn("k", KeyType.INTEGER)
COUNTED = KeyColumn("n", KeyType.INTEGER, auto_increment=True)


@pytest.mark.parametrize(
    ("columns", "index"),
    [
        ((PARTITION,), None),
        ((PARTITION, PLAIN), None),
        ((PARTITION, COUNTED), 1),
        ((PARTITION, PLAIN, COUNTED), 2),
        ((PARTITION, COUNTED, PLAIN), 1),
    ],
)
def test_the_auto_increment_column_is_found_once(
    columns: tuple[KeyColumn, ...], index: int | None
) -> None:
    table = Table(
        instance="i",
        name="t",
        id=1,
        key_columns=columns,
        defined_columns=(),
        options=TableOptions(time_to_live=-1, max_versions=1, max_version_offset=86_400),
        throughput=ThroughputState(Throughput(0, 0), last_increase=0),
        created_us=0,
    )
    assert table.auto_increment == index
