"""`execute '<statement>'`: definition statements (cli §6)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command
from widerow.cli.kv.faults import CommandFault
from widerow.cli.kv.progress import counting
from widerow.cli.kv.session import Session

__all__ = ["EXECUTE"]


def _execute(session: Session, given: Arguments) -> str | None:
    (statement,) = given.words
    if not statement.strip():
        raise CommandFault("Empty statement")
    from widerow.nosql.ddl import run  # noqa: PLC0415  # the grammar is loaded where it is needed

    with counting(session, "rows indexed") as told:
        result = run(session.store, statement, namespace=session.namespace, progress=told)
    session.show(result.text.splitlines())
    return None


EXECUTE: Final = Command(
    name="execute",
    shortest=4,
    description=(
        "Runs a definition statement: CREATE, ALTER and DROP TABLE, CREATE and DROP INDEX,\n"
        "CREATE and DROP NAMESPACE, SHOW, DESCRIBE. Quote it. Queries are not supported."
    ),
    run=_execute,
    takes=(1, 1),
    words="<statement>",
)
