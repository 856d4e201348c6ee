"""The log of the command on standard error. A program that has set up logging by itself keeps its own."""

from __future__ import annotations

import logging

from redisson_dq._operations.shell import safe

__all__ = ["set_up"]

_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


def set_up(level: str) -> None:
    """Sets up logging before the user's module is imported, and again after it: the module's own handlers win."""
    logging.basicConfig(level=level, format=_FORMAT)
    for handler in logging.root.handlers:
        # Names of queues and texts of errors come from Redis.
        if type(handler.formatter) is logging.Formatter and handler.formatter._fmt == _FORMAT:
            handler.setFormatter(_SafeFormatter(_FORMAT))


class _SafeFormatter(logging.Formatter):
    """Shows control characters as escapes."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(safe, super().format(record).split("\n")))
