"""The background work of an open store: cleaning up, and balancing its partitions.

`routines.py` plans the next step and the pause before it. The server runs each routine in a task of
its loop; the library of typed tables runs both routines on one thread.
"""
