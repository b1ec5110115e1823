"""The actions of delivery tasks, one file each (change §D3). `actions.py` lists them."""
