"""The superclasses and interfaces of a class, as far as the jars tell, and whether it can be declared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum

from redisson_dq.cli.generate_classes import _classfile as flags
from redisson_dq.cli.generate_classes._classfile import BadClass, ClassFile
from redisson_dq.cli.generate_classes._errors import UnreadableError
from redisson_dq.cli.generate_classes._signatures import OBJECT, ClassSignature, TypeUse, class_signature
from redisson_dq.java import kotlin
from redisson_dq.java.extending import may_extend
from redisson_dq.java.hierarchy import kind_of
from redisson_dq.java.registry import declaration_for

__all__ = [
    "NUMBER",
    "OWN_COLLECTIONS",
    "ROOTS",
    "Supertypes",
    "Why",
    "is_collection",
    "KOTLIN",
    "is_known",
    "java_name_of",
    "parents_of",
]

NUMBER = "java.lang.Number"
#: The superclasses of records and enums, those without fields, and all that are no superclass of a declaration.
_SPECIAL = ("java.lang.Record", "java.lang.Enum")
_WITHOUT_FIELDS = ("java.lang.Object", NUMBER)
ROOTS = (*_SPECIAL, *_WITHOUT_FIELDS)
#: Java's own packages: a class of theirs that is in no jar is not missing.
_JDK = re.compile(
    r"(java|jdk|sun|com\.sun|javax\.(crypto|imageio|management|naming|net|print|script|security|sql|swing|xml))\."
)
_JDK_THROWABLE = re.compile(r"java\..*(Throwable|Exception|Error)")
#: Whatever implements or extends one of these is written as a collection, not by its fields.
_COLLECTIONS = re.compile(
    r"java\.util\.(concurrent\.)?(\w*(Collection|List|Set|Queue|Deque|Map)|Vector|Stack|Hashtable|Properties|Dictionary)"
)

#: Collections of libraries that extend none of java.util, and one that is written with the same entries: Kryo and
#: Jackson ask for the entries alone.
OWN_COLLECTIONS = {
    f"{package}.{name}": TypeUse(base, arguments)
    for package in ("cn.hutool.json", "com.alibaba.fastjson")
    for name, base, arguments in (
        ("JSONObject", "java.util.LinkedHashMap", (TypeUse("java.lang.String"), OBJECT)),
        ("JSONArray", "java.util.ArrayList", (OBJECT,)),
    )
}

_READ_RESOLVE = ("readResolve", "()Ljava/lang/Object;")


def java_name_of(python: type) -> str | None:
    """The one Java class that a class of redisson_dq.java stands for, if there is one."""
    declared = declaration_for(python)
    name = declared.name if declared else getattr(python, "java_name", None)
    return name if isinstance(name, str) else None


#: The classes of Kotlin's library that are declared already.
KOTLIN = frozenset(java_name_of(getattr(kotlin, name)) for name in kotlin.__all__)


class Why(Enum):
    """Why a class is not declared; the value is said of it."""

    JDK = "belongs to Java itself"
    INTERFACE = "is an interface"
    THROWABLE = "is an exception, which comes as a java.Throwable without being declared"
    COLLECTION = (
        "is a collection or a map of its own, which is not written by its fields: send an ArrayList, a HashMap ..., a "
        "class that extends one of these, or one that has it in a field"
    )
    JDK_SUPERCLASS = "extends a class of Java itself, whose fields are not known"
    CONSTANT = "is the class of one constant of an enum"
    MISSING = "is in none of the jars"
    MISSING_SUPERCLASS = "extends a class that is in none of the jars"


class Supertypes:
    """Asks the jars. ``find`` gives a class that a jar may have, or None."""

    def __init__(self, find: Callable[[str], ClassFile | None]) -> None:
        self._find = find
        #: Superclasses that are in none of the jars, with a class that extends each.
        self.missing: dict[str, str] = {}

    def why_not(self, name: str) -> Why | None:
        """Why the class cannot be declared; None if it can."""
        java = self._find(name)
        if java is None:
            if not is_known(name):
                return Why.MISSING
            return Why.THROWABLE if _JDK_THROWABLE.fullmatch(name) else Why.JDK
        if name in OWN_COLLECTIONS:
            return None
        if java.is_interface:
            return Why.INTERFACE
        if java.superclass in _SPECIAL:
            return None
        if java.modifiers & flags.ENUM:
            return Why.CONSTANT
        supertypes = self.of(name)
        if is_collection(supertypes):
            top_most = java
            while top_most.superclass is not None and (above := self._find(top_most.superclass)) is not None:
                top_most = above
            extends = top_most.superclass is not None and may_extend(top_most.superclass)
            return None if extends else Why.COLLECTION
        top = java
        while top.superclass is not None and (parent := self._find(top.superclass)) is not None:
            if parent.is_enum:  # Kotlin does not mark the class of a constant as one
                return Why.CONSTANT
            if parent.is_interface or parent.is_record:
                raise UnreadableError(f"{top.name} extends {parent.name}, which no class may extend")
            top = parent
        if top.superclass is None or top.superclass in _WITHOUT_FIELDS:
            return None
        if _JDK.match(top.superclass) is None:
            self.missing.setdefault(top.superclass, top.name)
            return Why.MISSING_SUPERCLASS
        return Why.THROWABLE if _JDK_THROWABLE.fullmatch(top.superclass) else Why.JDK_SUPERCLASS

    def of(self, name: str) -> set[str]:
        """All superclasses and interfaces of a class, as far as the jars tell."""
        found: set[str] = set()
        java = self._find(name)
        waiting = parents_of(java) if java else []
        while waiting:
            parent = waiting.pop()
            if parent not in found:
                found.add(parent)
                java = self._find(parent)
                waiting += parents_of(java) if java else ()
        if name in found:
            raise UnreadableError(f"{name} extends itself")
        return found

    def interfaces(self, java: ClassFile) -> tuple[tuple[TypeUse, ...], bool]:
        """The interfaces of a class and those that they extend, and Number if the class extends it itself; and whether
        there may be more, which no jar tells.

        Those of a generic class are in terms of its own parameters, those of any other are names.
        """
        try:
            head = class_signature(java.signature) if java.signature else None
            is_generic = head is not None and bool(head.parameters)
            found = {NUMBER: TypeUse(NUMBER)} if java.superclass == NUMBER else {}
            waiting = _direct_interfaces(java, head if is_generic else None)
            while waiting:
                use = waiting.pop()
                if use.name in found:
                    continue
                found[use.name] = use
                above = self._find(use.name)
                if above is None:
                    continue
                above_head = class_signature(above.signature) if above.signature and is_generic else None
                is_raw = above_head is not None and bool(above_head.parameters) and not use.arguments
                given = dict(zip(above_head.parameters, use.arguments, strict=False)) if above_head else {}
                parents = _direct_interfaces(above, None if is_raw else above_head)
                waiting += [parent.replaced(given) for parent in parents]
            # Java may replace a serialized object with a readResolve() by one of any class.
            more = any((method.name, method.descriptor) == _READ_RESOLVE for method in java.methods)
            return tuple(found.values()), more or any(
                self._find(name) is None and kind_of(name) is None for name in found
            )
        except BadClass as error:
            raise UnreadableError(f"{java.name} cannot be read: {error}") from error


def is_collection(supertypes: Iterable[str]) -> bool:
    """Whether a class with these supertypes is written as a collection or a map."""
    return any(map(_COLLECTIONS.fullmatch, supertypes))


def parents_of(java: ClassFile) -> list[str]:
    """Its superclass and the interfaces that it implements or extends itself."""
    return [*([java.superclass] if java.superclass else ()), *java.interfaces]


def _direct_interfaces(java: ClassFile, head: ClassSignature | None) -> list[TypeUse]:
    """The last one first; without a head by name."""
    uses = (
        map(TypeUse, java.interfaces)
        if head is None
        else (use.within(head.parameters, OBJECT) for use in head.interfaces)
    )
    return [*uses][::-1]


def is_known(name: str) -> bool:
    """Whether the class is not missing where no jar has it."""
    return name in KOTLIN or _JDK.match(name) is not None
