"""The bytes that are stored in Redis and sent to it: keys, envelopes, requests. Nothing here does I/O.

``commands`` has the plain commands, ``calls`` the scripts: one typed function each.
"""
