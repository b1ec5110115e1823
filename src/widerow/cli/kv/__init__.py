"""The `kv` shell: the vendor's admin shell for typed tables, on a store in a directory.

`words` and `lines` turn what is typed into commands, `command` and `dispatch` find what is meant,
`top` is the table of commands; each command is a module of `tables`, `building`, `plans`, `show`,
`data` or `settings`. `script` and `interactive` are the two ways to feed it.
"""
