"""Definition statements: CREATE TABLE, CREATE INDEX, SHOW, DESCRIBE and the like (ddl §1).

`run` runs a statement and `parse` only reads it; `statement_text` and `definition_text` write one.
Importing this package loads `lark`, the grammar library, which nothing else in widerow imports.
"""

from widerow.engine.typed.ddl.parse import parse
from widerow.engine.typed.ddl.result import StatementResult
from widerow.engine.typed.ddl.run import run
from widerow.engine.typed.ddl.text import definition_text, statement_text

__all__ = ["StatementResult", "definition_text", "parse", "run", "statement_text"]
