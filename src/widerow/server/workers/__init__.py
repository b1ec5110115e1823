"""Several processes behind one port: their supervisor, and what a worker is told and tells.

The supervisor (`supervisor.py`) has the port and no store. It accepts connections and hands each to
the worker that has the fewest, so that few connections are spread evenly, too; so that none waits
in the queue of a process that has died or hangs; and so that the port is never closed while one
worker takes the place of another. Sockets with SO_REUSEPORT give none of the three: the kernel
chooses by a hash, and a queue ends with its process.
"""
