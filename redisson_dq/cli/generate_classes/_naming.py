"""How Jackson's naming strategies write a name."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["STRATEGIES", "bean_name"]


def bean_name(method: str, prefix: str, *, jackson_3: bool = False) -> str | None:
    """The property of ``getAmount`` with the prefix ``get``: all capitals that it begins with become small.

    Jackson 3 makes one capital small, and none where two come first. It takes no name that begins otherwise.
    """
    rest = method.removeprefix(prefix)
    if not method.startswith(prefix) or not rest:
        return None
    if jackson_3:
        if not rest[0].isupper():
            return None
        return rest if rest[1:2].isupper() else rest[0].lower() + rest[1:]
    small = next((at for at, char in enumerate(rest) if char == char.lower()), len(rest))
    return rest[:small].lower() + rest[small:]


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


#: By the simple name of their class.
STRATEGIES: dict[str, Callable[[str], str]] = {
    "SnakeCaseStrategy": _snake,
    "LowerCaseWithUnderscoresStrategy": _snake,
    "UpperSnakeCaseStrategy": lambda name: _snake(name).upper(),
    "LowerCaseStrategy": str.lower,
    "KebabCaseStrategy": lambda name: _separated(name, "-"),
    "LowerDotCaseStrategy": lambda name: _separated(name, "."),
    "UpperCamelCaseStrategy": lambda name: name[:1].upper() + name[1:],
    "PascalCaseStrategy": lambda name: name[:1].upper() + name[1:],
    **dict.fromkeys(("LowerCamelCaseStrategy", "PropertyNamingStrategy"), str),
}
