"""``writeUTF`` of both protocols in the data of java.time, which ends with the name of a zone where it has one.

Java's stream counts the bytes of a text in two bytes, river its UTF-16 units in four. Only the time zones' names are
written so by a class that has a counterpart in Python, and they are ASCII. No byte of such a name is below 20.
"""

from __future__ import annotations

from redisson_dq.codecs.serialization.stream import Content

__all__ = ["as_java_writes_utf", "as_river_writes_utf"]

_ZONE = 7  # the number of ZoneRegion, which is before the text


def as_java_writes_utf(block: Content) -> Content:
    """The data of ``java.time.Ser`` in the form of Java's stream."""
    return _counted_otherwise(block, 4, 2)


def as_river_writes_utf(block: Content) -> Content:
    """The data of ``java.time.Ser`` in the form of river."""
    return _counted_otherwise(block, 2, 4)


def _counted_otherwise(block: Content, width: int, other: int) -> Content:
    if type(block) is not bytes or block[:1] not in (b"\x06", b"\x07"):
        return block
    start = block.rfind(bytes((_ZONE, *bytes(width - 1)))) + 1
    size = int.from_bytes(block[start : start + width], "big")
    name = block[start + width :]
    if not start or size != len(name):
        return block
    return block[:start] + size.to_bytes(other, "big") + name
