"""The actions of delivery tasks by their names; imported when one of them is first asked for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from widerow.wire.tablestore.operations.delivery import (
    create_delivery_task,
    delete_delivery_task,
    describe_delivery_task,
    list_delivery_task,
)

__all__ = ["DELIVERY_ACTIONS"]

DELIVERY_ACTIONS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "CreateDeliveryTask": create_delivery_task,
        "DeleteDeliveryTask": delete_delivery_task,
        "DescribeDeliveryTask": describe_delivery_task,
        "ListDeliveryTask": list_delivery_task,
    }
)
"""Each has `decode`, `call` and `encode`, as every action."""
