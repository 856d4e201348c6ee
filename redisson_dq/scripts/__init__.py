"""The Lua scripts, one operation each, and their loader. Nothing here knows of keys' names or of requests.

``*.lua`` are the scripts, ``include/*.lua`` the parts they share, one job each. ``script`` puts them together.
The typed function of each script is in ``wire.calls``. ``python -m redisson_dq.scripts NAME`` prints a script.
"""
