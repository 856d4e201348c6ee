"""How Jackson's naming strategies write a name."""

from __future__ import annotations

from collections.abc import Callable

from redisson_dq.codecs.jackson.naming import NAMINGS

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


#: By the simple name of their class.
STRATEGIES: dict[str, Callable[[str], str]] = {
    "SnakeCaseStrategy": NAMINGS["snake_case"],
    "LowerCaseWithUnderscoresStrategy": NAMINGS["snake_case"],
    "UpperSnakeCaseStrategy": NAMINGS["upper_snake_case"],
    "LowerCaseStrategy": NAMINGS["lower_case"],
    "KebabCaseStrategy": NAMINGS["kebab_case"],
    "LowerDotCaseStrategy": NAMINGS["lower_dot_case"],
    "UpperCamelCaseStrategy": NAMINGS["upper_camel_case"],
    "PascalCaseStrategy": NAMINGS["upper_camel_case"],
    **dict.fromkeys(("LowerCamelCaseStrategy", "PropertyNamingStrategy"), NAMINGS["lower_camel_case"]),
}
