"""The commands that only read: ``queues``, ``stats``, ``watch``, ``list``, ``show``, ``peek``. They send no write.

Each module has one command. ``_values.py`` has the options by which values are decoded and shown.
"""
