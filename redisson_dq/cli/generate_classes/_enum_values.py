"""The arguments of an enum's constants, and which of them a method returns, as far as the code shows.

Nothing is run. A constant that is made with anything but texts and numbers is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from redisson_dq.cli.generate_classes._bytecode import INVOCATIONS, NEW, PUT_STATIC, instructions
from redisson_dq.cli.generate_classes._initial import CONSTANTS, Pool

__all__ = ["NAMES", "constant_values", "returned"]

_ALOAD_0, _DUP, _GETSTATIC, _GETFIELD, _PUTFIELD = 0x2A, 0x59, 0xB2, 0xB4, 0xB5
_INVOKESPECIAL, _INVOKEVIRTUAL = 0xB7, 0xB6
_RETURNS = frozenset(range(0xAC, 0xB1))
_LOADS = {  # iload, lload, aload: of the number after the operation, and of 0 to 3
    **dict.fromkeys((0x15, 0x16, 0x19), -1),
    **{base + number: number for base in (0x1A, 0x1E, 0x2A) for number in range(4)},
}
_TYPES = re.compile(r"\[*(?:[ZBCSIJFD]|L[^;]+;)")
_KEPT = frozenset(("B", "S", "I", "J", "Ljava/lang/String;", "Ljava/lang/Integer;", "Ljava/lang/Long;"))
_BOXING = re.compile(r"java\.lang\.(Byte|Short|Integer|Long)")

#: The change that a method makes to the constant's name before it returns it.
NAMES: dict[str, Callable[[str], str]] = {"name()": str, "toLowerCase()": str.lower, "toUpperCase()": str.upper}

_Value = str | int | None


def constant_values(
    name: str, initializer: bytes, constructors: Mapping[str, bytes], pool: Pool
) -> dict[str, dict[str, str | int]]:
    """By constant of the enum, by field: the text or number in it, of those that are known. O(length)."""
    stored = {descriptor: _stored(code, name, descriptor, pool) for descriptor, code in constructors.items()}
    found: dict[str, dict[str, str | int]] = {}
    pushed: list[_Value] | None = None
    made: dict[str, str | int] | None = None
    for operation, at in instructions(initializer, 0, len(initializer)):
        if operation == NEW:
            pushed = [] if pushed is None else [*pushed, None]
        elif operation == PUT_STATIC:
            owner, field, descriptor = pool.member(_index(initializer, at))
            if made is not None and owner == name and descriptor == f"L{name.replace('.', '/')};":
                found[field] = made
            pushed = made = None
        elif operation == _INVOKESPECIAL and pushed is not None:
            owner, _, descriptor = pool.member(_index(initializer, at))
            count = len(_TYPES.findall(descriptor.partition(")")[0]))
            if owner.partition("$")[0] == name.partition("$")[0] and descriptor in stored and len(pushed) >= count:
                values = pushed[len(pushed) - count :]
                places = stored[descriptor].items()
                made = {field: value for field, place in places if (value := values[place]) is not None}
        elif operation in INVOCATIONS and pushed:
            owner, method, _ = pool.member(_index(initializer, at))
            if method != "valueOf" or _BOXING.fullmatch(owner) is None:
                pushed[-1] = None
                pushed.append(None)  # more than one may be gone: the values before are not known
                pushed[:] = [None] * len(pushed)
        elif operation != _DUP and pushed is not None:
            pushed.append(_pushed(operation, initializer, at, pool))
    return found


def returned(code: bytes, name: str, pool: Pool) -> str:
    """The field of the enum that a method returns, or one of ``NAMES``. Empty for any other method. O(length)."""
    steps = list(instructions(code, 0, len(code)))
    if len(steps) < 3 or steps[0][0] != _ALOAD_0 or steps[-1][0] not in _RETURNS:
        return ""
    if not {operation for operation, _ in steps[1:-1]} <= {_GETFIELD, _GETSTATIC, _INVOKEVIRTUAL}:
        return ""
    calls = [(operation, pool.member(_index(code, at))) for operation, at in steps[1:-1] if operation != _GETSTATIC]
    if len(calls) == 1 and calls[0][0] == _GETFIELD and calls[0][1][0] == name:
        return calls[0][1][1]
    if any(operation != _INVOKEVIRTUAL for operation, _ in calls) or not calls or calls[0][1][1] != "name":
        return ""
    change = f"{calls[-1][1][1]}()"
    return change if len(calls) <= 2 and change in NAMES else ""


def _stored(code: bytes, name: str, descriptor: str, pool: Pool) -> dict[str, int]:
    """By field: the parameter of the constructor that is put into it as it is."""
    places: dict[int, int] = {}
    slot = 1
    types = _TYPES.findall(descriptor.partition(")")[0])
    for place, kind in enumerate(types):
        places[slot] = place
        slot += 2 if kind in ("J", "D") else 1
    found: dict[str, list[int | None]] = {}
    loaded: int | None = None
    is_this = False
    for operation, at in instructions(code, 0, len(code)):
        if operation == _PUTFIELD:
            owner, field, _ = pool.member(_index(code, at))
            if owner == name:
                found.setdefault(field, []).append(loaded if is_this else None)
            loaded, is_this = None, False
        elif operation == _ALOAD_0:
            loaded, is_this = None, True
        elif operation in _LOADS and loaded is None and is_this:
            loaded = places.get(code[at] if _LOADS[operation] < 0 else _LOADS[operation])
            is_this = loaded is not None
        else:
            loaded, is_this = None, False
    return {
        field: put[0] for field, put in found.items() if len(put) == 1 and put[0] is not None and types[put[0]] in _KEPT
    }


def _pushed(operation: int, code: bytes, at: int, pool: Pool) -> _Value:
    """The constant that an operation gives, if it is a text or a whole number."""
    value: int | float | str | None = CONSTANTS.get(operation)
    if operation == 0x10:
        value = int.from_bytes(code[at : at + 1], "big", signed=True)
    elif operation == 0x11:
        value = int.from_bytes(code[at : at + 2], "big", signed=True)
    elif operation == 0x12:
        value = pool.constant(code[at])
    elif operation in (0x13, 0x14):
        value = pool.constant(_index(code, at))
    return None if isinstance(value, float) else value


def _index(code: bytes, at: int) -> int:
    return int.from_bytes(code[at : at + 2], "big")
