"""Objects of declared classes, and exceptions."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from redisson_dq.codecs.faults import Malformed, shorten
from redisson_dq.codecs.jackson.naming import NAMINGS
from redisson_dq.codecs.jackson.node import CLASS, Object, object_node
from redisson_dq.codecs.jackson.reading.doubts import Doubt
from redisson_dq.codecs.jackson.reading.plans import UNREAD, ClassPlan, Plan
from redisson_dq.codecs.jackson.reading.protocol import NodeReaderProtocol
from redisson_dq.codecs.jackson.refusals import other_typing
from redisson_dq.codecs.jackson.throwables import DECLARED, RENAMED, STACK_TRACE, made_of, read_trace
from redisson_dq.codecs.jackson.types import json_of, parts_of
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.generics import arguments_in, not_related
from redisson_dq.java.signatures import OBJECT, Signature

__all__ = [
    "elements",
    "fields",
    "is_exception",
    "plan_of",
    "same_throwable",
    "subclass_of_collection",
    "throwable",
]

_FIRST = itemgetter(0)


# -- declared classes ------------------------------------------------------------------------------------------------


def plan_of(reader: NodeReaderProtocol, declaration: Declaration, node: Any, declared: Signature) -> ClassPlan:
    """The plan for a declared class in a place of the type ``declared``. Raises Malformed for a node of another
    form."""
    arguments = arguments_in(declaration, declared)
    if arguments is None:
        raise Malformed(not_related(declaration, declared), near=declaration.name)
    plan = reader.plans.of_class(declaration, arguments)
    if type(node) is list and len(node) == 2 and type(node[0]) is str and type(node[1]) is Object:
        raise other_typing(node[0], wrapped=True)
    object_node(declaration.name, node)  # a refused class may have another kind of node
    return plan


def fields(reader: NodeReaderProtocol, plan: ClassPlan, node: Object, depth: int) -> Any:
    """An object of a declared class, made from its fields."""
    declaration, known = plan.declaration, plan.fields
    name = declaration.name
    if not reader.is_compared:  # noted before the fields, because the first of equal doubts is reported
        keys = (*map(_FIRST, node),)
        if keys not in plan.ordinary:
            plan.note_unordinary(keys, reader.doubts)
    values = {**plan.missing}
    is_complete = True
    key = ""
    try:
        for key, item in node:
            field = known.get(key)
            if field is not None:
                attribute, plain, read, declared = field
                value = item if type(item) is plain else read(reader, item, depth + 1)
                if value is UNREAD:
                    value = reader.read(item, declared, depth + 1)
                    if item is None and not reader.dialect.nulls:
                        reader.doubts.note(Doubt.NULL_FIELD, key)
                values[attribute] = value
            elif key != CLASS:
                is_complete = False
    except Malformed as error:
        error.inside(key)
        error.in_field(name, key)
        raise
    if not is_complete:
        plan.check_spelling(node)
    try:
        return declaration.make(values)
    except ValueError as error:
        raise Malformed(str(error), near=name).of_classes((name,)) from error


def elements(reader: NodeReaderProtocol, nodes: list[Any], plan: Plan, depth: int) -> list[Any]:
    """The elements of an array, all of one declared type."""
    plain, read, declared = plan.plain, plan.read, plan.declared
    values: list[Any] = []
    try:
        for node in nodes:
            value = node if type(node) is plain else read(reader, node, depth + 1)
            values.append(reader.read(node, declared, depth + 1) if value is UNREAD else value)
    except Malformed as error:
        error.inside(len(values))
        raise
    return values


def subclass_of_collection(
    reader: NodeReaderProtocol, declaration: Declaration, node: Any, declared: Signature, depth: int
) -> Any:
    """An object of a declared class that extends a collection."""
    reader.doubts.note(Doubt.NAMED_IN_COLLECTION, declaration.name)
    why = json_of(declaration, reader.dialect.jackson_3).refusal(declaration.name)
    if why:
        raise Malformed(why, near=declaration.name).of_classes((declaration.name,))
    parts, _ = parts_of(declaration, declared, reader.dialect.names)
    found = reader.of_class(declaration.extends, node, parts, depth)
    try:
        return declaration.collection(found)
    except ValueError as error:
        raise Malformed(str(error), near=declaration.name).of_classes((declaration.name,)) from error


# -- exceptions ------------------------------------------------------------------------------------------------------


def is_exception(reader: NodeReaderProtocol, node: Any) -> bool:
    """Whether the node is an exception, whatever its class."""
    name = NAMINGS[reader.dialect.naming](STACK_TRACE)
    return type(node) is Object and any(key == name for key, _ in node)


def throwable(reader: NodeReaderProtocol, name: str, node: Object, depth: int) -> Any:
    """An exception of the class ``name``."""
    if reader.dialect.renames:
        raise Malformed(RENAMED, near=name)
    found: dict[str, Any] = {}
    # An exception may be in a field that belongs to another exception's own class.
    was_own, key = reader.is_own, ""
    try:
        for key, item in node:
            is_trace = key == STACK_TRACE
            reader.is_own = key not in DECLARED
            found[key] = read_trace(item) if is_trace else reader.read(item, DECLARED.get(key, OBJECT), depth + 1)
        reader.is_own = was_own
    except Malformed as error:
        error.inside(key)
        raise
    number = found.pop("@id", None)
    made = made_of(name, found)
    if type(number) is int:
        reader.throwables[hex(number)] = made
    return made


def same_throwable(reader: NodeReaderProtocol, number: int) -> Any:
    """The exception that was read before with this ``@id``. Writing it again at each place could take far more
    bytes."""
    found = reader.throwables.get(hex(number))
    if found is None:
        raise Malformed(f"there is no exception with the @id {shorten(str(number), 20)} before its use")
    reader.doubts.note(Doubt.SHARED_EXCEPTION)
    return found
