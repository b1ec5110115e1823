"""The dialect's protobuf messages, as classes by their names (`messages.pyi` lists them).

`table_store.proto` and `ots_filter.proto` are the source; `tools/gen_messages.py` compiles them to
`messages.binpb` and to the type information. A compiled descriptor set, and no generated module,
because a module made by a new compiler refuses an older protobuf runtime, and the clients that
share an environment with widerow pin old ones. The pool is private: another package in the process
may register messages of the same names.
"""

from pathlib import Path

from widerow.descriptor_sets import load_messages

globals().update(load_messages(Path(__file__).with_name("messages.binpb")))
