"""Which classes a module declares: the requested ones, and those that their values consist of."""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from redisson_dq.cli.generate_classes._classfile import ClassFile
from redisson_dq.cli.generate_classes._defaults import initial_values
from redisson_dq.cli.generate_classes._errors import UnreadableError
from redisson_dq.cli.generate_classes._facts import DeclaredClass, class_facts, has_text
from redisson_dq.cli.generate_classes._initial import Initial
from redisson_dq.cli.generate_classes._jackson import JsonFacts, json_facts
from redisson_dq.cli.generate_classes._signatures import PRIMITIVES
from redisson_dq.cli.generate_classes._sources import Library
from redisson_dq.cli.generate_classes._streams import why_not_written
from redisson_dq.cli.generate_classes._supertypes import KOTLIN, OWN_COLLECTIONS, Supertypes, Why, is_known, parents_of
from redisson_dq.java.extending import may_extend

__all__ = ["Closure"]

_NAME = re.compile(r"(?!\d)[\w$]+(\.(?!\d)[\w$]+)*")


class Closure:
    """The classes of a module, collected by :meth:`add`. Every class that is met is in one of the two dicts.

    Methods raise UnreadableError for a class that is needed and cannot be read.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._supertypes = Supertypes(self._find)
        self.declared: dict[str, DeclaredClass] = {}
        self.undeclared: dict[str, Why] = {}
        #: Classes that a pattern matches and that are not declared.
        self.dropped: dict[str, Why] = {}
        #: Classes that are in none of the jars, with a class that has a field of it.
        self.missing: dict[str, str] = {}
        #: Classes of the jar that :meth:`add_subclasses` could not read: the messages.
        self.unreadable: list[str] = []
        #: The types of values: those that were added, and the types of fields. A mere superclass is none.
        self._of_values: dict[str, None] = {}

    @property
    def missing_superclasses(self) -> dict[str, str]:
        """Superclasses that are in none of the jars, with a class that extends each."""
        return self._supertypes.missing

    def add(self, name: str) -> Why | None:
        """Declare the class, and all that it needs and can be declared. Why not, if the class itself cannot be."""
        self._of_values[name] = None
        waiting = [name]
        while waiting:
            met = waiting.pop()
            if met in self.declared or met in self.undeclared:
                continue
            if _NAME.fullmatch(met) is None:
                raise UnreadableError(f"{met} is not a class name that Java source can have")
            why = self._supertypes.why_not(met)
            if why is not None:
                self.undeclared[met] = why
                continue
            known = self._known(met)
            values = initial_values(known, self._find)
            java = class_facts(known, self._supertypes.of(met), values, *self._supertypes.interfaces(known))
            java = attrs.evolve(java, inherited=self._inherited(known, values))
            if java.serial_version_uid is not None and java.kind in ("class", "collection"):
                java = attrs.evolve(java, not_written=why_not_written(known, self._find))
            if any(map(has_text, (self._find(body) for body in java.bodies.values()))):
                java = attrs.evolve(java, has_text=True)
            json = json3 = JsonFacts()
            if met not in OWN_COLLECTIONS:
                json, json3 = (json_facts(known, self._find, jackson_3=jackson_3) for jackson_3 in (False, True))
            self.declared[met] = attrs.evolve(java, json=json, json3=json3)
            if java.superclass is not None and not may_extend(java.superclass.name):
                waiting.append(java.superclass.name)
            used = [use.name for use in java.types() if not use.is_variable and use.name not in PRIMITIVES]
            used += java.parameters.values()
            if met in OWN_COLLECTIONS:  # the others of its library are what it holds
                package = met.rpartition(".")[0]
                used += [other for other in OWN_COLLECTIONS if other.rpartition(".")[0] == package]
            for needed in used:
                self._of_values[needed] = None
                if self._find(needed) is None and not is_known(needed):
                    self.missing.setdefault(needed, met)
            waiting += used
        return self.undeclared.get(name)

    def add_subclasses(self) -> None:
        """Declares the classes that extend or implement a type of values, until none is left. Reads all of the jar."""
        children = self._children()
        done: set[str] = set()
        while waiting := sorted(self._of_values.keys() - done):
            done.update(waiting)
            for name in waiting:
                for child in children.get(name, ()):
                    self.add(child)

    def _children(self) -> dict[str, list[str]]:
        children: dict[str, list[str]] = {}
        for name in self._library.names():
            try:
                java = self._known(name)
            except UnreadableError as error:
                self.unreadable.append(str(error))
                continue
            for parent in parents_of(java):
                if not parent.startswith("java."):
                    children.setdefault(parent, []).append(name)
        return children

    def _inherited(self, java: ClassFile, values: Mapping[tuple[str, str], Initial]) -> dict[tuple[str, str], Initial]:
        above = self._find(java.superclass) if java.superclass is not None else None
        plain = {} if above is None else initial_values(above, self._find)
        return {key: value for key, value in values.items() if key[0] != java.name and plain.get(key) != value}

    def _find(self, name: str) -> ClassFile | None:
        """The class, if a jar may have it: Java's own are never looked for, nor are those declared already."""
        return None if name.startswith("java.") or name in KOTLIN else self._library.find(name)

    def _known(self, name: str) -> ClassFile:
        java = self._library.find(name)
        assert java is not None
        return java
