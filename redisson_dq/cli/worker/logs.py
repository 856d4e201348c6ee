"""The log of the command on standard error. A program that has set up logging by itself keeps its own."""

from __future__ import annotations

import logging

__all__ = ["set_up"]


def set_up(level: str) -> None:
    """Sets up logging before the user's module is imported, and again after it: the module's own handlers win."""
    logging.basicConfig(level=level, format="%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
