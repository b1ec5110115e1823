"""`table …`: definitions that are built in the shell and not yet in the store (cli §2)."""
