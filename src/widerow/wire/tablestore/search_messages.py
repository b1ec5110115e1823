"""The messages of search indexes, as classes by their names (`search_messages.pyi` lists them).

Made of `search.proto` as those of `messages.py` are of theirs, and imported when one of the actions
is first asked for.
"""

from pathlib import Path

from widerow.descriptor_sets import load_messages

globals().update(load_messages(Path(__file__).with_name("search_messages.binpb")))
