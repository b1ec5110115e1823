"""The messages of HBase's protocol, as classes by their names (`messages.pyi` lists them).

Made of `hbase.proto` by `tools/gen_messages.py`.
"""

from pathlib import Path

from widerow.descriptor_sets import load_messages

globals().update(load_messages(Path(__file__).with_name("messages.binpb")))
