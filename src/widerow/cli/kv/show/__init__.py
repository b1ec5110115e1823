"""`show …`: what the store has (cli §4, §5)."""
