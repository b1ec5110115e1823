"""`put table`: one row, the rows of a file, or a row that is put together in a mode (cli §6)."""
