"""Reads Kryo's bytes: classes, and the counts that limit nested values."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any

from redisson_dq.codecs.budget import PLACE, Budget, current_budget
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, shorten
from redisson_dq.codecs.hashes import FEW_KEYS, Hashes
from redisson_dq.codecs.kryo5.class_serializer import ClassSerializer
from redisson_dq.codecs.kryo5.embedded import may_be_exception, unreadable
from redisson_dq.codecs.kryo5.generics import NO_VARIABLES, Arguments
from redisson_dq.codecs.kryo5.jdk_classes import BY_ID, exception_type
from redisson_dq.codecs.kryo5.scalars import read_boolean
from redisson_dq.codecs.kryo5.types import Types
from redisson_dq.codecs.kryo5.wire import (
    MAX_SIZELESS,
    TOO_MANY_SIZELESS,
    TOP_BITS,
    WITHOUT_TOP_BIT,
    read_string,
    read_varint,
)
from redisson_dq.codecs.serialization import ReadState
from redisson_dq.java.values import JavaClass

__all__ = ["CountingReader", "CountingReferenceReader", "Reader", "ReferenceReader"]


def _read_null(_data: bytes, pos: int, _: object = None) -> tuple[None, int]:
    return None, pos


_Read = Callable[..., "tuple[Any, int]"]
_FLAT: dict[int, _Read] = {
    0: _read_null,
    **{serializer.tag[0]: serializer.read for serializer in BY_ID if serializer.tag},
}


class Reader:
    """The state of reading one value: the classes named so far, the depth, the elements without bytes.

    ``variables`` are the type variables of the current object (see generics). ``streams`` and ``last_header`` belong to
    the Java serialization streams inside the bytes, if there are any (see embedded).
    """

    references = False
    #: Whether every value must be read by the methods here, which count it.
    is_counting = False
    #: By the byte of the class: the function that reads null, or a value of a class with an id.
    by_byte: tuple[_Read | None, ...] = tuple(map(_FLAT.get, range(256)))
    # Few values need these, so they are class attributes.
    streams: ReadState | None = None
    #: Why the value would be written to other bytes. Empty if it would not.
    other = ""
    last_header: int | None = None
    _sizeless = 0
    depth = 0
    variables = NO_VARIABLES
    #: The number of objects so far, counted only if they can be referred to (see ReferenceReader).
    size = 0

    def __init__(self, types: Types, data: bytes) -> None:
        self.types = types
        #: An ASCII string ends at the next byte with its top bit set: ``find(1, pos)``. ``text`` has its characters.
        self.find = data.translate(TOP_BITS).find
        self.text = data.translate(WITHOUT_TOP_BIT).decode("ascii")
        self.spelled = types.spelled()
        #: The declared classes whose objects were read, in the order of their first object.
        self.seen: dict[str, None] = {}
        self.names: list[ClassSerializer | str] = []

    @cached_property
    def _classes(self) -> dict[str, JavaClass]:
        return {}

    @cached_property
    def _hashes(self) -> Hashes:
        return Hashes()

    def final(self, name: str) -> ClassSerializer | None:
        """The class of that name if it is final in Java."""
        return self.types.final(name)

    def read_any(self, data: bytes, pos: int, arguments: Arguments = ()) -> tuple[Any, int]:
        """A class and a value of it, or null."""
        read = self.by_byte[data[pos]]
        if read is not None:
            return read(data, pos + 1, self)
        return self.read_named(data, pos, arguments)

    def read_named(self, data: bytes, pos: int, arguments: Arguments = ()) -> tuple[Any, int]:
        """A class without a byte of its own and a value of it, or null."""
        serializer: Any = None
        end = pos + 2
        if data[pos] == 1 and (number := data[pos + 1]) < 0x80:
            # The class was named before, in this value or in another one.
            names = self.names
            if number < len(names):
                serializer = names[number]
            elif number == len(names):
                end = self.find(1, end) + 1
                serializer = self.spelled.get(data[pos + 2 : end])
                if serializer is not None:
                    names.append(serializer)
        if type(serializer) is not ClassSerializer:
            return self._read_any(data, pos, arguments)
        if arguments and serializer.generic:
            return serializer.read(data, end, self, arguments)
        return serializer.read(data, end, self)

    def _read_any(self, data: bytes, pos: int, arguments: Arguments) -> tuple[Any, int]:
        """A class that is unknown or read for the first time, and a value of it, or null."""
        serializer, end = self._serializer_or_name(data, pos)
        if not isinstance(serializer, ClassSerializer):
            serializer = self._unknown(serializer, data, pos, end)
            if serializer is None:
                return None, end
        if arguments and serializer.generic:
            return serializer.read(data, end, self, arguments)
        return serializer.read(data, end, self)

    def read_value(
        self, serializer: ClassSerializer, data: bytes, pos: int, arguments: Arguments = ()
    ) -> tuple[Any, int]:
        """A value whose class is known, not null."""
        if arguments and serializer.generic:
            return serializer.read(data, pos, self, arguments)
        return serializer.read(data, pos, self)

    def read_nullable(
        self, serializer: ClassSerializer, data: bytes, pos: int, arguments: Arguments = ()
    ) -> tuple[Any, int]:
        """A value whose class is known, or null."""
        if serializer.null_mark:
            present, pos = read_boolean(data, pos)
            if not present:
                return None, pos
        return self.read_value(serializer, data, pos, arguments)

    def register(self, value: Any) -> None:
        """Register the object being read before its content, which may refer back to it."""

    def read_class(self, data: bytes, pos: int) -> tuple[ClassSerializer | None, int]:
        """A class, or None for null.

        A named class is 01 and a number; numbers count from 0 within a value. The name follows as a string the first
        time.
        """
        found, end = self._serializer_or_name(data, pos)
        return (found if isinstance(found, ClassSerializer) else self._unknown(found, data, pos, end)), end

    def read_class_name(self, data: bytes, pos: int) -> tuple[str | None, int]:
        """The name of any class. None for null."""
        found, pos = self._serializer_or_name(data, pos)
        return (found.name if isinstance(found, ClassSerializer) else found), pos

    def java_class(self, name: str) -> JavaClass:
        """The Class of that name: one object for all occurrences, because two bytes may repeat the name."""
        return self._classes.get(name) or self._classes.setdefault(name, JavaClass(name))

    def _serializer_or_name(self, data: bytes, pos: int) -> tuple[ClassSerializer | str | None, int]:
        start = pos
        if data[pos] == 1:
            pos += 1
        else:
            number, pos = read_varint(data, pos)
            if number != 1:
                return (self._by_id(number - 2, start) if number else None), pos
        number, pos = read_varint(data, pos)
        names = self.names
        if number < len(names):
            return names[number], pos
        if number > len(names):
            raise Malformed(f"class number {number} has no name yet", start)
        # Most names were read before. They are found by their bytes, without decoding.
        spelled = data[pos : self.find(1, pos) + 1]
        known = self.spelled.get(spelled)
        if known is not None:
            names.append(known)
            return known, pos + len(spelled)
        name, end = read_string(data, pos, self)
        types = self.types
        if types.allowed and name not in types.ids and name not in types.boxes:
            raise Malformed(f"Java class {shorten(name or 'null', 200)} is none of the allowed classes", start)
        known = types.known(name or "")
        if known is not None and end - pos == len(spelled):
            self.spelled[spelled] = known
        found = known or types.named(name or "") or name or "null"
        names.append(found)
        return found, end

    def _unknown(self, name: str | None, data: bytes, start: int, end: int) -> ClassSerializer | None:
        """An undeclared class, named from ``start`` to ``end``, and its value. It can only be an exception, or null."""
        if name is None:
            return None
        if not may_be_exception(data, end, self):
            raise unreadable(name, start)
        return exception_type(name)

    def _by_id(self, class_id: int, pos: int) -> ClassSerializer | str:
        if class_id < len(BY_ID):
            return BY_ID[class_id]
        allowed = self.types.allowed
        if class_id - len(BY_ID) >= len(allowed):
            raise Malformed(f"class id {class_id} is not registered", pos)
        name = allowed[class_id - len(BY_ID)]
        return self.types.named(name) or name

    def enter(self, pos: int) -> None:
        """Go one level deeper. The caller decrements ``depth`` after reading the collection."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP, pos)

    def check_count(self, count: int, data: bytes, pos: int) -> None:
        """Refuse a number of elements that the remaining bytes cannot hold."""
        if count > len(data) - pos:
            raise Malformed(f"{count} elements are announced, {len(data) - pos} bytes are there", pos)

    def spend(self, count: int, pos: int) -> Budget | None:
        """Account for elements that take no bytes, and for their slots. Returns the budget for the elements
        themselves."""
        self._sizeless += count
        if self._sizeless > MAX_SIZELESS:
            raise Malformed(TOO_MANY_SIZELESS, pos)
        budget = current_budget()
        if budget is not None:
            budget.spend(PLACE * count, pos)
        return None if self.is_counting else budget

    def check_keys(self, keys: Collection[Any], pos: int, kind: Any = dict) -> None:
        """Refuse keys or elements of a container ``kind`` that take too many steps in its hash table."""
        if len(keys) > FEW_KEYS:
            self._hashes.check(keys, pos, kind)

    def check_hash(self, size: int, pos: int) -> None:
        """Refuse keys or elements that consist of this many objects if computing their hashes would take too long."""


