"""All I/O, written by hand for asyncio. ``_sync/`` is generated from it.

Code that needs no connection, no clock and no task belongs in ``calls/``, ``wire/``, ``scheduling/`` or
``working/``.
"""
