"""Dev mode: a server that tests command. Only with `--dev`, and imported for nothing else.

`/_widerow/clock`, `/_widerow/faults`, `/_widerow/snapshots` and `/_widerow/reset` on the server's
own port (docs/guide/testing.md). Start at `handler.py`, which stands before the dispatcher.
"""
