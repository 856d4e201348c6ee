"""The classes of ordinary streams: the bytes that describe each, and the function that reads its objects.

A stream describes each of its classes once. The bytes are the same in most streams, except for references to earlier
texts and classes. So they are parsed once, and only compared from then on.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import attrs

from redisson_dq.codecs.serialization import class_descriptors, declared, registry, throwables
from redisson_dq.codecs.serialization.descriptors import jdk_descriptor
from redisson_dq.codecs.serialization.reader import StreamReader
from redisson_dq.codecs.serialization.stream import SC_SERIALIZABLE, ClassDesc
from redisson_dq.codecs.straight import Unusual, compiled, is_plain
from redisson_dq.java.assignable import parts_are_assignable, type_fits, value_is_assignable
from redisson_dq.java.declaration import Declaration, Field
from redisson_dq.java.numbers import Long
from redisson_dq.java.registry import declaration_of, generation
from redisson_dq.java.signatures import Signature

__all__ = ["Class", "Classes", "incomplete"]

#: The limits: known classes, descriptions of each class, and bytes of a description. If streams exceed them, known
#: descriptions are dropped and have to be parsed again.
_MOST_KNOWN = 512
_MOST_VARIANTS = 8
_MOST_BYTES = 4096


class _Incomplete:
    """Marks a handle whose object must not be referred to: it is incomplete, or would be another object in Python."""


incomplete: Any = _Incomplete()

_Read = Callable[[bytes, int, Any, int, "Class"], "tuple[Any, int]"]


@attrs.define(eq=False)
class Class:
    """A class as a stream describes it, and the function that reads its objects. None if they are not ordinary."""

    desc: ClassDesc
    above: Class | None
    read: _Read | None


@attrs.frozen
class _Described:
    """The bytes of a class, the handles and texts that they add, and the handles that they refer to.

    If they refer to their own handles, exactly ``base`` handles must precede them.
    """

    raw: bytes
    found: Class
    handles: tuple[Any, ...]
    texts: tuple[str, ...]
    references: tuple[tuple[int, Any], ...]
    base: int | None


class _Recorded(list[Any]):
    """Handles that note which of them are used."""

    asked: set[int]

    def __getitem__(self, index: Any) -> Any:
        self.asked.add(index)
        return list.__getitem__(self, index)


class Classes:
    """The known classes. They are valid until another class is declared, which may have the same name as a known
    one."""

    def __init__(self, of_jdk: dict[str, _Read]) -> None:
        self.generation = generation()
        self._of_jdk = of_jdk
        self._known: dict[bytes, list[_Described]] = {}
        self._classes: dict[Any, Class] = {}

    def known(self, data: bytes, pos: int, handles: list[Any]) -> _Described | None:
        """The class that is described at ``pos``, if its description is known."""
        for described in self._known.get(_head(data, pos), ()):
            if described.base in (None, len(handles)) and data.startswith(described.raw, pos):
                for index, item in described.references:
                    found = handles[index] if index < len(handles) else None
                    if found is not item and (type(item) is not str or type(found) is not str or found != item):
                        break
                else:
                    return described
        return None

    def learned(self, data: bytes, pos: int, handles: list[Any]) -> _Described:
        """The class at ``pos``, whose description is not known yet, with its bytes."""
        reader = StreamReader(data[:4])
        reader.data = data
        reader.pos = pos
        reader.handles = recorded = _Recorded(item.desc if type(item) is Class else item for item in handles)
        recorded.asked = set()
        desc = reader.class_desc()
        new = list(itertools.islice(recorded, len(handles), None))
        references = tuple((index, handles[index]) for index in sorted(recorded.asked) if index < len(handles))
        # The annotation of a class may hold other objects.
        if desc is None or reader.other or any(type(item) not in (ClassDesc, str) for item in new):
            raise Unusual
        if any(type(item) not in (Class, str) for _index, item in references):
            raise Unusual
        texts = tuple(item for item in new if type(item) is str)
        added = tuple(self.of(item) if type(item) is ClassDesc else item for item in new)
        base = None if len(references) == len(recorded.asked) else len(handles)
        described = _Described(data[pos : reader.pos], self.of(desc), added, texts, references, base)
        if len(described.raw) <= _MOST_BYTES:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            variants = self._known.get(_head(data, pos), [])
            self._known[_head(data, pos)] = [described, *variants[: _MOST_VARIANTS - 1]]
        return described

    def of(self, desc: ClassDesc) -> Class:
        """The one Class of all equal descriptions."""
        above = None if desc.superclass is None else self.of(desc.superclass)
        key = desc.name, desc.uid, desc.flags, desc.fields, desc.interfaces, above
        found = self._classes.get(key)
        if found is None:
            found = Class(desc, above, self._reader(desc))
            size = len(desc.name) + sum(len(field.name) + len(field.type) for field in desc.fields)
            if size <= _MOST_BYTES:
                if len(self._classes) >= _MOST_KNOWN:
                    self._classes.clear()
                self._classes[key] = found
        return found

    def _reader(self, desc: ClassDesc) -> _Read | None:
        if desc.interfaces is not None:
            return None
        read = self._of_jdk.get(desc.name)
        if read is not None:
            return read if _is_same(desc, jdk_descriptor(desc.name)) else None
        declaration = declaration_of(desc.name)
        if declaration is None or declaration.extends or declaration.kind == "enum":
            return None
        if desc.name in registry.BY_NAME or throwables.is_throwable(desc):
            return None
        return _of_class(desc, declaration)


def _head(data: bytes, pos: int) -> bytes:
    """The name of a class and its serialVersionUID."""
    return data[pos + 1 : pos + 11 + (data[pos + 1] << 8 | data[pos + 2])]


def _is_same(desc: ClassDesc | None, other: ClassDesc | None) -> bool:
    """Whether both describe the same, up to the topmost class."""
    while desc is not None and other is not None:
        if not desc.same_as(other):
            return False
        desc, other = desc.superclass, other.superclass
    return desc is other


_TEXT = """
if data[pos] == 0x74:
    value_{number}, pos = s.text(data, pos)
