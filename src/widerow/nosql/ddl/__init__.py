"""Definition statements: CREATE TABLE, CREATE INDEX, SHOW, DESCRIBE and the like (ddl §1).

`parse` reads a statement, `statement_text` and `definition_text` write one. Importing this package
brings in the grammar library; the rest of `widerow.nosql` does without.
"""

from widerow.nosql.ddl.parse import parse
from widerow.nosql.ddl.text import definition_text, statement_text

__all__ = ["definition_text", "parse", "statement_text"]
