"""The plans of declared types: what a type means is worked out once for each field, not for each value.

A plan has a function of the reader, a node and its depth. The function reads the ordinary nodes of the type, such as a
text for a String, or an object that names its class first. All other nodes, invalid ones included, are left to the
reader's ``read``. So values and errors are the same without plans.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Protocol

import attrs

from redisson_dq.codecs.faults import MAX_DEPTH, Malformed
from redisson_dq.codecs.jackson.dialect import Dialect
from redisson_dq.codecs.jackson.naming import advice, letters
from redisson_dq.codecs.jackson.node import CLASS, Number, Object
from redisson_dq.codecs.jackson.reading.doubts import Doubt, Doubts
from redisson_dq.codecs.jackson.scalar_values import SCALARS
from redisson_dq.codecs.jackson.types import REFERENCES, element_of, json_of, missing_values
from redisson_dq.java.assignable import value_is_assignable
from redisson_dq.java.collections import COLLECTIONS
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.generics import arguments_in
from redisson_dq.java.hierarchy import is_assignable
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, decoded_long
from redisson_dq.java.registry import declaration_of, generation
from redisson_dq.java.signatures import Signature

__all__ = ["UNREAD", "ClassPlan", "Plan", "PlanReader", "Plans", "no_plan"]


class PlanReader(Protocol):
    """The reader as the plans see it: :class:`~redisson_dq.codecs.jackson.reading.dispatch.Reader` describes it."""

    def number(self, node: Any) -> Any: ...

    def fields(self, plan: ClassPlan, node: Object, depth: int) -> Any: ...

    def elements(self, nodes: list[Any], plan: Plan, depth: int) -> list[Any]: ...


_ReadNode = Callable[[Any, Any, int], Any]

#: The placeholder for the value of a node that a plan does not read.
UNREAD: Any = object()

_ARRAY_LIST = "java.util.ArrayList"
_RANGES = "kotlin.ranges."
#: The number of name sequences a plan keeps. Nulls are left out, so there may be one for each set of fields.
_MOST_ORDINARY = 64
_LONG = "java.lang.Long"


@attrs.frozen
class Plan:
    """How the nodes of one declared type are read. A node of the type ``plain`` is the value itself. ``read`` returns
    UNREAD for a node that is not ordinary.
    """

    declared: Signature
    read: _ReadNode
    plain: type | None = None


@attrs.frozen
class ClassPlan:
    """How the objects of a declared class with known type arguments are read.

    ``fields``: by property, the attribute and the parts of its plan. ``missing``: values for attributes that need one
    if the node lacks them. ``required``: properties that are written whatever their value is. ``aliases``: further
    names of properties. ``java_names``: by property, the field's name in Java. ``spellings``: properties by their
    letters. ``ordinary``: sequences of names that were read before and are written in the same way.
    """

    declaration: Declaration
    fields: dict[str, tuple[str, type | None, _ReadNode, Signature]]
    missing: dict[str, Any]
    required: frozenset[str]
    aliases: frozenset[str]
    java_names: dict[str, str]
    spellings: dict[str, str]
    ordinary: set[tuple[str, ...]] = attrs.field(factory=set, eq=False)

    def check_spelling(self, node: Object) -> None:
        """Raise Malformed if an unknown property is a missing field of the class in another spelling.

        Otherwise the field would be read as if Java had left it out. O(properties).
        """
        names = {key: self.spellings.get(letters(key), "") for key, _ in node if key not in self.fields}
        present = {key for key, _ in node}
        lost = {self.java_names[field]: key for key, field in names.items() if field and field not in present}
        if lost:
            unknown, name = next(iter(lost.values())), self.declaration.name
            message = f"{name} is read with a field {names[unknown]}, and the bytes have {unknown}: {advice(lost)}"
            raise Malformed(message, near=unknown, stale=False)

    def note_unordinary(self, names: tuple[str, ...], doubts: Doubts) -> None:
        """Note why an object with these properties may be written with others, or in another order.

        Raises Malformed for a Kotlin range that lacks a number: it would become another range.
        """
        name, places = self.declaration.name, {key: place for place, key in enumerate(self.fields)}
        own = [key for key in names if key != CLASS]
        if name.startswith(_RANGES) and not self.required <= {*own}:
            message = f"{name} without all of its numbers: Kotlin's module for Jackson writes the end alone"
            raise Malformed(message, near=name)
        unknown = next((key for key in own if key not in places), None)
        if unknown is not None:
            doubts.note(Doubt.UNKNOWN_FIELD, name, unknown)
        elif not self.aliases.isdisjoint(own):
            doubts.note(Doubt.ALIAS, name)
        elif any(first >= second for first, second in pairwise(places[key] for key in own)):
            doubts.note(Doubt.FIELD_ORDER, name)
        elif CLASS in names[1:]:
            doubts.note(Doubt.LATE_CLASS, name)
        elif not self.required <= {*own}:
            doubts.note(Doubt.MISSING_FIELD, name)
        elif len(self.ordinary) < _MOST_ORDINARY:
            self.ordinary.add(names)


class Plans:
    """The plans of one codec. They are valid until another class is declared, which may have the same name as a known
    one."""

    def __init__(self, dialect: Dialect, declared: Signature) -> None:
        self.dialect = dialect
        self.generation = generation()
        self._classes: dict[tuple[Declaration, tuple[Signature, ...]], ClassPlan] = {}
        self.outermost = self.of(declared)

    def of_class(self, declaration: Declaration, arguments: tuple[Signature, ...]) -> ClassPlan:
        """The plan of a declared class. O(1) when it is known."""
        found = self._classes.get((declaration, arguments))
        if found is None:
            why = json_of(declaration, self.dialect.jackson_3).refusal(declaration.name)
            if why:
                raise Malformed(why, near=declaration.name).of_classes((declaration.name,))
            known = self.dialect.properties(declaration, arguments)
            fields = {}
            for key, field in known.items():
                plan = self.of(field.type)
                fields[key] = field.attribute, plan.plain, plan.read, plan.declared
            aliases = {alias: key for key, field in known.items() for alias in field.aliases if alias not in known}
            fields.update((alias, fields[key]) for alias, key in aliases.items())
            found = ClassPlan(
                declaration,
                fields,
                missing_values(declaration, arguments),
                frozenset(
                    key for key, field in known.items() if field.is_filled or field.writes_null or self.dialect.nulls
                ),
                frozenset(aliases),
                {key: field.java_name for key, field in known.items()},
                {letters(key): key for key in known},
            )
            self._classes[declaration, arguments] = found
        return found

    def of(self, declared: Signature) -> Plan:
        """The plan of a declared type."""
        if declared.name in REFERENCES or declared.name[0] == "[" or self.dialect.is_text(declared):
            return Plan(declared, no_plan)
        if not self.dialect.names(declared):
            return Plan(declared, _BARE.get(declared.name, no_plan), _PLAIN.get(declared.name))
        return Plan(declared, _long if declared.name == _LONG else self._named(declared))

    def _named(self, declared: Signature) -> _ReadNode:
        """The function for a type whose values carry the names of their classes."""
        classes: dict[str, ClassPlan] = {}
        element: Plan | None = None
        wraps = self.dialect.wraps
        holds_lists = value_is_assignable([], declared.name)

        def read(reader: PlanReader, node: Any, depth: int) -> Any:
            nonlocal element
            kind = type(node)
            if depth > MAX_DEPTH:
                return UNREAD
            if kind is Object and not wraps:
                name = node[0][1] if node and node[0][0] == CLASS else None
                if type(name) is str and name not in COLLECTIONS:
                    plan = classes.get(name) or self._class_named(name, declared, classes)
                    if plan is not None:
                        return reader.fields(plan, node, depth)
            elif kind is list and len(node) == 2 and node[0] == _ARRAY_LIST and type(node[1]) is list and holds_lists:
                element = element or self.of(element_of(declared))
                return reader.elements(node[1], element, depth)
            return UNREAD

        return read

    def _class_named(self, name: str, declared: Signature, classes: dict[str, ClassPlan]) -> ClassPlan | None:
        """The plan for the class of that name in a place of the type ``declared``, if the class has only fields."""
        declaration = declaration_of(name)
        if declaration is None or declaration.extends or declaration.kind == "enum":
            return None
        arguments = arguments_in(declaration, declared)
        fits = declared.variable is not None or is_assignable(name, declared.name)
        if name in SCALARS or arguments is None or not fits:
            return None
        plan = self.of_class(declaration, arguments)
        if CLASS in plan.fields:
            return None
        classes[name] = plan
        return plan


def no_plan(_reader: PlanReader, _node: Any, _depth: int) -> Any:
    """The function for a type without ordinary nodes."""
    return UNREAD


def _integer(least: int, most: int) -> _ReadNode:
    return lambda _reader, node, _depth: node if type(node) is int and least <= node <= most else UNREAD


def _double(reader: PlanReader, node: Any, _depth: int) -> Any:
    return reader.number(node) if type(node) is Number else UNREAD


def _long(_reader: PlanReader, node: Any, _depth: int) -> Any:
    if type(node) is list and len(node) == 2 and node[0] == _LONG:
        number = node[1]
        if type(number) is int and LONG_MIN <= number <= LONG_MAX:
            return decoded_long(number)
    return UNREAD


#: By Java type: the functions for types whose values carry no class name.
_BARE: dict[str, _ReadNode] = {
    **dict.fromkeys(("int", "java.lang.Integer"), _integer(INT_MIN, INT_MAX)),
    "long": _integer(LONG_MIN, LONG_MAX),
    **dict.fromkeys(("double", "java.lang.Double"), _double),
}
_PLAIN: dict[str, type] = {"java.lang.String": str, **dict.fromkeys(("boolean", "java.lang.Boolean"), bool)}
