"""Small Java values that have no class in Python, or whose Python class stands for another Java type."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address
from typing import Any, ClassVar, Generic, TypeVar

import attrs

from redisson_dq.errors import ArgumentError
from redisson_dq.java.checks import number_between, of_type
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.zones import time_zone_id

__all__ = [
    "BitSet",
    "BlockData",
    "Charset",
    "Currency",
    "InetAddress",
    "InetSocketAddress",
    "JavaClass",
    "JavaObject",
    "Pattern",
    "SimpleEntry",
    "SimpleImmutableEntry",
    "StackTraceElement",
    "StringBuffer",
    "StringBuilder",
    "Throwable",
    "ThrowableClass",
    "TimeZone",
    "Uri",
    "Url",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class _Text(str):
    __slots__ = ("__weakref__",)
    java_name: ClassVar[str]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str.__repr__(self)})"


class Uri(_Text):
    """``java.net.URI``"""

    __slots__ = ()
    java_name = "java.net.URI"


class Url(_Text):
    """``java.net.URL``"""

    __slots__ = ()
    java_name = "java.net.URL"


class Currency(_Text):
    """``java.util.Currency``: its ISO 4217 code."""

    __slots__ = ()
    java_name = "java.util.Currency"


class Charset(_Text):
    """``java.nio.charset.Charset``: its name."""

    __slots__ = ()
    java_name = "java.nio.charset.Charset"


class TimeZone(_Text):
    """``java.util.TimeZone``: its id, as Java has it. Raises ArgumentError for ids that no JVM knows.

    Java's serialization writes the zone's transitions too. ``described`` keeps those of a zone that was read, so that
    it can be written again. A zone that Python makes has None.
    """

    __slots__ = ("described",)
    java_name = "java.util.TimeZone"
    described: JavaObject | None

    def __new__(cls, name: object = "") -> TimeZone:
        return cls.read(time_zone_id(str(name)))

    @classmethod
    def read(cls, name: str) -> TimeZone:
        """The zone of an id that Java wrote."""
        made = super().__new__(cls, name)
        made.described = None
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _read_zone, (str.__str__(self), self.described)


def _read_zone(name: str, described: JavaObject | None) -> TimeZone:
    made = TimeZone.read(name)
    made.described = described
    return made


class StringBuilder(_Text):
    """``java.lang.StringBuilder``: its text."""

    __slots__ = ()
    java_name = "java.lang.StringBuilder"


class StringBuffer(_Text):
    """``java.lang.StringBuffer``: its text."""

    __slots__ = ()
    java_name = "java.lang.StringBuffer"


class JavaClass(_Text):
    """``java.lang.Class``: the class's name as Class.getName gives it. Nothing is loaded.

    Java's serialization describes a class by more than its name. ``described`` keeps the description of a class that
    was read, so that it can be written again. A class that Python makes has None.
    """

    __slots__ = ("described",)
    java_name = "java.lang.Class"
    described: Any

    def __new__(cls, name: object = "") -> JavaClass:
        made = super().__new__(cls, name)
        made.described = None
        return made


@attrs.frozen
class InetAddress:
    """``java.net.InetAddress`` with a host name. An address without one is read as an address of Python's
    ``ipaddress``.
    """

    address: IPv4Address | IPv6Address
    host_name: str

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.address, (IPv4Address, IPv6Address)) or not isinstance(self.host_name, str):
            raise ArgumentError("an InetAddress is an address of ipaddress and a name")

    @property
    def java_name(self) -> str:
        """Java has a class for each version of the protocol."""
        return f"java.net.Inet{self.address.version}Address"


@attrs.frozen
class InetSocketAddress:
    """``java.net.InetSocketAddress``: a host and a port. ``host`` is the address, or the name of an unresolved host."""

    java_name: ClassVar[str] = "java.net.InetSocketAddress"
    host: IPv4Address | IPv6Address | InetAddress | str
    port: int

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.host, (IPv4Address, IPv6Address, InetAddress, str)):
            raise ArgumentError("the host of an InetSocketAddress is an address or a name")
        if not isinstance(self.port, int) or not 0 <= self.port <= 0xFFFF:
            raise ArgumentError("the port of an InetSocketAddress is 0 to 65535")


@attrs.frozen
class Pattern:
    """``java.util.regex.Pattern``: the text and Java's flags. Nothing is compiled."""

    java_name: ClassVar[str] = "java.util.regex.Pattern"
    pattern: str
    flags: int = 0


_MOST_BITS = 1_000_000


class BitSet(set[int]):
    """``java.util.BitSet``: the numbers of the bits that are set."""

    java_name: ClassVar[str] = "java.util.BitSet"

    @classmethod
    def from_words(cls, words: Iterable[int]) -> BitSet:
        """The set of the bits in Java's ``long[]``, lowest first. O(bits that are set + words).

        Raises ArgumentError for more than a million bits. Each set bit takes some 60 bytes in Python, and one bit in
        Java.
        """
        bits = cls()
        unsigned = [word & (1 << 64) - 1 for word in words]
        if sum(word.bit_count() for word in unsigned) > _MOST_BITS:
            raise ArgumentError(f"a BitSet with more than {_MOST_BITS:,} bits set")
        for index, word in enumerate(unsigned):
            while word:
                low = word & -word
                bits.add(index * 64 + low.bit_length() - 1)
                word ^= low
        return bits

    def to_words(self) -> list[int]:
        """Java's ``long[]``, signed, without zeros at its end. O(highest bit / 64 + bits)."""
        words: dict[int, int] = {}
        for bit in self:
            if not isinstance(bit, int) or not 0 <= bit < 1 << 31:
                raise ArgumentError("a BitSet holds the numbers of bits: 0 to 2147483647")
            words[bit >> 6] = words.get(bit >> 6, 0) | 1 << (bit & 63)
        unsigned = [words.get(index, 0) for index in range(max(words, default=-1) + 1)]
        return [word - (1 << 64) if word >> 63 else word for word in unsigned]