_MAX_HASHED = 100_000
_ENOUGH = 1 << 60
#: The placeholder for an object that is being read and has no value yet.
_UNREAD = object()


class ReferenceReader(Reader):
    """A reader of bytes that were written with ``references=True``.

    A varint precedes each object: 1 for a new object, n + 2 for the n-th object so far, and 0 for null where it is
    possible.
    """

    references = True
    #: There is a mark between a class and its value.
    by_byte = (None,) * 256

    def __init__(self, types: Types, data: bytes) -> None:
        super().__init__(types, data)
        self._hashed = 0
        #: By number: how many objects each one contains if every reference is followed.
        self._sizes: list[int] = []
        self._objects: list[Any] = []
        self._open: list[int] = []
        self._used: set[int] = set()

    def read_any(self, data: bytes, pos: int, arguments: Arguments = ()) -> tuple[Any, int]:
        serializer, pos = self.read_class(data, pos)
        return (None, pos) if serializer is None else self.read_value(serializer, data, pos, arguments)

    read_named = read_any

    def read_value(
        self, serializer: ClassSerializer, data: bytes, pos: int, arguments: Arguments = ()
    ) -> tuple[Any, int]:
        if not serializer.shared:
            return serializer.read(data, pos, self)
        mark, end = read_varint(data, pos)
        if mark == 0:
            raise Malformed("a null where there can be none", pos)
        return self._read_marked(serializer, mark, data, end, arguments)

    def read_nullable(
        self, serializer: ClassSerializer, data: bytes, pos: int, arguments: Arguments = ()
    ) -> tuple[Any, int]:
        mark, end = read_varint(data, pos)
        if mark == 0:
            return None, end
        if not serializer.shared:
            return serializer.read(data, end, self)
        return self._read_marked(serializer, mark, data, end, arguments)

    def _read_marked(
        self, serializer: ClassSerializer, mark: int, data: bytes, pos: int, arguments: Arguments
    ) -> tuple[Any, int]:
        known = self._objects
        if mark > 1:
            if mark - 2 >= len(known):
                raise Malformed(f"there is no object {mark - 2} yet", pos)
            found = known[mark - 2]
            if found is _UNREAD:
                raise Malformed(f"the {serializer.name} refers back to an object that is not complete", pos)
            self._used.add(mark - 2)
            self.size = min(self.size + self._sizes[mark - 2], _ENOUGH)
            return found, pos
        number, before = len(known), self.size
        known.append(_UNREAD)
        self._sizes.append(1)
        self._open.append(number)
        value, end = (
            serializer.read(data, pos, self, arguments)
            if arguments and serializer.generic
            else serializer.read(data, pos, self)
        )
        self._open.pop()
        self.size = min(self.size + 1, _ENOUGH)
        self._sizes[number] = self.size - before
        if known[number] is not value:
            if number in self._used:
                raise Malformed(f"a {serializer.name} that Python cannot hold refers back to itself", pos)
            known[number] = value
        return value, end

    def check_hash(self, size: int, pos: int) -> None:
        # If an object contains the same object twice, and that one does so too, and so on, this would never end.
        self._hashed += size
        if self._hashed > _MAX_HASHED + 10 * len(self._objects):
            raise Malformed("the same objects are referred to too often in keys or elements of a set", pos)

    def register(self, value: Any) -> None:
        self._objects[self._open[-1]] = value


