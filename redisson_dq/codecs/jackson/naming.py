"""Jackson's naming strategies: how the name of a field is written in JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError

__all__ = ["NAMINGS", "advice", "checked_naming", "letters"]


def _snake(name: str) -> str:
    found: list[str] = []
    after_capital = False
    for at, char in enumerate(name):
        if at == 0 and char == "_":
            continue
        if char.isupper() and not after_capital and found and found[-1] != "_":
            found.append("_")
        after_capital = char.isupper()
        found.append(char.lower())
    return "".join(found) or name


def _separated(name: str, separator: str) -> str:
    found: list[str] = []
    capitals = 0
    for at, char in enumerate(name):
        if char == char.lower():
            if capitals > 1:  # the last of several capitals begins the next word
                found.insert(len(found) - 1, separator)
            capitals = 0
        else:
            if capitals == 0 and at:
                found.append(separator)
            capitals += 1
        found.append(char.lower())
    return "".join(found)


#: By the name of the constant in ``PropertyNamingStrategies``, in lower case.
NAMINGS: dict[str, Callable[[str], str]] = {
    "snake_case": _snake,
    "upper_snake_case": lambda name: _snake(name).upper(),
    "kebab_case": lambda name: _separated(name, "-"),
    "lower_dot_case": lambda name: _separated(name, "."),
    "lower_case": str.lower,
    "upper_camel_case": lambda name: name[:1].upper() + name[1:],
    "lower_camel_case": str,
}


def checked_naming(naming: str | None) -> str:
    """The name of a strategy, "lower_camel_case" for None. Raises ArgumentError for an unknown one."""
    if naming is None:
        return "lower_camel_case"
    if not isinstance(naming, str) or naming not in NAMINGS:
        raise ArgumentError(f"naming is one of {', '.join(map(repr, NAMINGS))}, not {shown(naming)}")
    return naming


def letters(name: str) -> str:
    """The part of a name that all its spellings have in common."""
    return name.translate(_NO_SEPARATORS).lower()


_NO_SEPARATORS = str.maketrans("", "", "_-. ")


def advice(written: Mapping[str, str]) -> str:
    """The advice for Java fields that have other names in the bytes. ``written`` has these by the names in Java."""
    fitting = [naming for naming, write in NAMINGS.items() if all(write(name) == own for name, own in written.items())]
    if not fitting:
        return f"declare json={dict(written)!r}, as Java names them"
    option = "leave out naming=" if checked_naming(None) in fitting else f"give the codec naming={fitting[0]!r}"
    return f"{option}, as in Java's mapper"
