"""Views as JSON: times in ISO 8601, spans in seconds, and whole numbers that JavaScript would round as text."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs

from redisson_dq._common.texts import digits

__all__ = ["json_bytes", "json_text", "plain"]

_AS_THEY_ARE = (str, float, bool)
# The largest whole number that JavaScript represents exactly.
_SAFE = (1 << 53) - 1


def plain(value: Any) -> Any:
    """A view, or any part of one, as a JSON value."""
    # Most parts are the points of small charts.
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    if attrs.has(type(value)):
        return {each.name.rstrip("_"): plain(getattr(value, each.name)) for each in attrs.fields(type(value))}
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE:
        return digits(value)
    return value


def json_bytes(value: Any) -> bytes:
    """A view as the bytes of its JSON."""
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def json_text(value: Any) -> str:
    """A decoded value as a line of JSON, with all digits of its numbers."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except ValueError:
        # A number with more digits than Python converts.
        return json.dumps(plain(value), ensure_ascii=False)
