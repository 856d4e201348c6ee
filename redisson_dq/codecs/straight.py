"""Functions that are made for one declared class, as attrs makes an ``__init__`` for one class.

A loop over fields asks the same for each object: which field, which type, how its values are written. A codec asks it
once, when the first object of a class is read or written. The answers become the text of a function, which is compiled.
Nothing that was read from bytes goes into that text, and of names only those that are plain identifiers.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import Any

__all__ = ["Unusual", "attribute_of", "compiled", "is_plain"]


class Unusual(Exception):
    """Says that a straight way does not know a value or bytes. It never leaves a codec, which takes the long way."""


def is_plain(name: str) -> bool:
    """Whether the name of an attribute can be in Python text, and is the same name there."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def attribute_of(value: str, name: str) -> str:
    """The text that gives the attribute of the variable ``value``."""
    return f"{value}.{name}" if is_plain(name) else f"getattr({value}, {name!r})"


def compiled(lines: Sequence[str], names: dict[str, Any], function: str, class_name: str) -> Any:
    """The function of that name in the text. It can refer to ``names``; ``class_name`` is for tracebacks."""
    exec(compile("\n".join(lines), f"<{function} {class_name}>", "exec"), names)
    return names[function]
