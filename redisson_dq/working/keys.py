"""Keys of values: what a handler orders, limits, or drops duplicates by."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Union

from redisson_dq._common.signatures import answers, takes
from redisson_dq._common.texts import described, shown
from redisson_dq.errors import ArgumentError

__all__ = ["BadKey", "KeyOf", "check_by", "digest", "key_and_words", "key_bytes", "name_in_context"]

#: The path of a field, as "customer.id", or a function of the value.
KeyOf = Union[str, Callable[[Any], object]]

_CONTEXT = "context."
# The longest text that is read as JSON for a key, which then takes some 60 times its memory. A function may do more.
_LONGEST_JSON = 1_000_000


class BadKey(Exception):
    """``key=``, ``by=`` or ``unique_by=`` of a handler failed, or returned something that is no key."""


def check_by(option: str, by: object) -> None:
    """Raises ArgumentError for what is neither a path nor a function of the value."""
    if isinstance(by, str):
        if all(by.split(".")):
            return
    elif callable(by) and takes(by, 1) and answers(by):
        return
    raise ArgumentError(f'{option} is a field such as "customer.id", or a function of the value, not {shown(by)}')


def name_in_context(by: KeyOf | None) -> str:
    """The name in the context of an offer, where ``by`` is such as "context.tenant", or ""."""
    return by[len(_CONTEXT) :] if isinstance(by, str) and by.startswith(_CONTEXT) else ""


def digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:16]


def key_bytes(by: KeyOf, value: Any, option: str) -> bytes:
    """Equal keys give equal bytes, different ones different bytes. Raises BadKey."""
    return _text_of(_found(by, value, option), option).encode("utf-8", "surrogatepass")


def key_and_words(by: KeyOf, value: Any, option: str) -> tuple[bytes, str]:
    """The bytes of a key, and the key as operators read it: ``customer=71``. Raises BadKey."""
    found = _found(by, value, option)
    text = _text_of(found, option)
    name = by if isinstance(by, str) else getattr(by, "__name__", "key")
    words = str.__str__(found) if isinstance(found, str) else text
    return text.encode("utf-8", "surrogatepass"), f"{'key' if name == '<lambda>' else name}={words}"


def _found(by: KeyOf, value: Any, option: str) -> object:
    try:
        if not isinstance(by, str):
            return by(value)
        for name in by.split("."):
            value = _field(value, name)
        return value
    except BadKey:
        raise
    except BaseException as error:
        raise BadKey(f"{option} failed: {described(error)}") from error


def _field(value: Any, name: str) -> Any:
    if isinstance(value, (str, bytes)):
        # Java's services often offer texts of JSON.
        if len(value) > _LONGEST_JSON:
            raise ValueError(f"{len(value):,} characters are too long for a path; give a function of the value")
        value = json.loads(value)
    if isinstance(value, Mapping):
        return value[name]
    fields = getattr(value, "fields", None)
    if hasattr(value, "java_name") and isinstance(fields, Mapping) and name in fields:
        # An object of a class that is not declared.
        return fields[name]
    return getattr(value, name)


def _text_of(found: object, option: str) -> str:
    try:
        if isinstance(found, tuple):
            return f"({','.join(_text_of(each, option) for each in found)})"
        if isinstance(found, uuid.UUID):
            return repr(found)
        if found is None or isinstance(found, (str, bytes, int)):
            # 1 and True are equal, and so are an enum of text and its value.
            plain = int(found) if isinstance(found, int) else str.__str__(found) if isinstance(found, str) else found
            return repr(plain)
    except BadKey:
        raise
    except BaseException as error:
        # The key has no text: tuples in tuples without end, or a number of more digits than Python writes.
        raise BadKey(f"{option} failed: {described(error)}") from error
    # Its text may be a part of a secret, and this one is a reason in Redis.
    raise BadKey(f"{option} gives a str, bytes, int, UUID, None or a tuple of these, not {type(found).__name__}")
