"""`widerow ts`: the command lines of the vendor's program for Tablestore (ts-cli).

`commands` is the table of all commands. The modules by subject:

- the language, pure: `command` (lines to words to arguments), `json_rows` (rows as the vendor
  writes them);
- running: `start` (`widerow ts`), `shell` (find and run one, prompt, completion), `session` (the
  shell's state);
- what the commands do: `definitions` (tables, indexes, tunnels), `searched` (search indexes),
  `data` (rows), `settings` (the rest).
"""
