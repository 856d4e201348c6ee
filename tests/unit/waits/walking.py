"""The common parts of this folder's walks."""

from __future__ import annotations

__all__ = ["Broken"]


class Broken(AssertionError):
    """A promise is broken."""
