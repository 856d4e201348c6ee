"""``generate-classes --check``: compares a module with the one that the jar gives now, without importing it."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from pathlib import Path

import attrs

from redisson_dq.cli.generate_classes._errors import UnreadableError

__all__ = ["compared"]

_READS, _REFUSES, _MIXES = "reads them", "refuses them", "refuses them or reads wrong values"
_WRONG = "reads wrong constants"
#: By kind of change: how Kryo5, JsonJackson and Serialization read values that are stored, by the new module.
_EFFECTS = {
    "class added": ("has none", "has none", "has none"),
    "class removed": (_REFUSES, _REFUSES, _REFUSES),
    "field added": (_MIXES, "reads them with the default", "reads them with the default"),
    "field removed": (_MIXES, "reads them without it", _REFUSES),
    "field renamed": (
        f"reads them if it sorts in the place of the old one, otherwise {_MIXES}",
        "reads them with the default, and loses the old field",
        _REFUSES,
    ),
    "type changed": (
        f"{_MIXES}, unless the bytes of both types are the same",
        "refuses them, unless the value fits the new type",
        _REFUSES,
    ),
    "default changed": (_READS, _READS, _READS),
    "constant added at the end": (_READS, _READS, _READS),
    "constant added in front of others": (_WRONG, _READS, _READS),
    "constant removed": (
        f"{_WRONG} for it and those behind it, or refuses them",
        "refuses those with it",
        "refuses those with it",
    ),
    "constants reordered": (_WRONG, _READS, _READS),
    "serialVersionUID changed": (_READS, _READS, _REFUSES),
    "declaration changed": ("may refuse them", "may refuse them", "may refuse them"),
}
_UNCHANGED = "No class has changed: stored values are read as before."


@attrs.frozen
class _ComparedClass:
    is_enum: bool
    #: The annotation of a field, or the value of a constant, with the default of the field; in the order of the module.
    members: dict[str, tuple[str, str]]
    version: str | None
    #: All else that the declaration says.
    rest: str


def compared(path: Path, text: str) -> list[str]:
    """The lines that say how a module differs from ``text``: a diff, then a line for each change of a class. Empty
    where they are equal. The comment at the head does not count, as it holds the name of the jar. Raises
    UnreadableError.
    """
    try:
        old = path.read_text("utf-8")
        before = _classes(old)
    except OSError as error:
        raise UnreadableError(f"the module {path.name} cannot be read: {error.strerror}") from error
    except (ValueError, SyntaxError, RecursionError) as error:
        raise UnreadableError(f"the module {path.name} cannot be read: {error}") from error
    ours, theirs = _without_head(old), _without_head(text)
    if ours == theirs:
        return []
    diff = difflib.unified_diff(ours, theirs, path.name, "the jar", lineterm="", n=1)
    changes = _changes(before, _classes(text))
    told = [f"{name}: {change}. Stored values: {_effect(kind)}." for name, kind, change in changes]
    return [*diff, "", *(told or [_UNCHANGED])]


def _effect(kind: str) -> str:
    codecs = ("Kryo5", "JsonJackson", "Serialization")
    return "; ".join(f"{codec} {effect}" for codec, effect in zip(codecs, _EFFECTS[kind], strict=True))


def _without_head(text: str) -> list[str]:
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return lines[start:]


def _classes(text: str) -> dict[str, _ComparedClass]:
    """By Java name: the classes that a module declares."""
    found = {}
    for node in ast.parse(text).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for call in node.decorator_list:
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("java_class") and call.args:
                name = call.args[0].value if isinstance(call.args[0], ast.Constant) else ast.unparse(call.args[0])
                found[str(name)] = _class(node, call)
    return found


def _class(node: ast.ClassDef, call: ast.Call) -> _ComparedClass:
    members = {}
    for each in node.body:
        if isinstance(each, ast.AnnAssign):
            default = "" if each.value is None else ast.unparse(each.value)
            members[ast.unparse(each.target)] = ast.unparse(each.annotation), default
        elif isinstance(each, ast.Assign):
            members[ast.unparse(each.targets[0])] = ast.unparse(each.value), ""
    options = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    version = options.pop("serial_version_uid", None)
    bases = [ast.unparse(base) for base in node.bases]
    others = [ast.unparse(each) for each in node.decorator_list if each is not call]
    return _ComparedClass("Enum" in bases, members, version, f"{bases} {others} {sorted(options.items(), key=str)}")


def _changes(before: dict[str, _ComparedClass], after: dict[str, _ComparedClass]) -> Iterator[tuple[str, str, str]]:
    """Of each change: the class, the kind, and the words."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None:
            yield name, "class added", "class added"
        elif new is None:
            yield name, "class removed", "class removed"
        else:
            if old.is_enum != new.is_enum or old.rest != new.rest:
                yield name, "declaration changed", "its options or superclasses changed"
            if old.version != new.version:
                change = f"serialVersionUID changed from {old.version} to {new.version}"
                yield name, "serialVersionUID changed", change
            of_kind = _constants if old.is_enum and new.is_enum else _fields
            for kind, change in of_kind(old.members, new.members):
                yield name, kind, change


def _constants(old: dict[str, tuple[str, str]], new: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    kept = [name for name in new if name in old]
    for name in (name for name in old if name not in new):
        yield "constant removed", f"constant {name} removed"
    order = list(new)
    last = max((order.index(name) for name in kept), default=-1)
    for place, name in enumerate(order):
        if name not in old:
            kind = "constant added at the end" if place > last else "constant added in front of others"
            yield kind, f"{kind.replace('constant', f'constant {name}', 1)}"
    if [name for name in old if name in new] != kept:
        yield "constants reordered", f"constants reordered, now {', '.join(kept)}"


def _fields(old: dict[str, tuple[str, str]], new: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    removed = [name for name in old if name not in new]
    added = [name for name in new if name not in old]
    if len(removed) == len(added) == 1 and old[removed[0]][0] == new[added[0]][0]:
        yield "field renamed", f"field {removed[0]} renamed to {added[0]}"
        removed = added = []
    for name in removed:
        yield "field removed", f"field {name} removed"
    for name in added:
        yield "field added", f"field {name} added"
    for name in (name for name in new if name in old and new[name] != old[name]):
        (before, default), (now, other) = old[name], new[name]
        if before != now:
            yield "type changed", f"type of field {name} changed from {before} to {now}"
        elif default != other:
            yield "default changed", f"default of field {name} changed from {default} to {other}"
