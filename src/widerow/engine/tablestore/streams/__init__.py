"""What the logs of Tablestore's tables say of a change (change §C1.4): see `engine/streams`."""
