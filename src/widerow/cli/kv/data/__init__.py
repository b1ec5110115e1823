"""Commands on rows: get, delete, aggregate, execute (cli §6). `put` has a package of its own."""
