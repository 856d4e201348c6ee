"""How a script is called: its keys, their types, its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar

from redisson_dq.scripts.script import Script, load
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request, Word

__all__ = ["call", "call_on", "call_to"]

T = TypeVar("T")


@lru_cache(maxsize=4096)
def _prepared(name: str, keys: QueueKeys) -> tuple[Script, tuple[Word, ...], dict[str, str]]:
    """The parts that every call of a script on a queue shares."""
    script = load(name)
    key_names = [getattr(keys, key) for key in script.keys]
    # A channel is among KEYS only for its slot. It holds no value.
    types = {key: keys.type_of(key) for key in key_names if key not in keys.channels}
    return script, (len(key_names), *key_names), types


def call(name: str, keys: QueueKeys, args: Iterable[Word], parse: Callable[[Any], T]) -> Request[T]:
    script, head, types = _prepared(name, keys)
    return Request(script=script, words=(*head, *args), types=types, parse=parse)


def call_to(
    name: str, keys: QueueKeys, destination: str, args: Iterable[Word], parse: Callable[[Any], T]
) -> Request[T]:
    """A script that also takes the ready list of another queue."""
    script = load(name)
    key_names = [destination if key == "destination" else getattr(keys, key) for key in script.keys]
    types = {key: keys.type_of(key) for key in key_names if key not in keys.channels}
    return Request(script=script, words=(len(key_names), *key_names, *args), types=types, parse=parse)


def call_on(name: str, types: dict[str, str], args: Iterable[Word], parse: Callable[[Any], T]) -> Request[T]:
    """A script for any number of keys."""
    return Request(script=load(name), words=(len(types), *types, *args), types=types, parse=parse)
