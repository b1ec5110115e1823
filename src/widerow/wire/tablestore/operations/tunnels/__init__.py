"""The tunnel actions, one file each (change §C2.1). `actions.py` lists them."""
