"""Objects that Redisson leaves to Kryo's JavaSerializer: Java serialization streams inside Kryo's bytes.

These are the wrappers of java.util.Collections, EnumMap, addresses of java.net, and exceptions of every class. A
JavaSerializer uses one stream for one Kryo value. The first object begins with the stream's header, and later ones
refer back to it. Redisson has a JavaSerializer for each class, or for a class and its subclasses.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from redisson_dq.codecs.faults import Malformed, Unencodable, shorten, undeclared
from redisson_dq.codecs.java_limits import unread
from redisson_dq.codecs.kryo5.protocols import ReaderProtocol, WriterProtocol
from redisson_dq.codecs.serialization import ReadState, WriteState, read_object, views, write_object
from redisson_dq.codecs.serialization.stream import HEADER, OBJECT, REFERENCE
from redisson_dq.java.maps import EnumMap
from redisson_dq.java.values import InetSocketAddress

__all__ = [
    "ADDRESSES",
    "STREAMS",
    "THROWABLE",
    "exception_reader",
    "may_be_exception",
    "stream_reader",
    "stream_writer",
    "unreadable",
]

#: The classes of Python's own addresses.
ADDRESSES: dict[type, str] = {IPv4Address: "java.net.Inet4Address", IPv6Address: "java.net.Inet6Address"}
#: The classes that are not exceptions, and their streams. An empty sorted collection uses its superclass's stream.
STREAMS: dict[str, str] = {
    **{name: name.partition("$Empty")[0] for name in views.NAMES},
    EnumMap.java_name: EnumMap.java_name,
    **dict.fromkeys(ADDRESSES.values(), "java.net.InetAddress"),
    InetSocketAddress.java_name: "java.net.SocketAddress",
}
#: The stream of all exceptions.
THROWABLE = "java.lang.Throwable"
#: The binary name of a class or an array class.
_NAME = re.compile(r"\[*[^\W\d][\w$]*(\.[^\W\d][\w$]*)*;?")
#: Class files have no longer names.
_LONGEST_NAME = 0xFFFF
#: The possible first bytes of a stream's later objects.
_LATER = frozenset((OBJECT, REFERENCE))


def _instead(name: str) -> str:
    if name == EnumMap.java_name:
        return "a HashMap"
    return "the collection without its wrapper" if name in views.NAMES else "its text"


def _of_old_redisson(name: str) -> str:
    return (
        f"a {name} as Redisson before 3.38 writes it, without its stream of Java's serialization: that Redisson itself "
        f"cannot read it back, so the value is lost in Java too. Java has to send {_instead(name)}, or to have a later "
        "Redisson"
    )


def stream_reader(name: str, stream: str) -> Any:
    """The reader of a class whose objects are in that stream."""

    def read(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[Any, int]:
        if reader.streams is None:
            reader.streams = ReadState()
        if stream not in reader.streams.streams and not data.startswith(HEADER, pos):
            raise Malformed(_of_old_redisson(name), pos, stale=False)
        value, end = read_object(data, pos, reader.streams, stream, reader.depth)
        if (ADDRESSES.get(type(value)) or getattr(value, "java_name", None)) != name:
            raise Malformed(f"a stream of Java that holds no {shorten(name, 200)}", pos)
        return value, end

    return read


def exception_reader(name: str) -> Any:
    """The reader of an undeclared class. The class is an exception if the stream of exceptions follows."""
    read_exception = stream_reader(name, THROWABLE)

    def read(data: bytes, pos: int, reader: ReaderProtocol) -> tuple[Any, int]:
        if not (data[pos] in _LATER if _has_exceptions(reader) else data.startswith(HEADER, pos)):
            raise unreadable(name, pos)
        found: tuple[Any, int] = read_exception(data, pos, reader)
        return found

    return read


def may_be_exception(data: bytes, pos: int, reader: ReaderProtocol) -> bool:
    """Whether the value at this position can be an exception, which only the stream shows, not the class's name."""
    if reader.last_header is None:
        reader.last_header = data.rfind(HEADER)
    return pos <= reader.last_header or _has_exceptions(reader)


def _has_exceptions(reader: ReaderProtocol) -> bool:
    return reader.streams is not None and THROWABLE in reader.streams.streams


def unreadable(name: str, offset: int) -> Malformed:
    """The fault for an undeclared class. If the text is not a valid name, the bytes before it were misread."""
    if len(name) > _LONGEST_NAME or _NAME.fullmatch(name) is None:
        return Malformed(f"{shorten(repr(name), 120)} where the name of a Java class should be", offset)
    if name.startswith(("java.", "javax.", "sun.", "[")) or name == "null":
        return Malformed(unread(name), offset, stale=False)
    return undeclared(name, offset)


def stream_writer(stream: str) -> Any:
    """The writer of objects that are in that stream."""

    def write(value: Any, writer: WriterProtocol) -> None:
        if stream != THROWABLE and not writer.types.embeds_streams:
            name = ADDRESSES.get(type(value)) or value.java_name
            raise Unencodable(f"a {name}, which Java's Kryo cannot read before Redisson 3.38: send {_instead(name)}")
        if writer.streams is None:
            writer.streams = WriteState()
        writer.out.extend(write_object(value, writer.streams, stream, writer.depth))

    return write
