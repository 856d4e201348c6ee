"""Values of primitive types, in the form of the stream."""

from __future__ import annotations

from typing import Any

from redisson_dq.java.arrays import PRIMITIVE_CODES
from redisson_dq.java.places import place_of
from redisson_dq.java.signatures import Signature

__all__ = ["primitive"]

_PLACES: dict[str, Any] = {name: place_of(Signature(name)).shallow for name in PRIMITIVE_CODES}  # type: ignore[union-attr]


def primitive(value: Any, name: str) -> Any:
    """A value in the stream's form for a primitive type. Raises Misfit."""
    placed = _PLACES[name](value)
    return ord(placed) if name == "char" else placed
