"""A server: its loop, sockets, threads of requests, settings and metrics.

Imports everything below it. Start at `lifecycle.py` (what is started and stopped, in which order),
then `http.py` (bytes to requests), `dispatch.py` (requests to answers), `schedule.py` (threads).
"""
