"""The protocol from a client's side: connections, signatures, repeated requests, rows.

`connection.py` is one signed connection (`Client`), `pool.py` connections for an event loop,
`http.py` plain HTTP for pages that need no signature. `tables.py`, `reading.py` and `writing.py`
are requests for tables and rows; `rows.py` is the encoding of a row. Used by the commands,
`transfer`, `proxy` and `advice`.
"""
