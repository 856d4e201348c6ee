"""JSON for programs: a version, and one way to write each kind of value."""

from __future__ import annotations

import enum
import json
import math
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs

__all__ = ["SCHEMA", "fields_of", "show_json"]

#: The version of every JSON document. A field may be added to it; any other change makes the next version.
SCHEMA = 1


def fields_of(value: Any, *properties: str, **others: object) -> dict[str, Any]:
    """The fields of a value of an attrs class for JSON, with these properties of it, and with other fields."""
    names = (*(each.name for each in attrs.fields(type(value))), *properties)
    return {**{name: getattr(value, name) for name in names}, **others}


def show_json(value: Any, *, indent: int | None = None) -> None:
    """Prints a value as JSON, in ASCII without control characters."""
    text = json.dumps(_plain(value), indent=indent).replace("\x7f", "\\u007f")
    # In one write, like ``say``.
    sys.stdout.write(f"{text}\n")


def _plain(value: Any) -> Any:
    """The value in JSON's own types. A number that JSON cannot represent becomes a text."""
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(part) for part in value]
    if attrs.has(type(value)):
        return _plain(fields_of(value))
    return str(value)
