"""Values that a class's constructors put into its fields: constants, empty collections, enum constants, their own
parameters.

Only code that runs from its beginning to its end is read, instruction by instruction; nothing is executed. A value
that takes more than a constant or ``new ArrayList<>()`` is not known, and code after a branch is not read.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from typing import Union

import attrs

from redisson_dq.cli.generate_classes._bytecode import NEW, OPERANDS

__all__ = [
    "CONSTANTS",
    "Constant",
    "Constructor",
    "EnumMember",
    "Initial",
    "NewObject",
    "Parameter",
    "Pool",
    "constructor",
]


@attrs.frozen
class Constant:
    """A number or a text; of a boolean or a char the int that stands for it."""

    value: int | float | str


@attrs.frozen
class NewObject:
    """An object of this class, as it is when it is new: of a collection, an empty one."""

    name: str


@attrs.frozen
class EnumMember:
    """A static field of a class that the field is declared as."""

    owner: str
    name: str


@attrs.frozen
class Parameter:
    """The argument that the constructor gets there."""

    place: int


Initial = Union[Constant, NewObject, EnumMember]
_Value = Union[Initial, Parameter, None]


@attrs.frozen
class Constructor:
    """The work of a constructor: it calls another one, then it fills fields.

    ``calls`` is the class and the descriptor of the other one, and ``given`` its arguments as far as they are known.
    ``fields`` are the class's own and inherited ones. None is a value that is not known.
    """

    calls: tuple[str, str]
    given: tuple[_Value, ...]
    fields: Mapping[str, _Value]


@attrs.frozen
class Pool:
    """How the constants of a class file are looked up; each raises BadClass or IndexError for another kind."""

    constant: Callable[[int], int | float | str | None]
    class_name: Callable[[int], str]
    #: The class, the name and the descriptor of a field or a method.
    member: Callable[[int], tuple[str, str, str]]


_ALOAD_0, _DUP, _RETURN, _GETSTATIC, _PUTFIELD = 0x2A, 0x59, 0xB1, 0xB2, 0xB5
_INVOKEVIRTUAL, _INVOKESPECIAL, _INVOKESTATIC = 0xB6, 0xB7, 0xB8
#: The result of an operation by itself.
CONSTANTS: dict[int, int | float] = {
    **{0x02 + number: number - 1 for number in range(7)},
    **{0x09 + number: number for number in range(2)},
    **{0x0B + number: float(number) for number in range(3)},
    **{0x0E + number: float(number) for number in range(2)},
}
#: Loads of a local variable: its number is after the operation, or in it.
_LOADS = {**dict.fromkeys(range(0x15, 0x1A), -1), **{0x1A + number: number % 4 for number in range(20)}}
#: Operations after which the code does not always run: branches, switches, returns, throws, the wide form.
_ENDS = frozenset((*range(0x99, 0xB2), 0xBF, 0xC4, 0xC6, 0xC7, 0xC8, 0xC9))
_BOXING = re.compile(r"java\.lang\.(Boolean|Byte|Character|Short|Integer|Long|Float|Double)")
_TYPES = re.compile(r"\[*(?:[ZBCSIJFD]|L[^;]+;)")
#: Static methods that give an empty collection, or the same as a constructor would.
_EMPTY = {
    ("java.util.List", "of"): "java.util.ArrayList",
    ("java.util.Set", "of"): "java.util.HashSet",
    ("java.util.Map", "of"): "java.util.HashMap",
    ("java.util.Collections", "emptyList"): "java.util.ArrayList",
    ("java.util.Collections", "emptySet"): "java.util.HashSet",
    ("java.util.Collections", "emptyMap"): "java.util.HashMap",
}


def constructor(code: bytes, name: str, descriptor: str, pool: Pool) -> Constructor | None:
    """The work of a constructor of the class ``name``; None where its first call is not found. O(length)."""
    return _Reader(code, name, descriptor, pool).constructor()


class _Reader:
    def __init__(self, code: bytes, name: str, descriptor: str, pool: Pool) -> None:
        self._code, self._name, self._pool = code, name, pool
        self._at = 0
        self._places: dict[int, int] = {}
        slot = 1
        for place, kind in enumerate(_TYPES.findall(descriptor.partition(")")[0])):
            self._places[slot] = place
            slot += 2 if kind in ("J", "D") else 1

    def constructor(self) -> Constructor | None:
        call = self._first_call()
        if call is None:
            return None
        calls, given = call
        found: dict[str, _Value] = {}
        while self._at < len(self._code):
            start = self._at
            value = self._value() if self._accept(_ALOAD_0) else None
            if value is not None and self._next() == _PUTFIELD:
                field = self._field()
                if field is not None:
                    found[field] = value
                continue
            self._at = start
            if not self._skip_statement(found):
                break
        return Constructor(calls, given, {**found, **dict.fromkeys(self._assigned_later())})

    def _first_call(self) -> tuple[tuple[str, str], tuple[_Value, ...]] | None:
        """Go on after the call of another constructor. Its arguments are known if all of them are simple."""
        if not self._accept(_ALOAD_0):
            return None
        start = self._at
        given: list[_Value] = []
        while self._at < len(self._code) and self._next() != _INVOKESPECIAL and None not in given:
            given.append(self._value())
        if self._at >= len(self._code) or None in given:
            self._at = start
            if not self._skip_arguments():
                return None
        self._at += 1
        owner, method, descriptor = self._pool.member(self._index())
        if method != "<init>":
            return None
        count = len(_TYPES.findall(descriptor.partition(")")[0]))
        return (owner, descriptor), tuple(given) if len(given) == count and None not in given else (None,) * count

    def _skip_arguments(self) -> bool:
        """Go to the call of the other constructor. False if a branch is before it."""
        made = 0
        while self._at < len(self._code):
            opcode = self._next()
            if opcode in _ENDS:
                return False
            if opcode == NEW:
                made += 1
            elif opcode == _INVOKESPECIAL and self._pool.member(self._index_at(self._at + 1))[1] == "<init>":
                if not made:
                    return True
                made -= 1
            self._at += 1 + OPERANDS.get(opcode, 0)
        return False

    def _skip_statement(self, found: dict[str, _Value]) -> bool:
        """Go on after the next assignment to a field, whose value is not known; False at the end or a branch."""
        while self._at < len(self._code):
            opcode = self._next()
            if opcode in _ENDS:
                return False
            if opcode == _PUTFIELD:
                field = self._field()
                if field is not None:
                    found[field] = None
                return True
            self._at += 1 + OPERANDS.get(opcode, 0)
        return False

    def _assigned_later(self) -> set[str]:
        """The fields that the rest may assign. It is looked at byte by byte, so there may be too many."""
        found = set()
        rest = self._code[self._at :]
        for at in range(len(rest) - 2):
            if rest[at] == _PUTFIELD:
                try:
                    owner, field, _ = self._pool.member(int.from_bytes(rest[at + 1 : at + 3], "big"))
                except (ValueError, IndexError):
                    continue
                if owner == self._name:
                    found.add(field)
        return found

    # One value

    def _value(self) -> _Value:
        opcode = self._next()
        if opcode == NEW:
            return self._new_object()
        if opcode == _GETSTATIC:
            self._at += 1
            owner, field, descriptor = self._pool.member(self._index())
            if owner == "java.lang.Boolean" and field in ("TRUE", "FALSE"):
                return Constant(int(field == "TRUE"))
            return EnumMember(owner, field) if descriptor == f"L{owner.replace('.', '/')};" else None
        if opcode == _INVOKESTATIC:
            self._at += 1
            owner, method, descriptor = self._pool.member(self._index())
            empty = _EMPTY.get((owner, method)) if descriptor.startswith("()") else None
            return NewObject(empty) if empty is not None else None
        value = self._parameter() if opcode in _LOADS else self._constant()
        while value is not None and self._at < len(self._code) and self._next() in (_INVOKESTATIC, _INVOKEVIRTUAL):
            self._at += 1
            owner, method, _ = self._pool.member(self._index())
            if _BOXING.fullmatch(owner) is None or not (method == "valueOf" or method.endswith("Value")):
                return None
        return value

    def _parameter(self) -> Parameter | None:
        number = _LOADS[self._next()]
        self._at += 1
        place = self._places.get(self._unpack(">B") if number < 0 else number)
        return None if place is None else Parameter(place)

    def _new_object(self) -> Initial | None:
        self._at += 1
        name = self._pool.class_name(self._index())
        if not self._accept(_DUP):
            return None
        if self._next() != _INVOKESPECIAL and self._constant() is None:  # a capacity
            return None
        if not self._accept(_INVOKESPECIAL):
            return None
        owner, method, descriptor = self._pool.member(self._index())
        return NewObject(name) if (owner, method) == (name, "<init>") and descriptor in ("()V", "(I)V") else None

    def _constant(self) -> Constant | None:
        opcode = self._next()
        self._at += 1
        if opcode in CONSTANTS:
            return Constant(CONSTANTS[opcode])
        if opcode == 0x10:
            return Constant(self._unpack(">b"))
        if opcode == 0x11:
            return Constant(self._unpack(">h"))
        if opcode in (0x12, 0x13, 0x14):
            value = self._pool.constant(self._unpack(">B") if opcode == 0x12 else self._index())
            return None if value is None else Constant(value)
        return None

    # Moving on

    def _next(self) -> int:
        return self._code[self._at]

    def _accept(self, opcode: int) -> bool:
        here = self._at < len(self._code) and self._code[self._at] == opcode
        self._at += here
        return here

    def _field(self) -> str | None:
        """The field of this class that a putfield names."""
        self._at += 1
        owner, field, _ = self._pool.member(self._index())
        return field if owner == self._name else None

    def _index(self) -> int:
        return self._unpack(">H")

    def _index_at(self, at: int) -> int:
        return int.from_bytes(self._code[at : at + 2], "big")

    def _unpack(self, layout: str) -> int:
        found: int = struct.unpack_from(layout, self._code, self._at)[0]
        self._at += struct.calcsize(layout)
        return found
