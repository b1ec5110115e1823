"""Build mode: what is typed between `table create` or `table evolve` and `exit` (cli §3)."""
