"""Authentication and authorisation: signatures, access keys, policy. Pure.

May import `errors`, `limits` and `model`; reads no file and no clock. Start with `keyring.py` (what
an access key is), then `signing.py` (how a request proves it has the secret), then `policy.py`.
"""
