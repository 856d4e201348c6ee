"""``writeUTF`` of both protocols in the data of java.time, which ends with the name of the zone if there is one.

Java's stream writes the number of bytes in two bytes, river the number of UTF-16 units in four. Among the classes with
a Python counterpart, only time zones write a text in this way. Their names are ASCII, and no byte is below 20
(hexadecimal).
"""

from __future__ import annotations

from redisson_dq.codecs.serialization.stream import Content

__all__ = ["as_java_writes_utf", "as_river_writes_utf"]

_ZONE = 7  # the number of ZoneRegion, which precedes the text


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
