"""The codecs without types: text, numbers as decimal text, raw bytes."""

from __future__ import annotations

import codecs
import re
from typing import Any, ClassVar

from redisson_dq._common.texts import shown
from redisson_dq.codecs.base import Codec
from redisson_dq.codecs.faults import Malformed, Unencodable, type_name
from redisson_dq.codecs.floats import double_text
from redisson_dq.codecs.marks import compared, marked
from redisson_dq.errors import ArgumentError

__all__ = ["ByteArrayCodec", "DoubleCodec", "IntegerCodec", "LongCodec", "StringCodec"]

# java/numbers.py has these bounds too, but would import all Java types.
_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1
#: Python text encodings that Java has no charset for.
_PYTHON_ONLY = frozenset(
    (
        "utf-7",
        "utf-8-sig",
        "idna",
        "punycode",
        "unicode-escape",
        "raw-unicode-escape",
        "undefined",
        "mbcs",
        "oem",
    )
)
_BIG_ENDIAN = {"utf-16": b"\xfe\xff", "utf-32": b""}  # the byte order mark that Java writes before the text
_BOMS = {"utf-16": (b"\xfe\xff", b"\xff\xfe"), "utf-32": (b"\0\0\xfe\xff", b"\xff\xfe\0\0")}

_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)", re.ASCII)
_HEX = re.compile(r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?", re.ASCII)
_TRIMMED = "".join(map(chr, range(0x21)))  # the characters that Java's String.trim removes


class StringCodec(Codec[str]):
    """``str`` and its bytes in ``charset``: ``org.redisson.client.codec.StringCodec``.

    ``charset`` is a Java or Python name; UTF-16 is written as in Java, big endian after a byte order mark. Raises
    ArgumentError for a charset that Python or Java does not have.

    Java's codec writes any object as its ``toString()``. This one takes str only. Raises EncodeError for other types
    and for characters that the charset does not have, such as lone surrogates in UTF-8, for which Java writes ``?``.
    Raises DecodeError for bytes that are not text in the charset, which Java reads as U+FFFD. O(length).
    """

    def __init__(self, charset: str = "utf-8") -> None:
        if not isinstance(charset, str):
            raise ArgumentError(f"charset is the name of one, as 'utf-8', not {shown(charset)}")
        try:
            name = codecs.lookup(charset).name
            if name in _PYTHON_ONLY:
                raise ArgumentError(f"charset {charset!r} is Python's own, Java has none like it")
            "".encode(charset)  # raises unless it is a text encoding
        except (LookupError, ValueError) as error:  # ValueError: a NUL in the name
            if isinstance(error, ArgumentError):
                raise
            raise ArgumentError(f"charset {shown(charset)} is unknown") from error
        self._charset = charset
        self._marks = _BOMS.get(name)
        self._encoding = f"{name}-be" if name in _BIG_ENDIAN else name
        self._prefix = _BIG_ENDIAN.get(name, b"")
        self._is_ebcdic = "a".encode(charset) == b"\x81"

    def encode(self, value: Any) -> bytes:
        """The bytes of a str. Raises EncodeError. O(length)."""
        if not issubclass(type(value), str):
            raise _wrong_type(value, "a str; call str() on it, or use a codec for its type").as_error(self.name)
        try:
            raw = str.encode(value, self._encoding)  # not with a subclass's own method
        except UnicodeEncodeError as error:
            fault = Unencodable(
                f"character U+{ord(error.object[error.start]):04X} at {error.start} has no bytes in {self._charset}"
            )
            raise fault.as_error(self.name) from error
        if self._is_ebcdic:
            if "\x85" in value:
                raise Unencodable(f"Java reads character U+0085 in {self._charset} as a line feed").as_error(self.name)
            raw = raw.replace(b"\x25", b"\x15")  # Java writes a line feed as NEL, Python as LF
        return self._prefix + raw if self._prefix and raw else raw

    def decode(self, data: bytes) -> str:
        """The str. Raises DecodeError with the offset of the first bad byte. O(length)."""
        if type(data) is not bytes:
            data = bytes(data)
        encoding = self._encoding
        if self._marks is not None and data.startswith(self._marks):
            encoding = encoding[:-3]
        try:
            text = str(data, encoding)
        except UnicodeDecodeError as error:
            fault = Malformed(f"the bytes are not {self._charset} text: {error.reason}", error.start)
            raise fault.as_error(self.name, bytes(data)) from error
        if self._is_ebcdic:
            text = text.replace("\x85", "\n")
        # In UTF-8 each text has only one form.
        return text if encoding == "utf-8" else compared(text, data, self, f"{self._charset} has several forms")

    def memory_of(self, data: bytes) -> int:
        """One character beyond U+FFFF makes Python store each character in four bytes."""
        return 4 * len(data)

    def __repr__(self) -> str:
        return f"{self.name}({self._charset!r})"


class _WholeNumberCodec(Codec[int]):
    _least: ClassVar[int]
    _most: ClassVar[int]

    def encode(self, value: Any) -> bytes:
        """The decimal text of an int. Raises EncodeError for other types and values out of range. O(1)."""
        if not issubclass(type(value), int) or value is True or value is False:
            raise _wrong_type(value, "an int").as_error(self.name)
        value = int.__pos__(value)  # a plain int, even if a subclass redefines operators
        if not self._least <= value <= self._most:
            raise Unencodable(f"the int is outside {self._least} to {self._most}").as_error(self.name)
        return b"%d" % value

    def decode(self, data: bytes) -> int:
        """The int. Raises DecodeError for bytes that Java's parser refuses, and values out of range. O(1)."""
        text = _text(data, self.name)
        if _INTEGER.fullmatch(text) is None or (not text.isascii() and max(text) > "\uffff"):
            raise Malformed("the bytes are not a whole number").as_error(self.name, bytes(data))
        try:
            value = int(text)
        except ValueError as error:  # more digits than Python converts
            raise Malformed("a number of too many digits").as_error(self.name, bytes(data)) from error
        if not self._least <= value <= self._most:
            raise Malformed(f"the number is outside {self._least} to {self._most}").as_error(self.name, bytes(data))
        return value if b"%d" % value == data else marked(value, f"{data!r} is written as {value}")


class LongCodec(_WholeNumberCodec):
    """``int`` of 64 bits as decimal text: ``org.redisson.client.codec.LongCodec``.

    It reads like ``Long.valueOf``: a sign, leading zeros and decimal digits of any script; no spaces.
    """

    _least, _most = _LONG_MIN, _LONG_MAX


class IntegerCodec(_WholeNumberCodec):
    """``int`` of 32 bits as decimal text: ``org.redisson.client.codec.IntegerCodec``. Reads as LongCodec."""

    _least, _most = _INT_MIN, _INT_MAX


class DoubleCodec(Codec[float]):
    """``float`` as the text of ``Double.toString``: ``org.redisson.client.codec.DoubleCodec``.

    It writes the digits of JDK 19 and later (older ones write a digit too many for a few values). It reads like
    ``Double.valueOf``: spaces around, a sign, NaN, Infinity, decimal or hexadecimal digits, an exponent, a suffix
    f or d. A number that is too large becomes an infinity.
    """

    def encode(self, value: Any) -> bytes:
        """The text of a float, or of an int that a float holds exactly. Raises EncodeError. O(1)."""
        kind = type(value)
        if issubclass(kind, int) and kind is not bool:
            value = int.__pos__(value)
            try:
                number = float(value)
            except OverflowError as error:
                raise Unencodable("the int is too large for a Double").as_error(self.name) from error
            if number != value:
                raise Unencodable("a Double does not hold this int exactly; call float()").as_error(self.name)
            value = number
        if not issubclass(type(value), float):
            raise _wrong_type(value, "a float").as_error(self.name)
        return double_text(float.__pos__(value)).encode()

    def decode(self, data: bytes) -> float:
        """The float. Raises DecodeError for bytes that Java's parser refuses. O(length)."""
        return compared(self._read(data), bytes(data), self, "its writer has other digits")

    def _read(self, data: bytes) -> float:
        text = _text(data, self.name).strip(_TRIMMED)
        if _DECIMAL.fullmatch(text):
            return float(text if text[-1] in "Ny" else text.rstrip("fFdD"))
        match = _HEX.fullmatch(text)
        if match is None:
            raise Malformed("the bytes are not a number").as_error(self.name, bytes(data))
        try:
            return float.fromhex(match[1])
        except OverflowError:
            return float("-inf" if text.startswith("-") else "inf")


class ByteArrayCodec(Codec[bytes]):
    """Raw ``bytes``: ``org.redisson.client.codec.ByteArrayCodec``."""

    def encode(self, value: Any) -> bytes:
        """The bytes of a bytes, bytearray or memoryview. Raises EncodeError for other types. O(length)."""
        if not issubclass(type(value), (bytes, bytearray, memoryview)):
            raise _wrong_type(value, "bytes; encode it first, or use a codec for its type").as_error(self.name)
        try:
            return value if type(value) is bytes else memoryview(value).tobytes()
        except ValueError as error:
            raise Unencodable("the memoryview is released").as_error(self.name) from error

    def decode(self, data: bytes) -> bytes:
        """The bytes unchanged. O(1)."""
        return bytes(data)

    def memory_of(self, data: bytes) -> int:
        """None: the value is the bytes."""
        return 0


def _wrong_type(value: Any, wanted: str) -> Unencodable:
    return Unencodable(f"{type_name(value)} given, the codec takes {wanted}")


def _text(data: bytes, codec: str) -> str:
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("the bytes are not a number", error.start).as_error(codec, bytes(data)) from error
