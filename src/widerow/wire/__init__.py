"""Foreign dialects: bytes to model and model to bytes; no sockets, no clock, no store.

One package a dialect, and none knows another. May import `engine` and everything below it. Start
reading at `tablestore/__init__.py`.
"""
