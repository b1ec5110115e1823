"""The `kv` shell: the vendor's admin shell for typed tables, on a store in a directory.

`commands` is the table of all commands. The modules by subject:

- running: `start` (`widerow kv`), `script`, `shell` (prompts, completion), `session` (state);
- the language: `scanner` (lines to commands to words), `command` (words to arguments), `dispatch`
  (find and run one), `faults` (what is printed when one fails, exit codes), `help`;
- definitions: `tables`, `build_mode`, `build_levels`, `add_field`; `plans`, `plan_run`;
- rows: `rows` (get, delete), `aggregate`, `put`, `put_mode`; `selection`, `values`;
- statements: `statements` (execute, mode), `results`;
- the rest: `show`, `settings`.
"""
