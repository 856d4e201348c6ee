"""Why a Serializable class is more than its fields: Java could not read its objects if only these were written."""

from __future__ import annotations

from collections.abc import Callable

from redisson_dq.cli.generate_classes import _classfile as flags
from redisson_dq.cli.generate_classes._classfile import READ_OBJECT, WRITE_OBJECT, ClassFile
from redisson_dq.cli.generate_classes._supertypes import OWN_COLLECTIONS

__all__ = ["why_not_written"]

_SERIALIZABLE = frozenset(("java.io.Serializable", "java.io.Externalizable"))
#: The calls by which these write and read the fields, and those that they may make beside that.
_FIELDS = {
    WRITE_OBJECT: frozenset(("defaultWriteObject", "putFields", "writeFields", "flush")),
    READ_OBJECT: frozenset(("defaultReadObject", "readFields", "registerValidation")),
}
_READ_FIELDS = frozenset(("defaultReadObject", "readFields"))
_PERSISTENT = "serialPersistentFields", "[Ljava/io/ObjectStreamField;"


def why_not_written(java: ClassFile, find: Callable[[str], ClassFile | None]) -> str:
    """The reason, as it follows "because"; empty if the fields are all that Java reads. ``find`` looks up a class."""
    if java.name in OWN_COLLECTIONS:
        return "it keeps its entries in a field of its own"
    if any((field.name, field.descriptor) == _PERSISTENT for field in java.fields):
        return "its serialPersistentFields say what is written"
    for method, known in _FIELDS.items():
        calls = java.stream_calls.get(method)
        if calls is not None and not calls <= known:
            return f"its {method[0]}() {'writes' if method == WRITE_OBJECT else 'reads'} more than the fields"
    calls = java.stream_calls.get(READ_OBJECT)
    if calls is not None and calls.isdisjoint(_READ_FIELDS):
        return "its readObject() does not read the fields"
    if any(field.flags & flags.SYNTHETIC and not field.flags & flags.STATIC for field in java.fields):
        return "the enclosing object is not written"
    above = _not_serializable(java, find)
    if above is not None and not _is_made_by(above, java):
        return f"{above.name} has no constructor without arguments, which Java calls to read it"
    return ""


def _not_serializable(java: ClassFile, find: Callable[[str], ClassFile | None]) -> ClassFile | None:
    """The nearest superclass that is not Serializable, if the jars have it."""
    current = find(java.superclass) if java.superclass is not None else None
    while current is not None and _is_serializable(current, find):
        current = find(current.superclass) if current.superclass is not None else None
    return current


def _is_serializable(java: ClassFile, find: Callable[[str], ClassFile | None]) -> bool:
    waiting = [java]
    while waiting:
        current = waiting.pop()
        above = [*current.interfaces, *([current.superclass] if current.superclass is not None else ())]
        if not _SERIALIZABLE.isdisjoint(above):
            return True
        waiting += [found for name in above if (found := find(name)) is not None]
    return False


def _is_made_by(above: ClassFile, java: ClassFile) -> bool:
    """Whether Java makes the part of an object of the class ``java`` that belongs to ``above``."""
    for method in above.methods:
        if (method.name, method.descriptor) == ("<init>", "()V"):
            is_near = above.name.rpartition(".")[0] == java.name.rpartition(".")[0]
            return bool(method.flags & (flags.PUBLIC | flags.PROTECTED)) or (
                is_near and not method.flags & flags.PRIVATE
            )
    return False
