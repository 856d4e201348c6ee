"""What stands in Redis, byte by byte: keys, envelopes, requests. Nothing here does I/O.

``commands`` has the plain commands, ``calls`` the scripts: one typed function each.
"""
