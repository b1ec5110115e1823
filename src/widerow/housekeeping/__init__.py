"""What an open store wants done beside requests: cleaning up, and balance of its partitions.

`routines.py` says what is next and when to ask again. The server does each routine in a task of its
loop, the library of typed tables both of them on one thread.
"""
