"""Functions generated for one declared class, as attrs generates ``__init__``.

A loop over the fields would look up the same facts for each object: the field, its type, how its values are written. A
codec looks them up once, when the first object of a class is read or written, and compiles them into a function. The
text of the function contains nothing that was read from bytes, and no names but plain identifiers.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import Any

__all__ = ["Unusual", "attribute_of", "compiled", "is_plain"]


class Unusual(Exception):
    """Raised by generated functions for values or bytes they do not handle. It never leaves a codec, which then uses
    its general reader or writer."""


def is_plain(name: str) -> bool:
    """Whether the name of an attribute can be used unchanged in Python source."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def attribute_of(value: str, name: str) -> str:
    """The source of the expression for the attribute of the variable ``value``."""
    return f"{value}.{name}" if is_plain(name) else f"getattr({value}, {name!r})"


def compiled(lines: Sequence[str], names: dict[str, Any], function: str, class_name: str) -> Any:
    """The function of that name in the source. It can refer to ``names``; ``class_name`` is for tracebacks."""
    exec(compile("\n".join(lines), f"<{function} {class_name}>", "exec"), names)
    return names[function]
