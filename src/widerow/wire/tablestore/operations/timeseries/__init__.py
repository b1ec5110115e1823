"""The actions of timeseries tables (timeseries §3-§11)."""
