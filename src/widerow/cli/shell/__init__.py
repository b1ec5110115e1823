"""What the shells share (`widerow kv`, `widerow ts`).

`command.py` is what a command is, and how words become its arguments; `running.py` runs one
command, a script, or what a person types, with a history and completion.
"""
