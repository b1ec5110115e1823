"""Definition statements: CREATE TABLE, CREATE INDEX, SHOW, DESCRIBE and the like (ddl §1).

    from widerow import nosql
    from widerow.nosql import ddl

    with nosql.open("data") as store:
        ddl.run(store, "CREATE TABLE users (id LONG, name STRING, PRIMARY KEY(id))")

`run` runs a statement and `parse` only reads it; `statement_text` and `definition_text` write one.
Importing this package brings in the grammar library; the rest of `widerow.nosql` does without.
"""

from widerow.nosql.ddl.parse import parse
from widerow.nosql.ddl.result import StatementResult
from widerow.nosql.ddl.run import run
from widerow.nosql.ddl.text import definition_text, statement_text

__all__ = ["StatementResult", "definition_text", "parse", "run", "statement_text"]
