"""What the walks of this folder share."""

from __future__ import annotations

__all__ = ["Broken"]


class Broken(AssertionError):
    """A promise does not hold."""
