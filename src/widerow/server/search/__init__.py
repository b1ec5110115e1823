"""What search indexes need of a server: their files, a thread that keeps them up, their metrics.

`files.py`: the directory of an index. `host.py`: what the engine is given. `thread.py`: the thread.
"""
