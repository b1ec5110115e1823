"""The messages of timeseries tables, as classes by their names (`timeseries_messages.pyi`).

Made of `timeseries.proto` as those of `messages.py` are of theirs, and imported with the first
request for such a table.
"""

from pathlib import Path

from widerow.descriptor_sets import load_messages

globals().update(load_messages(Path(__file__).with_name("timeseries_messages.binpb")))
