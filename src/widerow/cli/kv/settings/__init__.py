"""Commands about the shell itself (cli §6)."""
