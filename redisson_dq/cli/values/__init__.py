"""The commands that add and take values: ``offer`` and ``take``."""
