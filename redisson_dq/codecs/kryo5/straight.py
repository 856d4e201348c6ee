"""Straight-line code for the objects of one declared class (see :mod:`redisson_dq.codecs.straight`).

Each field has a step, a function of :mod:`~redisson_dq.codecs.kryo5.objects` that handles every possible value. A
shortcut may precede the step: code for the ordinary values of a type, such as an ASCII text. All other values, invalid
ones included, go to the step. So a shortcut raises nothing itself, and values, bytes and errors are the same without
any shortcut. The types with a shortcut are those of the object in the codec benchmark, which shows what they are worth.
A shortcut for another type needs a row there.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed
from redisson_dq.codecs.kryo5.scalars import pack_double, unpack_double
from redisson_dq.codecs.kryo5.wire import string_bytes, varint
from redisson_dq.codecs.straight import attribute_of, compiled, is_plain
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, Long

__all__ = ["MOSTLY", "READ_SHORTCUTS", "WRITE_SHORTCUTS", "Step", "reading_function", "writing_function"]

#: By Java type of the field: the code that reads an ordinary value into the variable ``{value}``. ``else`` follows.
READ_SHORTCUTS: dict[str, str] = {
    "int": """
        byte = data[pos]
        if byte < 128:
            {value} = byte >> 1 ^ -(byte & 1)
            pos += 1
        elif data[pos + 1] < 128:
            {value} = (byte & 127 | data[pos + 1] << 7) >> 1 ^ -(byte & 1)
            pos += 2
        elif data[pos + 2] < 128:
            {value} = (byte & 127 | (data[pos + 1] & 127) << 7 | data[pos + 2] << 14) >> 1 ^ -(byte & 1)
            pos += 3
    """,
    "double": """
        if True:
            {value} = unpack_double(data, pos)[0]
            pos += 8
    """,
    "java.lang.Long": """
        if data[pos] == 1 and (byte := data[pos + 1]) < 128:
            {value} = new_int(Long, byte >> 1 ^ -(byte & 1))
            pos += 2
    """,
    # There is more than one byte up to the one with its top bit set: no ASCII string begins with such a byte.
    "java.lang.String": """
        end = find(1, pos) + 1
        if end > pos + 1:
            {value} = text[pos:end]
            pos = end
    """,
}

#: The class of most values in a field of this type. For a declared class, it is that class.
MOSTLY: dict[str, str] = {
    **dict.fromkeys(("java.lang.Iterable", "java.util.Collection", "java.util.List"), "java.util.ArrayList"),
    "java.util.Set": "java.util.HashSet",
    "java.util.Map": "java.util.LinkedHashMap",
}
#: The code that reads a value of that class if its name occurs for the first time. ``else`` follows.
_MOSTLY_READ = """
        names = reader.names
        count = len(names)
        if (
            count < FEW_NAMES
            and data.startswith(named_{number}[count], pos)
            and (found := reader.spelled.get(name_{number})) is not None
        ):
            names.append(found)
            {value}, end = found.read(data, pos + {length}, reader{arguments})
