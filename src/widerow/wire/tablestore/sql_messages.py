"""The messages of SQLQuery, as classes by their names (`sql_messages.pyi` lists them).

Made of `sql.proto` as those of `messages.py` are of theirs, and imported with the first statement.
"""

from pathlib import Path

from widerow.descriptor_sets import load_messages

globals().update(load_messages(Path(__file__).with_name("sql_messages.binpb")))
