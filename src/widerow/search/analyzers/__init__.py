"""How texts become tokens (search §3). `analysis.py` has one analysis for each analyzer."""
