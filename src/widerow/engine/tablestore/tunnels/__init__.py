"""What tunnels of Tablestore's tables hand out before changes, their rows: see `engine/tunnels`."""