else:
    value_{number}, pos = s.value(data, pos, below)
    if value_{number} is not None and type(value_{number}) is not str:
        raise Unusual
"""
_LEAF = """
value_{number}, pos = s.leaf(data, pos, below, {name!r}, kind_{number})
"""
_ANY = """
value_{number}, pos = s.value(data, pos, below)
"""
_CHECKED = (
    _ANY
    + """
if value_{number} is not None and type(value_{number}) not in fits_{number}:
    check_{number}(value_{number})
"""
)
#: For classes whose objects may be referred to: the type of their values.
_KINDS: dict[str, type] = {"java.lang.Boolean": bool, "java.lang.Integer": int, "java.lang.Long": Long}


def _of_class(desc: ClassDesc, declaration: Declaration) -> _Read | None:
    """The function that reads an object of a declared class. None if the stream describes the class otherwise."""
    fields = _fields(desc, declaration)
    if fields is None:
        return None
    names: dict[str, Any] = {
        "Unusual": Unusual,
        "chr": chr,
        "declaration": declaration,
        "incomplete": incomplete,
        "new_object": object.__new__,
        "python": declaration.python,
        "set_attribute": object.__setattr__,
    }
    lines = ["number = len(s.handles)", "s.handles.append(incomplete)", "below = depth + 1"]
    values: dict[str, str] = {}
    for part in desc.lineage:
        primitives, packed, others = part.layout
        if packed:
            names[f"unpack_{len(values)}"] = primitives.unpack_from
            targets = "".join(f"value_{len(values) + index}, " for index in range(len(packed)))
            lines += [f"{targets} = unpack_{len(values)}(data, pos)", f"pos += {primitives.size}"]
        for name in packed:
            field = fields[part.name, name]
            number = len(values)
            values[field.attribute] = f"chr(value_{number})" if field.type.name == "char" else f"value_{number}"
        for name in others:
            field = fields[part.name, name]
            number, type_name = len(values), field.type.name
            if field.type.variable is not None:
                text = _ANY
            elif type_name == "java.lang.String":
                text = _TEXT
            elif type_name in declared.LEAVES:
                text = _LEAF
                names[f"kind_{number}"] = _KINDS.get(type_name)
            else:
                text = _CHECKED
                fits: set[type] = set()
                names[f"fits_{number}"] = fits
                names[f"check_{number}"] = functools.partial(_check, field.type, fits)
            lines += text.format(number=number, name=type_name).strip().splitlines()
            values[field.attribute] = f"value_{number}"
    lines += ["instance = new_object(python)"]
    if declaration.takes_all and all(map(is_plain, values)):
        lines += [f"instance.__init__({', '.join(f'{name}={value}' for name, value in values.items())})"]
    else:
        lines += [
            f"declaration.fill(instance, {{{', '.join(f'{name!r}: {value}' for name, value in values.items())}}})"
        ]
    lines += ["s.handles[number] = instance", "return instance, pos"]
    lines = ["def read(data, pos, s, depth, found):", *("    " + line for line in lines)]
    read: _Read = compiled(lines, names, "read", declaration.name)
    return read


def _fields(desc: ClassDesc, declaration: Declaration) -> dict[tuple[str, str], Field] | None:
    """The fields of a class by class and name, if the stream has exactly the declared ones."""
    found: dict[tuple[str, str], Field] = {}
    uids: dict[str, int | None] = {}
    for part in class_descriptors.ancestry(declaration):
        found |= {(part.name, field.name): field for field in part.fields}
        uids[part.name] = part.serial_version_uid if part.kind == "class" else None
    if len({field.attribute for field in found.values()}) < len(found):
        return None
    current: ClassDesc | None = desc
    while current is not None:
        if current.flags != SC_SERIALIZABLE or current.interfaces is not None:
            return None
        if uids.get(current.name) not in (None, current.uid):
            return None
        current = current.superclass
    codes = {(part.name, field.name): field.type for part in desc.lineage for field in part.fields}
    if len(codes) != sum(len(part.fields) for part in desc.lineage):
        return None
    return found if codes == {key: class_descriptors.type_code(field) for key, field in found.items()} else None


def _check(declared: Signature, fits: set[type], value: Any) -> None:
    """Check that a field of that type may hold the value."""
    if not value_is_assignable(value, declared.name) or not parts_are_assignable(value, declared):
        raise Unusual
    if not declared.arguments and type_fits(type(value), declared.name):
        fits.add(type(value))
