"""Dev mode: a server that tests control. Imported only with `--dev`.

`/_widerow/clock`, `/_widerow/faults`, `/_widerow/snapshots` and `/_widerow/reset` on the server's
own port (docs/guide/testing.md). Start at `handler.py`, which gets requests before the dispatcher.
"""
