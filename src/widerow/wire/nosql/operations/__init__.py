"""The operations of the dialect, one module for each family."""
