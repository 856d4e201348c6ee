"""The common part of the binary formats: the walk over a node to write, and the checks while reading.

Every reader takes the whole bytes, a position and the depth, and gives a node and the next position. Reading past the
end raises IndexError or struct.error. :func:`read_whole` reports these as bytes that end too early. Anything else that
is wrong raises Malformed.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from decimal import Decimal
from io import BytesIO
from typing import Any, ClassVar

from redisson_dq.codecs.budget import COUNTED_FROM, Budget, counting_budget
from redisson_dq.codecs.faults import TOO_DEEP, Malformed, Unencodable, shorten, unwritable
from redisson_dq.codecs.jackson.node import CLASS, MAX_NODE_DEPTH, Object
from redisson_dq.java.numbers import INT_MAX

__all__ = [
    "Writer",
    "decimal_of",
    "decimal_parts",
    "deeper",
    "depth_of",
    "java_bytes",
    "read_bytes",
    "read_number",
    "read_text",
    "read_whole",
    "utf8",
]

#: Since 2.15, Jackson reads no number with more digits. The decimal point does not count.
_MAX_NUMBER_BYTES = 1000

#: The memory of an empty array or object, as a node and as a value.
_FOR_EACH_CONTAINER = 280
# The number of pieces that are joined at once.
_FEW = 1000

_TOO_LONG = f"a number of more than {_MAX_NUMBER_BYTES} bytes, which Jackson does not read"
_MAX_DIGITS = 2408  # the digits of a number of 1,000 bytes


class Writer(ABC):
    """Writes nodes in one walk. Each format has a subclass that defines its bytes.

    ``out`` holds the bytes in pieces.
    """

    #: By type of node: the function that makes the bytes of a node without parts.
    scalars: ClassVar[Mapping[type, Callable[[Any], bytes]]]

    def __init__(self) -> None:
        self.out: list[bytes] = []

    @abstractmethod
    def name(self, name: str) -> bytes:
        """The bytes of a property's name."""

    @abstractmethod
    def array(self, count: int, *, typed: bool) -> tuple[bytes, bytes]:
        """The bytes before and after the elements. ``typed`` says that the array follows the name of a class."""

    @abstractmethod
    def object(self, count: int) -> tuple[bytes, bytes]:
        """The bytes before and after the pairs."""

    def write(self, node: Any, *, typed: bool = False) -> None:
        """Write a node. Raises Unencodable. O(size)."""
        kind = type(node)
        scalar = self.scalars.get(kind)
        if scalar is not None:
            self.out.append(scalar(node))
        elif kind is list:
            self._write_array(node, typed)
        elif kind is Object:
            self._write_object(node)
        elif type(node.content) is Object:
            self._write_object(Object(((CLASS, node.name), *node.content)))
        else:
            before, after = self.array(2, typed=True)
            self.out += (before, self.scalars[str](node.name))
            self.write(node.content, typed=True)
            self.out.append(after)

    def whole(self) -> bytes:
        """All bytes. Joining takes 80 bytes of memory for each piece; writing them into one buffer takes longer."""
        if len(self.out) < _FEW:
            return b"".join(self.out)
        made = BytesIO()
        made.writelines(self.out)
        return made.getvalue()

    def _write_array(self, node: list[Any], typed: bool) -> None:
        before, after = self.array(len(node), typed=typed)
        self.out.append(before)
        index = 0
        try:
            for index in range(len(node)):
                self.write(node[index])
        except Unencodable as error:
            error.inside(index)
            raise
        except Exception as error:
            raise unwritable(error, index) from error
        self.out.append(after)

    def _write_object(self, node: Object) -> None:
        before, after = self.object(len(node))
        self.out.append(before)
        name = ""
        try:
            for name, item in node:
                self.out.append(self.name(name))
                self.write(item)
        except Unencodable as error:
            error.inside(name)
            raise
        except Exception as error:
            raise unwritable(error, name) from error
        self.out.append(after)


