"""The constants of enums: Java's names, the names of Jackson's annotations, or their texts, which Jackson 3 writes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable, shorten
from redisson_dq.codecs.jackson.refusals import wrong
from redisson_dq.codecs.jackson.types import json_of
from redisson_dq.java.declaration import Declaration

__all__ = ["chrono_unit_text", "constant_named", "constant_of", "constants", "node_of_constant", "why_no_constants"]


@lru_cache(maxsize=256)
def constants(declaration: Declaration, jackson_3: bool) -> tuple[dict[str, str | int], dict[str | int, Any]]:
    """An enum's nodes by the names of its members, and its members by their nodes."""
    json = json_of(declaration, jackson_3)
    texts = declaration.texts if jackson_3 and isinstance(declaration.texts, Mapping) else {}
    written = [json.names.get(name, texts.get(name, name)) for name in declaration.constants]
    nodes = {member.name: node for member, node in zip(declaration.members, written, strict=True)}
    # If two constants are written alike, Java reads the first one. A name takes precedence over an alias.
    members: dict[str | int, Any] = {}
    for node, member in zip(written, declaration.members, strict=True):
        members.setdefault(node, member)
    for name, member in zip(declaration.constants, declaration.members, strict=True):
        for alias in json.aliases.get(name, ()):
            members.setdefault(alias, member)
    if declaration.python is java.ChronoUnit:
        members.update((chrono_unit_text(unit), unit) for unit in java.ChronoUnit)
    return nodes, members


def node_of_constant(member: Enum, declaration: Declaration, jackson_3: bool) -> str | int:
    """The node of a constant. Raises Unencodable for a constant whose node is not known."""
    why = why_no_constants(declaration, jackson_3)
    if why:
        raise Unencodable(why)
    return constants(declaration, jackson_3)[0][member.name]


def constant_of(declaration: Declaration, node: Any, jackson_3: bool) -> Any:
    """A constant of a declared enum."""
    name = declaration.name
    if type(node) is list and len(node) == 2 and node[0] == name:  # an enum whose constants have bodies
        node = node[1]
    if type(node) is not str and type(node) is not int:
        raise wrong(name)
    return constant_named(node, declaration, jackson_3)


def constant_named(node: str | int, declaration: Declaration, jackson_3: bool) -> Any:
    """The constant that is written as this text or number: its name in Java, or another one."""
    name, members = declaration.name, constants(declaration, jackson_3)[1]
    if node not in members or json_of(declaration, jackson_3).refused:
        why = why_no_constants(declaration, jackson_3)
        if why:
            raise Malformed(why, near=str(node)).of_classes((name,))
        if type(node) is int and not any(type(known) is int for known in members):
            raise wrong(name)
        message = f"{name} has no constant {shorten(str(node), 200)} in its declaration"
        raise Malformed(message, near=str(node)).of_classes((name,))
    return members[node]


def why_no_constants(declaration: Declaration, jackson_3: bool) -> str:
    """Why the written form of an enum's constants is not known. Empty if it is."""
    json = json_of(declaration, jackson_3)
    if json.refused:
        return json.refusal(declaration.name)
    if not jackson_3 or declaration.texts is not ... or json.names.keys() >= {*declaration.constants}:
        return ""
    first = declaration.constants[0] if declaration.constants else ""
    return (
        f"{declaration.name} has a toString() of its own, which Jackson 3 writes instead of the names: say its texts "
        f'in java_class("{declaration.name}", texts={{"{first}": ...}})'
    )


def chrono_unit_text(unit: Any) -> str:
    """``ChronoUnit.toString``, the form in which Jackson 3 writes an enum."""
    text: str = unit.name.title().replace("_", "")
    return text
