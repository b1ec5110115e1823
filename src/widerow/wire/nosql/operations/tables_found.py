"""The table that a request names."""

from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.errors import InvalidRequest, NotFound
from widerow.model.typed.names import in_namespace
from widerow.wire.nosql.rules import NosqlRule

__all__ = ["named_table"]


def named_table(engine: TypedEngine, name: str, namespace: str) -> TableForm:
    """The table of a name in any case, in a namespace unless it names one itself.

    Raises: `InvalidRequest` for no name, `NotFound`.
    """
    if not name.strip():
        raise InvalidRequest(NosqlRule.TABLE_NAME)
    form = engine.tables.get_qualified(in_namespace(name, namespace))
    if form is None:
        raise NotFound(NosqlRule.TABLE_NOT_FOUND, table=name[:300])
    return form
