"""The files of delivery tasks: a thread takes rows from tunnels into Parquet (change §D3).

`worker.py` decides, `files.py` and `parquet.py` write, `thread.py` runs it beside the server.
"""
