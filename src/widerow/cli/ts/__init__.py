"""`widerow ts`: the command lines of the vendor's program for Tablestore (ts-cli).

`commands` is the table of all commands. The modules by subject:

- the language, pure: `command` (words to arguments), `json_rows` (rows as the vendor writes them),
  `faults`;
- running: `start` (`widerow ts`), `dispatch` (find and run one, scripts), `interactive` (prompt,
  history, completion), `session` (the shell's state);
- what the commands do: `definitions` (tables, indexes, tunnels), `data` (rows), `shell` (the rest).
"""
