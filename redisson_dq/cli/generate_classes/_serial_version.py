"""The serialVersionUID that Java computes for a class which declares none (ObjectStreamClass.computeDefaultSUID)."""

from __future__ import annotations

import hashlib

from redisson_dq.cli.generate_classes import _classfile as flags
from redisson_dq.cli.generate_classes._classfile import ClassFile, Member

__all__ = ["serial_version_uid"]

_CLASS = flags.PUBLIC | flags.FINAL | flags.INTERFACE | flags.ABSTRACT
_ACCESS = flags.PUBLIC | flags.PRIVATE | flags.PROTECTED | flags.STATIC | flags.FINAL
_FIELD = _ACCESS | flags.VOLATILE | flags.TRANSIENT
_METHOD = _ACCESS | flags.SYNCHRONIZED | flags.NATIVE | flags.ABSTRACT | flags.STRICT
_INITIALIZER, _CONSTRUCTOR = "<clinit>", "<init>"


def serial_version_uid(java: ClassFile) -> int:
    """The number that Java serialization writes for the class, declared or not. Not for an enum, which has none."""
    if java.serial_version_uid is not None:
        return java.serial_version_uid
    return 0 if java.is_record else _computed(java)


def _computed(java: ClassFile) -> int:
    parts = [_text(java.name), _number(java.modifiers & _CLASS)]
    parts += [_text(name) for name in sorted(java.interfaces, key=_units)]
    for field in sorted(java.fields, key=lambda field: _units(field.name)):
        if not field.flags & flags.PRIVATE or not field.flags & (flags.STATIC | flags.TRANSIENT):
            parts += [_text(field.name), _number(field.flags & _FIELD), _text(field.descriptor)]
    for method in sorted(java.methods, key=_place):
        if not method.flags & flags.PRIVATE:
            modifiers = flags.STATIC if method.name == _INITIALIZER else method.flags & _METHOD
            parts += [_text(method.name), _number(modifiers), _text(method.descriptor.replace("/", "."))]
    digest = hashlib.sha1(b"".join(parts), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "little", signed=True)


def _place(method: Member) -> tuple[int, bytes, bytes]:
    rank = {_INITIALIZER: 0, _CONSTRUCTOR: 1}.get(method.name, 2)
    return rank, _units(method.name), _units(method.descriptor)


def _units(text: str) -> bytes:
    """As Java compares texts."""
    return text.encode("utf-16-be", "surrogatepass")


def _number(value: int) -> bytes:
    return value.to_bytes(4, "big")


def _text(text: str) -> bytes:
    """As DataOutput.writeUTF writes it: each UTF-16 unit by itself, a zero as two bytes."""
    units = _units(text)
    data = "".join(chr(units[at] << 8 | units[at + 1]) for at in range(0, len(units), 2))
    encoded = data.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
    return len(encoded).to_bytes(2, "big") + encoded
