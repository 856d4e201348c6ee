"""The commands that put values in and take them out: ``offer`` and ``take``."""
