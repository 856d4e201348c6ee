"""Python names for Java's classes and fields: readable, unique, and the same in every run."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

__all__ = [
    "BUILTINS",
    "attribute_names",
    "class_candidates",
    "identifier",
    "literal",
    "printable",
    "unique",
    "variable_candidates",
]

_K = TypeVar("_K", bound=Hashable)

#: Names that a class must not hide.
BUILTINS = frozenset(dir(builtins)) | frozenset(keyword.kwlist)

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def identifier(text: str) -> str:
    """The nearest name that Python takes: without leading underscores, which Python gives a meaning."""
    normal = unicodedata.normalize("NFKC", text)  # as Python does with every name
    name = "".join(char if f"_{char}".isidentifier() else "_" for char in normal).lstrip("_")
    return name if name.isidentifier() else f"n{name}"


def printable(text: str) -> str:
    """The text on one line: letters that do not print are escaped, as in a Python string."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def literal(text: str) -> str:
    """The text as a Python string, in the quotes that leave less to escape."""
    mark = "'" if text.count('"') > text.count("'") else '"'
    quoted = text.replace("\\", r"\\").replace(mark, "\\" + mark)
    return f"{mark}{printable(quoted)}{mark}"


def class_candidates(java_name: str) -> list[str]:
    """Names for a class, the simplest first: ``Inner``, ``Outer_Inner``, ``acme_Outer_Inner`` ..."""
    parts = [part for part in re.split(r"[.$]", java_name) if part] or [java_name]
    return [identifier("_".join(parts[-count:])) for count in range(1, len(parts) + 1)]


def variable_candidates(name: str, erased: str) -> list[str]:
    """Names for a type variable: its own, or with its bound's name if it has one."""
    bounds = [] if erased == "java.lang.Object" else class_candidates(erased)
    return [identifier("_".join((name, bound))) for bound in bounds] or [identifier(name)]


def unique(candidates: Mapping[_K, Sequence[str]], taken: Collection[str]) -> dict[_K, str]:
    """One name for each key, from its candidates. Keys that would get the same name all take their next one, so a name
    does not depend on the order. When there is no next one, numbers follow.
    """
    turn = dict.fromkeys(candidates, 0)

    def name(key: _K) -> str:
        names = candidates[key]
        return names[turn[key]] if turn[key] < len(names) else f"{names[-1]}_{turn[key] - len(names) + 2}"

    while True:
        holders = defaultdict(list)
        for key in candidates:
            holders[name(key)].append(key)
        clashes = {name: keys for name, keys in holders.items() if len(keys) > 1 or name in taken}
        if not clashes:
            return {keys[0]: name for name, keys in holders.items()}
        for clash, keys in clashes.items():
            movable = [key for key in keys if turn[key] + 1 < len(candidates[key])]
            for key in movable or (keys if clash in taken else keys[1:]):
                turn[key] += 1


def attribute_names(names: Iterable[str], taken: Collection[str], *, snake_case: bool = False) -> dict[str, str]:
    """By Java name, a Python name for each field or constant: its own, or its own followed by underscores."""
    found: dict[str, str] = {}
    used = {*taken, *keyword.kwlist}
    for java_name in names:
        name = identifier(java_name)
        if snake_case:
            name = _WORDS.sub("_", name).lower()
        while name in used:
            name += "_"
        used.add(name)
        found[java_name] = name
    return found
