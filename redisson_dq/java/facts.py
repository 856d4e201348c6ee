"""What is so in every JVM, once for all codecs."""

from __future__ import annotations

from typing import Any

__all__ = ["ZEROS"]

#: What a field of a primitive type holds that nothing was written to. A field of any other type holds null.
ZEROS: dict[str, Any] = {
    "boolean": False,
    "char": "\0",
    **dict.fromkeys(("byte", "short", "int", "long"), 0),
    **dict.fromkeys(("float", "double"), 0.0),
}
