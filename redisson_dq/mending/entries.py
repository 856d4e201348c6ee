"""Entries as JSON, in a selection and in an undo file: bytes are base64, and empty fields are left out."""

from __future__ import annotations

import base64
import re
from typing import Any, Union

import attrs

from redisson_dq.admin.entries import Aside, Met

__all__ = ["entry_from", "entry_line"]

_BYTES = {"member", "item", "record", "delivery", "value", "element", "id", "info"}
_OTHERS = {"place": int, "attempts": int, "state": str}
_NUMBER = re.compile(r"[+-]?(?:inf|\d{1,40}(?:\.\d{1,40})?(?:e[+-]?\d{1,4})?)|")
# Numbers as Redis writes them.
_TEXTS = {"score", "deadline"}
_DEFAULTS = {
    field.name: field.default
    for kind in (Met, Aside)
    for field in attrs.fields(kind)
    if field.default is not attrs.NOTHING
}


def entry_line(entry: Union[Met, Aside]) -> dict[str, Any]:
    """An entry as a JSON object."""
    told: dict[str, Any] = {}
    for name, value in attrs.asdict(entry).items():
        if name in _DEFAULTS and value == _DEFAULTS[name]:
            continue
        if name in _BYTES:
            value = base64.b64encode(value).decode()
        elif name in _TEXTS:
            value = value.decode()
        told[name] = value
    return told


def entry_from(told: dict[str, Any]) -> Union[Met, Aside]:
    """Parses an object made by :func:`entry_line`. Raises KeyError, TypeError or ValueError for anything else."""
    for name, value in dict(told).items():
        if type(value) is not _OTHERS.get(name, str) or (name in _TEXTS and not _NUMBER.fullmatch(str(value))):
            raise ValueError(name)
    values: dict[str, Any] = {
        name: base64.b64decode(value, validate=True) if name in _BYTES else value.encode() if name in _TEXTS else value
        for name, value in told.items()
    }
    return Aside(**values) if "element" in values else Met(**values)