def utf8(text: str) -> bytes:
    """A text in UTF-8. Raises Unencodable for a lone surrogate. O(length)."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        units = text.encode("utf-16-le", "surrogatepass")
    try:
        return units.decode("utf-16-le").encode()
    except UnicodeDecodeError as error:
        lone = int.from_bytes(units[error.start : error.start + 2], "little")
        raise Unencodable(f"U+{lone:04X} alone is not a character, and texts of this format are UTF-8") from error


def java_bytes(number: int) -> bytes:
    """``BigInteger.toByteArray``: big endian, with room for the sign. Raises Unencodable. O(length)."""
    length = (number if number >= 0 else ~number).bit_length() // 8 + 1
    if length > _MAX_NUMBER_BYTES:
        raise Unencodable(_TOO_LONG)
    return number.to_bytes(length, "big", signed=True)


def decimal_parts(value: Decimal) -> tuple[int, int]:
    """A BigDecimal's unscaled number and its exponent (Java's scale, negated). Raises Unencodable. O(digits ** 2)."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or abs(exponent) > INT_MAX:
        raise Unencodable(f"a BigDecimal cannot hold {shorten(str(value), 80)}")
    if len(digits) > _MAX_DIGITS:
        raise Unencodable(_TOO_LONG)
    return int(Decimal((sign, digits, 0))), exponent


def decimal_of(unscaled: int, exponent: int, pos: int) -> Decimal:
    """The BigDecimal of these parts, which were at ``pos``. O(digits ** 2)."""
    if abs(exponent) > INT_MAX:
        raise Malformed("a BigDecimal whose exponent takes more than 32 bits", pos)
    sign, digits, _ = Decimal(unscaled).as_tuple()
    return Decimal((sign, digits, exponent))


def read_whole(read: Callable[[bytes, int, int], tuple[Any, int]], data: bytes, pos: int = 0) -> Any:
    """The node that fills the bytes from ``pos`` on. Raises Malformed. O(size)."""
    try:
        node, end = read(data, pos, depth_of(data) if len(data) >= COUNTED_FROM else 0)
    except (IndexError, struct.error) as error:
        raise Malformed("the bytes end in the middle of the value", len(data)) from error
    except RecursionError as error:
        raise Malformed(TOO_DEEP) from error
    if end != len(data):
        raise Malformed(f"{len(data) - end} bytes too many after the value", end)
    return node


class _CountingDepth(int):
    """A depth that charges each array and object to a budget."""

    budget: Budget

    def __add__(self, more: int) -> _CountingDepth:
        self.budget.spend(_FOR_EACH_CONTAINER)
        made = _CountingDepth(int(self) + more)
        made.budget = self.budget
        return made


def depth_of(data: bytes | str) -> int:
    """The depth of the outermost value. Inner arrays and objects are counted if they may take too much memory."""
    budget = counting_budget(data)
    if budget is None:
        return 0
    made = _CountingDepth()
    made.budget = budget
    return made


def deeper(depth: int, pos: int) -> int:
    """The depth inside the array or object at ``pos``."""
    if depth == MAX_NODE_DEPTH:
        raise Malformed(TOO_DEEP, pos)
    return depth + 1


def read_bytes(data: bytes, pos: int, length: int) -> tuple[bytes, int]:
    """``length`` bytes. O(length)."""
    end = pos + length
    if end > len(data):
        raise Malformed(f"{length} bytes are announced, {len(data) - pos} are there", pos)
    return data[pos:end], end


def read_text(data: bytes, pos: int, length: int) -> tuple[str, int]:
    """A text of ``length`` bytes of UTF-8. O(length)."""
    raw, end = read_bytes(data, pos, length)
    try:
        return raw.decode(), end
    except UnicodeDecodeError as error:
        raise Malformed(f"a text's bytes are not UTF-8: {error.reason}", pos + error.start) from error


def read_number(data: bytes, pos: int) -> int:
    """The number of a BigInteger's bytes, which were at ``pos``. O(length)."""
    if len(data) > _MAX_NUMBER_BYTES:
        raise Malformed(_TOO_LONG, pos)
    return int.from_bytes(data, "big", signed=True)
