"""The files of delivery tasks: a thread takes rows from tunnels into Parquet (change §D3).

`worker.py` runs tasks (`task.py`), `files.py` and `parquet.py` write, `thread.py` is the thread.
"""
