"""The messages of the tunnel actions, as classes by their names (`tunnel_messages.pyi` lists them).

Made of `tunnel.proto` as those of `messages.py` are of theirs, and imported when one of the actions
is first asked for: a server that nobody asks for tunnels does not carry them.
"""

from pathlib import Path

from widerow.descriptor_sets import load_messages

globals().update(load_messages(Path(__file__).with_name("tunnel_messages.binpb")))
