"""What people type. Imports everything it needs when it is needed: starting a server is quick.

Start at `main.py`, which names the commands; each has a file of its own.
"""
