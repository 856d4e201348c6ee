"""What a class's constructor without arguments puts into its fields: constants, empty collections, enum constants.

Only code that runs from its beginning to its end is read, instruction by instruction; nothing is executed. A value
that takes more than a constant or ``new ArrayList<>()`` is not known, and what stands behind a branch is not read.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Union

import attrs

from redisson_dq.cli.generate_classes._bytecode import NEW, OPERANDS

__all__ = ["CONSTANTS", "Constant", "EnumMember", "Initial", "NewObject", "Pool", "initial_values"]


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


Initial = Union[Constant, NewObject, EnumMember]


@attrs.frozen
class Pool:
    """How the constants of a class file are looked up; each raises BadClass or IndexError for another kind."""

    constant: Callable[[int], int | float | str | None]
    class_name: Callable[[int], str]
    #: The class, the name and the descriptor of a field or a method.
    member: Callable[[int], tuple[str, str, str]]


_ALOAD_0, _DUP, _RETURN, _GETSTATIC, _PUTFIELD = 0x2A, 0x59, 0xB1, 0xB2, 0xB5
_INVOKESPECIAL, _INVOKESTATIC = 0xB7, 0xB8
#: What an operation alone gives.
CONSTANTS: dict[int, int | float] = {
    **{0x02 + number: number - 1 for number in range(7)},
    **{0x09 + number: number for number in range(2)},
    **{0x0B + number: float(number) for number in range(3)},
    **{0x0E + number: float(number) for number in range(2)},
}
#: Where what comes next does not always run: branches, switches, returns, throws, the wide form.
_ENDS = frozenset((*range(0x99, 0xB2), 0xBF, 0xC4, 0xC6, 0xC7, 0xC8, 0xC9))
_BOXING = re.compile(r"java\.lang\.(Boolean|Byte|Character|Short|Integer|Long|Float|Double)")
#: Static methods that give an empty collection, or the same as a constructor would.
_EMPTY = {
    ("java.util.List", "of"): "java.util.ArrayList",
    ("java.util.Set", "of"): "java.util.HashSet",
    ("java.util.Map", "of"): "java.util.HashMap",
    ("java.util.Collections", "emptyList"): "java.util.ArrayList",
    ("java.util.Collections", "emptySet"): "java.util.HashSet",
    ("java.util.Collections", "emptyMap"): "java.util.HashMap",
}


def initial_values(code: bytes, name: str, pool: Pool) -> dict[str, Initial]:
    """By field of the class ``name``: its value when this constructor has run, of those that are known. O(length)."""
    return _Reader(code, name, pool).values()


class _Reader:
    def __init__(self, code: bytes, name: str, pool: Pool) -> None:
        self._code, self._name, self._pool = code, name, pool
        self._at = 0

    def values(self) -> dict[str, Initial]:
        found: dict[str, Initial] = {}
        if not self._calls_superclass():
            return found
        unknown: set[str] = set()
        while self._at < len(self._code):
            start = self._at
            value = self._value() if self._accept(_ALOAD_0) else None
            if value is not None and self._next() == _PUTFIELD:
                field = self._field()
                if field is not None:
                    found[field] = value
                continue
            self._at = start
            if not self._skip_statement(unknown):
                break
        unknown.update(self._assigned_later())
        return {field: value for field, value in found.items() if field not in unknown}

    def _calls_superclass(self) -> bool:
        if not (self._accept(_ALOAD_0) and self._accept(_INVOKESPECIAL)):
            return False
        owner, method, descriptor = self._pool.member(self._index())
        return method == "<init>" and descriptor == "()V" and owner != self._name

    def _skip_statement(self, unknown: set[str]) -> bool:
        """Go on behind the next assignment to a field, whose value is not known; False at the end or a branch."""
        while self._at < len(self._code):
            opcode = self._next()
            if opcode in _ENDS:
                return False
            if opcode == _PUTFIELD:
                field = self._field()
                if field is not None:
                    unknown.add(field)
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
                found.add(field if owner == self._name else "")
        return found

    # One value

    def _value(self) -> Initial | None:
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
        constant = self._constant()
        if constant is not None and self._at < len(self._code) and self._next() == _INVOKESTATIC:
            self._at += 1
            owner, method, _ = self._pool.member(self._index())
            return constant if method == "valueOf" and _BOXING.fullmatch(owner) else None
        return constant

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

    def _unpack(self, layout: str) -> int:
        found: int = struct.unpack_from(layout, self._code, self._at)[0]
        self._at += struct.calcsize(layout)
        return found
