"""How errors and logs show objects of users' code, and how they find the nearest of several names."""

from __future__ import annotations

import enum
import re
import types
from collections.abc import Iterable, Mapping
from typing import Any, get_origin

__all__ = ["counted", "described", "digits", "mixed_up", "nearest", "public_name", "shown"]

# How many elements of a container are shown, and how many characters of a text.
_ELEMENTS = 3
_CHARACTERS = 100

# Their reprs are short, and show nothing but the object itself.
_PLAIN = frozenset((bool, int, float, complex, range, type(None), type(...)))
_PLAIN_MODULES = frozenset(("datetime", "decimal", "fractions", "uuid"))
_BRACKETS: dict[type, tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")")}

# Names less alike than this are unrelated, as "retry" and "order" are. A part of a name that is shorter than this is
# part of too many other names.
_LIKENESS, _LETTERS = 0.65, 4

# Part of the default repr of an object.
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
_PASSWORD = re.compile(r"(?s)(\w+://)[^/]*@|password=[^&\s]*")

_FLAVOURS = ("redisson_dq._async.", "redisson_dq._sync.")

# The public modules of classes that are defined deeper inside.
_PUBLIC = (
    (re.compile(r"redisson_dq\._async\.worker\b.*"), "redisson_dq.aio.worker"),
    (re.compile(r"redisson_dq\._async\b.*"), "redisson_dq.aio"),
    (re.compile(r"redisson_dq\.(_sync\.worker|working)\b.*"), "redisson_dq.worker"),
    (re.compile(r"redisson_dq\.(codecs|java)\b.*"), r"redisson_dq.\1"),
    (re.compile(r"redisson_dq\b.*"), "redisson_dq"),
    (re.compile(r"(redis\.asyncio|redis)\b.*"), r"\1"),
)


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun, in the singular or the plural.

    >>> from redisson_dq._common.texts import counted
    >>> counted(1, "value was", "values were"), counted(2000, "value was", "values were")
    ('1 value was', '2,000 values were')
    """
    return f"{count:,} {one if count == 1 else many}"


def digits(number: float) -> str:
    """All digits of a number; in hexadecimal if there are more digits than Python writes."""
    try:
        return str(number)
    except ValueError:
        return hex(int(number))


def described(value: object) -> str:
    """The class and the text of an exception or another object. The ``__str__`` of a user's class may raise."""
    name = type(value).__name__
    try:
        return f"{name}: {value}"
    except BaseException as failure:
        return f"{name}, whose text cannot be had ({type(failure).__name__})"


def public_name(of: Any) -> str:
    """The name of a class or a function, with the module that users import it from."""
    module, name = str(getattr(of, "__module__", "")), str(getattr(of, "__qualname__", type(of).__qualname__))
    for inside, outside in _PUBLIC:
        found = inside.fullmatch(module)
        if found:
            module = found.expand(outside)
            break
    return name if module in ("", "builtins", "__main__") else f"{module}.{name}"


def shown(value: object) -> str:
    """A value in the text of an error: plain values as they are, any other object as its class only.

    The repr of a user's object, or of one of redis-py's, may be long, or contain a password or an address in memory.
    """
    try:
        text = _shown(value, 0)
    except Exception:
        # Any method of a user's class may raise. So may the conversion of an int with many digits.
        text = ""
    return _some(value) if not text or _ADDRESS.search(text) else text


def _shown(value: object, depth: int) -> str:
    kind = type(value)
    if kind in _PLAIN or kind.__module__ in _PLAIN_MODULES:
        text = repr(value)
        return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}..."
    if isinstance(value, enum.Enum):
        return f"{kind.__qualname__}.{value.name}"
    if isinstance(value, str):
        masked = _PASSWORD.sub(r"\1***", str(value)) if "://" in value else str(value)
        return repr(masked) if len(masked) <= _CHARACTERS else f"{masked[:_CHARACTERS]!r}..."
    if kind is bytes or kind is bytearray:
        return repr(value) if len(value) <= _CHARACTERS else f"{value[:_CHARACTERS]!r}..."  # type: ignore[arg-type, index]
    if isinstance(value, type) and get_origin(value) is None:
        return f"the class {public_name(value)}"
    if get_origin(value) is not None or isinstance(value, types.UnionType):
        return repr(value)
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
        return f"the function {value.__qualname__}"
    if kind in (list, tuple, set, frozenset, dict):
        return _container(value, depth)
    return _some(value)


def _container(value: Any, depth: int) -> str:
    if depth > 1:
        return _some(value)
    first = [each for each, _ in zip(value, range(_ELEMENTS), strict=False)]
    parts = [
        f"{_shown(each, depth + 1)}: {_shown(value[each], depth + 1)}"
        if isinstance(value, Mapping)
        else _shown(each, depth + 1)
        for each in first
    ]
    if len(value) > len(first):
        parts.append("...")
    opening, closing = _BRACKETS.get(type(value), ("{", "}"))
    comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
    return f"{opening}{', '.join(parts)}{comma}{closing}"


def _some(value: object) -> str:
    name = public_name(type(value))
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


# -- advice ----------------------------------------------------------------------------------------------------------


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a user may have meant."""
    # Imported late: only a program with such a mistake needs it.
    import difflib

    plain = {each.replace("_", "").replace("-", "").lower(): each for each in known}
    # A word of a longer name may match, as in max_retries or delay_seconds.
    for part in (name, *(each for each in name.split("_") if len(each) >= _LETTERS)):
        found = difflib.get_close_matches(part.replace("_", "").lower(), plain, 1, _LIKENESS)
        if found:
            return plain[found[0]]
    return None


def mixed_up(given: object, wanted: type, of_redis: str = "") -> str:
    """Says that an object of another class is wanted. It adds advice for an object of the other flavour.

    ``of_redis`` is the advice for a client of redis-py.
    """
    text = f"expected a {public_name(wanted)}, not {shown(given)}"
    module = type(given).__module__
    if module.startswith(_FLAVOURS) and module.split(".")[1] != wanted.__module__.split(".")[1]:
        return f"{text}: redisson_dq is for threads, redisson_dq.aio for asyncio, and they do not mix"
    return f"{text}: {of_redis}" if of_redis and module.partition(".")[0] == "redis" else text
