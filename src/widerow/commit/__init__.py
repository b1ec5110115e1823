"""Group commit: many plans, one sync. Every write of every caller goes through it.

`committer.py` is the state machine with its one entry, `places.py` the rule for the thread that a
group runs on, `waiting.py` what is done for each plan of a group. The server, the library of typed
tables and the simulation commit through it. It has threads and locks, so it is no pure package; it
knows no wire, no socket and no clock of its own. Imports `engine`, `storage` and what is below.
"""
