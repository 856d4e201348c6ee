"""``offer`` and ``take``."""

from __future__ import annotations

from typing import Any, TypedDict

__all__ = ["OfferDocument", "TakenLine"]


class OfferDocument(TypedDict):
    """The outcome of the offers."""

    queue: str
    offered: int
    """How many values were offered."""
    codec: str
    envelope: str
    """The form of the entries: current or legacy."""
    error: str | None
    """Why the remaining values were not offered. The exit code is 65 then."""


_Class = TypedDict("_Class", {"class": "str | None"})


class TakenLine(_Class):
    """A value that was taken. ``class`` is its Java class, where it has one."""

    queue: str
    codec: str | None
    value: Any
    """The value. It is null where it could not be read, and where it is null."""
    hex: bytes | None
    """The bytes of a value that could not be read. It was set aside, and the exit code is 65."""
    error: str | None
    """Why it could not be read."""
