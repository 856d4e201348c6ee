"""How a script is called: its keys, their types, its arguments."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote

from redisson_dq.scripts.script import Script, load
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request, Word

__all__ = ["Prepared", "call", "call_on", "call_to", "tail_of"]

T = TypeVar("T")

#: The parts that all calls of a script on a queue share: the words before the arguments, those after them, the keys'
#: types.
Prepared = tuple[Script, tuple[Word, ...], tuple[Word, ...], dict[str, str]]
# The most characters of a host's name.
_LONGEST_HOST = 80


def tail_of(script: Script) -> tuple[Word, ...]:
    """The last words of each call: the process, for a script that notes what it does."""
    return (f"{quote(socket.gethostname(), safe='')[:_LONGEST_HOST]}:{os.getpid()}",) if script.notes else ()


@lru_cache(maxsize=4096)
def _prepared(name: str, keys: QueueKeys) -> Prepared:
    """The parts that every call of a script on a queue shares."""
    script = load(name)
    key_names = [getattr(keys, key) for key in script.keys]
    # A channel is among KEYS only for its slot. It holds no value.
    types = {key: keys.type_of(key) for key in key_names if key not in keys.channels}
    return script, (len(key_names), *key_names), tail_of(script), types


def call(name: str, keys: QueueKeys, args: Iterable[Word], parse: Callable[[Any], T]) -> Request[T]:
    script, head, tail, types = _prepared(name, keys)
    return Request(script=script, words=(*head, *args, *tail), types=types, parse=parse)


def call_to(
    name: str, keys: QueueKeys, destination: str, args: Iterable[Word], parse: Callable[[Any], T]
) -> Request[T]:
    """A script that also takes the ready list of another queue."""
    script = load(name)
    key_names = [destination if key == "destination" else getattr(keys, key) for key in script.keys]
    types = {key: keys.type_of(key) for key in key_names if key not in keys.channels}
    return Request(script=script, words=(len(key_names), *key_names, *args, *tail_of(script)), types=types, parse=parse)


def call_on(name: str, types: dict[str, str], args: Iterable[Word], parse: Callable[[Any], T]) -> Request[T]:
    """A script for any number of keys."""
    return Request(script=load(name), words=(len(types), *types, *args), types=types, parse=parse)


# A process that was forked off has another name.
os.register_at_fork(after_in_child=_prepared.cache_clear)
