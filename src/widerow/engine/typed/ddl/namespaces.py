"""CREATE NAMESPACE, DROP NAMESPACE (ddl §1)."""

from widerow.engine.typed.ddl.faults import failed
from widerow.engine.typed.ddl.result import DONE, NOT_REQUIRED, Context, StatementResult
from widerow.engine.typed.ddl.statements import CreateNamespaceStatement, DropNamespaceStatement
from widerow.errors import Conflict, InvalidRequest, NotFound

__all__ = ["run_create_namespace", "run_drop_namespace"]


def run_create_namespace(context: Context, statement: CreateNamespaceStatement) -> StatementResult:
    """CREATE NAMESPACE. Raises `Conflict`, `InvalidRequest` for a name that is none."""
    name = statement.name
    try:
        created = context.schema.create_namespace(name, if_not_exists=statement.if_not_exists)
    except (Conflict, InvalidRequest) as error:
        raise failed("CREATE NAMESPACE", f"namespace '{name}'", error) from error
    return DONE if created else NOT_REQUIRED


def run_drop_namespace(context: Context, statement: DropNamespaceStatement) -> StatementResult:
    """DROP NAMESPACE. Raises `NotFound`, and `Conflict` while it has tables."""
    try:
        dropped = context.schema.drop_namespace(
            statement.name, if_exists=statement.if_exists, cascade=statement.cascade
        )
    except (NotFound, Conflict, InvalidRequest) as error:
        raise failed("DROP NAMESPACE", f"namespace '{statement.name}'", error) from error
    return DONE if dropped else NOT_REQUIRED
