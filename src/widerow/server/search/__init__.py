"""Search indexes in a server: their files, the threads that work for them, their metrics.

`files.py`: the directory of an index. `host.py`: what the engine gets. `thread.py`: the threads.
"""