"""
#: For this many named classes, the bytes are prepared, for each number that a class can have.
_FEW_NAMES = 8

#: By Java type of the field: the code that writes an ordinary ``item``. ``else`` follows.
WRITE_SHORTCUTS: dict[str, str] = {
    "int": f"""
        if type(item) is int and {INT_MIN} <= item <= {INT_MAX}:
            number = item << 1 ^ item >> 31
            if number < 128:
                out.append(number)
            else:
                out += varint(number)
    """,
    "java.lang.Long": f"""
        if type(item) is Long or (type(item) is int and {LONG_MIN} <= item <= {LONG_MAX}):
            number = item << 1 ^ item >> 63
            out.append(1)
            if number < 128:
                out.append(number)
            else:
                out += varint(number)
        elif item is None:
            out.append(0)
    """,
    "double": """
        if type(item) is float and item == item:
            out += pack_double(item)
    """,
    "java.lang.String": """
        if type(item) is str:
            if 1 < len(item) < 33 and item.isascii():
                out += item.encode()
                out[-1] |= 128
            else:
                out += string_bytes(item)
        elif item is None:
            out.append(128)
    """,
}
_KNOWN: dict[str, Any] = {
    "FEW_NAMES": _FEW_NAMES,
    "Long": Long,
    "new_int": int.__new__,
    "new_object": object.__new__,
    "pack_double": pack_double,
    "string_bytes": string_bytes,
    "unpack_double": unpack_double,
    "varint": varint,
}


@attrs.frozen
class Step:
    """A field: its attribute, its step, and the Java type of its shortcut, if there is one.

    If ``is_open``, the value carries its class, and there is no step: the reader or writer handles it, with the
    ``arguments`` of the field's type. ``mostly`` is the encoded class of most such values. ``check`` checks that a
    value fits the field, unless its type is in ``fits``. ``place`` converts a value to be written to the field's type,
    unless its type is in ``fits``.
    """

    attribute: str
    step: Callable[..., Any] | None = None
    shortcut: str = ""
    is_open: bool = False
    arguments: Any = ()
    check: Callable[[Any, int], None] | None = None
    fits: Any = frozenset()
    place: Any = None
    mostly: bytes = b""


def reading_function(
    steps: Sequence[Step],
    *,
    class_name: str,
    new: Callable[[], Any] | None,
    complete: Callable[..., Any],
    by_keyword: bool,
    is_made_by_init: bool,
    raise_in_field: Callable[..., Any],
    raise_unmakable: Callable[..., Any],
) -> Callable[..., tuple[Any, int]]:
    """The function that reads an object's fields and makes it.

    ``new`` makes the object before its fields are read; then ``complete`` fills it. Without ``new``, ``complete`` makes
    the object. It takes the values as a dict, or as keyword arguments. With ``is_made_by_init`` it is a class whose
    call only makes an object and calls ``__init__``. The last two functions raise the error of a field, and of making
    the object.
    """
    names: dict[str, Any] = {"MAX_DEPTH": MAX_DEPTH, "TOO_DEEP": TOO_DEEP, "Malformed": Malformed, **_KNOWN}
    names.update(class_name=class_name, new=new, complete=complete)
    names.update(raise_in_field=raise_in_field, raise_unmakable=raise_unmakable)
    lines = [
        "def read(data, pos, reader):",
        "    start = pos",
        "    find, text = reader.find, reader.text",
        "    depth = reader.depth + 1",
        "    if depth > MAX_DEPTH:",
        "        raise Malformed(TOO_DEEP, pos)",
        "    reader.depth = depth",
    ]
    if new is not None:
        lines += ["    instance = new()", "    reader.register(instance)"]
    lines += ["    at = 0", "    try:", "        pass"]
    for number, step in enumerate(steps):
        names.update({f"step_{number}": step.step, f"arguments_{number}": step.arguments})
        names.update({f"check_{number}": step.check, f"fits_{number}": step.fits})
        names[f"name_{number}"] = step.mostly
        names[f"named_{number}"] = tuple(bytes((1, count)) + step.mostly for count in range(_FEW_NAMES))
        lines += [f"        at = {number}", *_reading_lines(step, number)]
    lines += [
        "    except RecursionError:",
        "        raise",
        "    except Exception as error:",
        "        raise_in_field(error, at, data, reader)",
        "    reader.depth = depth - 1",
        "    reader.seen[class_name] = None",
        "    try:",
    ]
    if by_keyword and all(is_plain(step.attribute) for step in steps):
        values = ", ".join(f"{step.attribute}=value_{number}" for number, step in enumerate(steps))
    else:
        pairs = ", ".join(f"{step.attribute!r}: value_{number}" for number, step in enumerate(steps))
        values = f"**{{{pairs}}}" if by_keyword else f"{{{pairs}}}"
    if is_made_by_init:
        # The same as calling the class, without the detour through C.
        lines += [
            "        instance = new_object(complete)",
            f"        if complete.__init__(instance, {values}) is not None:",
            "            raise TypeError('__init__() should return None')",
            "        return instance, pos",
        ]
    elif new is None:
        lines += [f"        return complete({values}), pos"]
    else:
        lines += [f"        complete(instance, {values})", "        return instance, pos"]
    lines += ["    except Exception as error:", "        raise_unmakable(error, start)"]
    read: Callable[..., tuple[Any, int]] = compiled(lines, names, "read", class_name)
    return read


def _reading_lines(step: Step, number: int) -> list[str]:
    value, call = f"value_{number}", f"step_{number}(data, pos, reader)"
    if step.is_open:
        arguments = f", arguments_{number}" if step.arguments else ""
        lines = [f"{value}, end = reader.read_any(data, pos{arguments})"]
        if step.mostly:
            named = _MOSTLY_READ.format(number=number, value=value, length=len(step.mostly) + 2, arguments=arguments)
            lines = [*_lines_of(named), "else:", *("    " + line for line in lines)]
        if step.check is not None:
            lines += [f"if type({value}) not in fits_{number}:", f"    check_{number}({value}, pos)"]
        lines += ["pos = end"]
    elif step.shortcut in READ_SHORTCUTS:
        shortcut = _lines_of(READ_SHORTCUTS[step.shortcut].replace("{value}", value))
        lines = [*shortcut, "else:", f"    {value}, pos = {call}"]
    else:
        lines = [f"{value}, pos = {call}"]
    return [" " * 8 + line for line in lines]


def writing_function(
    steps: Sequence[Step], *, class_name: str, raise_in_field: Callable[..., Any]
) -> Callable[..., None]:
    """The function that writes an object's fields. ``raise_in_field`` raises the error of a field."""
    names: dict[str, Any] = {"MAX_DEPTH": MAX_DEPTH, "raise_in_field": raise_in_field, **_KNOWN}
    lines = [
        "def write(value, writer):",
        "    if writer.depth >= MAX_DEPTH:",
        "        writer.enter()",
        "    writer.depth += 1",
        "    out = writer.out",
        "    at = 0",
        "    try:",
        "        pass",
    ]
    for number, step in enumerate(steps):
        names.update({f"step_{number}": step.step, f"arguments_{number}": step.arguments})
        names.update({f"place_{number}": step.place, f"fits_{number}": step.fits})
        lines += [f"        at = {number}", *_writing_lines(step, number)]
    lines += [
        "    except Exception as error:",
        "        raise_in_field(error, at, value)",
        "    writer.depth -= 1",
    ]
    write: Callable[..., None] = compiled(lines, names, "write", class_name)
    return write


def _writing_lines(step: Step, number: int) -> list[str]:
    lines = [f"item = {attribute_of('value', step.attribute)}"]
    general = []
    if step.place is not None:
        general += [f"if type(item) not in fits_{number}:", f"    item = place_{number}(item, writer.notes)"]
    if step.is_open:
        general += [f"writer.write_any(item{f', arguments_{number}' if step.arguments else ''})"]
    else:
        general += [f"step_{number}(item, writer)"]
    if step.shortcut in WRITE_SHORTCUTS:
        lines += [*_lines_of(WRITE_SHORTCUTS[step.shortcut]), "else:", *("    " + line for line in general)]
    else:
        lines += general
    return [" " * 8 + line for line in lines]


def _lines_of(shortcut: str) -> list[str]:
    return textwrap.dedent(shortcut).strip().splitlines()