class CountingReader(Reader):
    """A reader that charges each value to a budget."""

    is_counting = True
    by_byte = (None,) * 256

    def __init__(self, types: Types, data: bytes, budget: Budget) -> None:
        super().__init__(types, data)
        self._budget = budget

    def read_named(self, data: bytes, pos: int, arguments: Arguments = ()) -> tuple[Any, int]:
        value, end = super().read_named(data, pos, arguments)
        self._budget.made(value, pos)
        return value, end

    def read_value(
        self, serializer: ClassSerializer, data: bytes, pos: int, arguments: Arguments = ()
    ) -> tuple[Any, int]:
        value, end = super().read_value(serializer, data, pos, arguments)
        self._budget.made(value, pos)
        return value, end


class CountingReferenceReader(ReferenceReader):
    """:class:`CountingReader` with references."""

    is_counting = True

    def __init__(self, types: Types, data: bytes, budget: Budget) -> None:
        super().__init__(types, data)
        self._budget = budget

    def read_value(
        self, serializer: ClassSerializer, data: bytes, pos: int, arguments: Arguments = ()
    ) -> tuple[Any, int]:
        value, end = super().read_value(serializer, data, pos, arguments)
        if not serializer.shared:
            self._budget.made(value, pos)
        return value, end

    def read_nullable(
        self, serializer: ClassSerializer, data: bytes, pos: int, arguments: Arguments = ()
    ) -> tuple[Any, int]:
        value, end = super().read_nullable(serializer, data, pos, arguments)
        if not serializer.shared:
            self._budget.made(value, pos)
        return value, end

    def _read_marked(
        self, serializer: ClassSerializer, mark: int, data: bytes, pos: int, arguments: Arguments
    ) -> tuple[Any, int]:
        value, end = super()._read_marked(serializer, mark, data, pos, arguments)
        if mark == 1:
            # Each inner object has its own mark.
            self._budget.made(value, pos, depth=1)
        return value, end
