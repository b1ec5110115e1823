"""Crashing a real server and asking afterwards what became of what it had acknowledged."""
