"""The constants of enums: Java's names of them, or their texts, which Jackson 3 writes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable, shorten
from redisson_dq.codecs.jackson.refusals import wrong
from redisson_dq.java.declaration import Declaration

__all__ = ["chrono_unit_text", "constant_named", "constant_of", "constants", "text_of"]


@lru_cache(maxsize=256)
def constants(declaration: Declaration, texts: bool) -> tuple[dict[str, str], dict[str, Any]]:
    """Of an enum: Java's names by those of the members, and the members by Java's names. With ``texts`` it is what
    ``toString`` gives instead of the names."""
    said = declaration.texts if texts and isinstance(declaration.texts, Mapping) else {}
    written = [said.get(name, name) for name in declaration.constants]
    names = {member.name: name for member, name in zip(declaration.members, written, strict=True)}
    members: dict[str, Any] = dict(zip(written, declaration.members, strict=True))
    if declaration.python is java.ChronoUnit:
        members.update((chrono_unit_text(unit), unit) for unit in java.ChronoUnit)
    return names, members


def text_of(member: Enum, declaration: Declaration, texts: bool) -> str:
    """What is written of a constant. Raises Unencodable for one whose text is not known."""
    if texts and declaration.texts is ...:
        raise Unencodable(_no_texts(declaration))
    return constants(declaration, texts)[0][member.name]


def constant_of(declaration: Declaration, node: Any, texts: bool) -> Any:
    """A constant of a declared enum."""
    name = declaration.name
    if type(node) is list and len(node) == 2 and node[0] == name:  # of an enum whose constants have bodies
        node = node[1]
    if type(node) is not str:
        raise wrong(name)
    return constant_named(node, declaration, texts)


def constant_named(text: str, declaration: Declaration, texts: bool) -> Any:
    """The constant that Java's name, or with ``texts`` its text, stands for."""
    members = constants(declaration, texts)[1]
    if text not in members:
        name = declaration.name
        if texts and declaration.texts is ...:
            raise Malformed(_no_texts(declaration), near=text)
        message = f"{name} has no constant {shorten(text, 200)} in its declaration"
        raise Malformed(message, near=text).of_classes((name,))
    return members[text]


def _no_texts(declaration: Declaration) -> str:
    """The error message for an enum whose texts are needed and not known."""
    first = declaration.constants[0] if declaration.constants else ""
    return (
        f"{declaration.name} has a toString() of its own, which Jackson 3 writes instead of the names: say its texts "
        f'in java_class("{declaration.name}", texts={{"{first}": ...}})'
    )


def chrono_unit_text(unit: Any) -> str:
    """``ChronoUnit.toString``, which is what Jackson 3 writes of an enum."""
    text: str = unit.name.title().replace("_", "")
    return text