@attrs.frozen
class StackTraceElement:
    """``java.lang.StackTraceElement``"""

    java_name: ClassVar[str] = "java.lang.StackTraceElement"
    declaring_class: str = attrs.field(validator=of_type(str))
    method_name: str = attrs.field(validator=of_type(str))
    file_name: str | None = attrs.field(default=None, validator=of_type(str, type(None)))
    line_number: int = attrs.field(default=-1, validator=number_between(INT_MIN, INT_MAX))
    class_loader_name: str | None = attrs.field(default=None, validator=of_type(str, type(None)))
    module_name: str | None = attrs.field(default=None, validator=of_type(str, type(None)))
    module_version: str | None = attrs.field(default=None, validator=of_type(str, type(None)))
    format: int = attrs.field(default=0, validator=number_between(-128, 127))


def _pairs(fields: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, kind) for name, kind in fields)


@attrs.frozen(cache_hash=True)
class ThrowableClass:
    """A class of exceptions that is not the JDK's, as Java's serialization describes it.

    ``fields`` are pairs of a field's name and the Java name of its type. ``superclass`` is another ThrowableClass, or
    the name of a class of the JDK.
    """

    java_name: str
    serial_version_uid: int
    fields: tuple[tuple[str, str], ...] = attrs.field(default=(), converter=_pairs)
    superclass: ThrowableClass | str = "java.lang.Exception"

    def __attrs_post_init__(self) -> None:
        if not LONG_MIN <= self.serial_version_uid <= LONG_MAX:
            raise ArgumentError("a serialVersionUID is a number of 64 bits")
        for name, kind in self.fields:
            if not isinstance(name, str) or not isinstance(kind, str) or not kind:
                raise ArgumentError("the fields of a ThrowableClass are pairs of a name and the Java name of a type")
        if not isinstance(self.superclass, (str, ThrowableClass)):
            raise ArgumentError(
                "the superclass of a ThrowableClass must be another one, or the name of one of the JDK's"
            )


class Throwable(Exception):
    """A Java exception as a Python one, so it can be raised: its class, message, cause, trace and fields.

    ``fields`` are those that the exception's own classes add to Throwable's, by Java name. Java's serialization
    describes each class. ``described`` keeps the description of a class that is not the JDK's, so that it can be
    written again. ``null_cause`` says that the exception was made with null as its cause. Java's initCause cannot
    change that later.
    """

    def __init__(
        self,
        java_name: str,
        message: str | None = None,
        *,
        cause: Throwable | None = None,
        stack_trace: Iterable[StackTraceElement] = (),
        suppressed: Iterable[Throwable] = (),
        fields: dict[str, Any] | None = None,
        described: ThrowableClass | None = None,
        null_cause: bool = False,
    ) -> None:
        if not isinstance(java_name, str):
            raise ArgumentError("Throwable takes the name of its Java class first")
        super().__init__(java_name, message)
        self.java_name = java_name
        self.message = message
        self.cause = cause
        self.stack_trace = list(stack_trace)
        self.suppressed = list(suppressed)
        self.fields = dict(fields or {})
        self.described = described
        self.null_cause = null_cause

    def __str__(self) -> str:
        return self.java_name if self.message is None else f"{self.java_name}: {self.message}"

    def __repr__(self) -> str:
        return f"Throwable({self.java_name!r}, {self.message!r})"


class BlockData(bytes):
    """Bytes that a Java class wrote with ``writeInt``, ``writeUTF`` and their kin; only that class can read them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"BlockData({bytes.__repr__(self)})"


@attrs.define(repr=False)
class JavaObject:
    """An object of a class that is not declared, as a codec with ``unknown="generic"`` reads it.

    ``fields`` are the object's fields by Java name; An enum has its constant's name instead. A collection, or any other
    single value, has that value instead. One with an empty ``java_name`` is without a class.

    SerializationCodec sets two more attributes. ``data`` has the output of each class's writeObject or
    writeExternal beside the fields: BlockData and objects, in order. ``described`` is the stream's description of
    the class. It is needed to write the object again.
    """

    java_name: str
    fields: Any = attrs.field(factory=dict)
    data: dict[str, list[Any]] = attrs.field(factory=dict, kw_only=True)
    described: Any = attrs.field(default=None, eq=False, kw_only=True)

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        data = f", data={self.data!r}" if self.data else ""
        return f"JavaObject(java_name={self.java_name!r}, fields={self.fields!r}{data})"


@attrs.frozen
class SimpleEntry(Generic[K, V]):
    """``java.util.AbstractMap.SimpleEntry``: a key and a value."""

    java_name: ClassVar[str] = "java.util.AbstractMap$SimpleEntry"
    key: K
    value: V


@attrs.frozen
class SimpleImmutableEntry(Generic[K, V]):
    """``java.util.AbstractMap.SimpleImmutableEntry``"""

    java_name: ClassVar[str] = "java.util.AbstractMap$SimpleImmutableEntry"
    key: K
    value: V
