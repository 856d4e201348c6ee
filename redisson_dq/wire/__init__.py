"""The bytes that are in Redis and go to it: keys, envelopes, requests. Nothing here does I/O.

``commands`` has the plain commands, ``calls`` the scripts: one typed function each.
"""
