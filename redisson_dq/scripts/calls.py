"""One typed function per script: what it takes, and what its reply means."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar

import attrs

from ..wire.commands import whole_ms
from ..wire.envelope import Envelope
from ..wire.keys import QueueKeys
from ..wire.request import Request, Word
from .script import Script, load

__all__ = ["Transferred", "offer", "poll", "transfer"]

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Transferred:
    """What one transfer did. Times are the server's: ``now_us`` in epoch us, ``next_ms`` in epoch ms."""

    moved: int
    set_aside: int
    now_us: int
    next_ms: int | None


@lru_cache(maxsize=4096)
def _prepared(name: str, keys: QueueKeys) -> tuple[Script, tuple[Word, ...], dict[str, str]]:
    """What is the same in every call of a script on a queue."""
    script = load(name)
    key_names = [getattr(keys, key) for key in script.keys]
    # The channel stands among KEYS for its slot only: it is no key.
    types = {key: keys.type_of(key) for key in key_names if key != keys.channel}
    return script, (len(key_names), *key_names), types


def _call(name: str, keys: QueueKeys, args: Iterable[Word], parse: Callable[[Any], T]) -> Request[T]:
    script, head, types = _prepared(name, keys)
    return Request(script=script, words=(*head, *args), types=types, parse=parse)


def offer(keys: QueueKeys, envelope: Envelope, dues_and_values: Iterable[Word]) -> Request[int]:
    """``dues_and_values`` alternates due times (see ``_times.due_word``) and encoded values."""
    return _call("offer", keys, (envelope.value, *dues_and_values), int)


def transfer(keys: QueueKeys, limit: int) -> Request[Transferred]:
    """Moves at most ``limit`` values that are due. Safe to repeat."""
    return _call("transfer", keys, (limit,), _transferred)


def _transferred(reply: list[Any]) -> Transferred:
    # Redis ends an array at its first nil: no head, no fourth element.
    moved, set_aside, now_us, *head = reply
    return Transferred(moved=moved, set_aside=set_aside, now_us=now_us, next_ms=whole_ms(head[0]) if head else None)


def poll(keys: QueueKeys, limit: int) -> Request[tuple[list[bytes], int]]:
    """At most ``limit`` values in offer order, and how many members were set aside on the way."""
    return _call("poll", keys, (limit,), lambda reply: (reply[0], reply[1]))
