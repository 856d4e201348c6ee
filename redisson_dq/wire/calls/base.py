"""How a script is called: its keys, their types, its arguments."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote

from redisson_dq.scripts.script import Script, load
from redisson_dq.wire.keys import LeaseKeys, QueueKeys
from redisson_dq.wire.request import Request, Word

__all__ = ["Prepared", "call", "call_on", "prepared"]

T = TypeVar("T")

#: The script, the words before the arguments, those after them (the process, for a script that notes what it does),
#: and the keys' types.
Prepared = tuple[Script, tuple[Word, ...], tuple[Word, ...], dict[str, str]]
# The most characters of a host's name.
_LONGEST_HOST = 80


@lru_cache(maxsize=4096)
def prepared(name: str, keys: QueueKeys | LeaseKeys, destination: str = "") -> Prepared:
    """The parts that all calls of a script on a queue share. ``destination`` is the ready list of another queue."""
    script = load(name)
    queue, dead = (keys.queue, keys.dead) if isinstance(keys, LeaseKeys) else (keys, None)
    key_names = [
        destination if role == "destination" else getattr(dead if role.startswith("dead") else queue, role)
        for role in script.keys
    ]
    types = {} if dead is None else dead.types
    # A channel is among KEYS only for its slot. It holds no value.
    types = {key: types.get(key) or queue.type_of(key) for key in key_names if key not in queue.channels}
    tail = (f"{quote(socket.gethostname(), safe='')[:_LONGEST_HOST]}:{os.getpid()}",) if script.notes else ()
    return script, (len(key_names), *key_names), tail, types


# A process that was forked off has another name.
os.register_at_fork(after_in_child=prepared.cache_clear)


def call(
    name: str,
    keys: QueueKeys | LeaseKeys,
    args: Iterable[Word],
    parse: Callable[[Any], T],
    *,
    destination: str = "",
    repeatable: bool = False,
) -> Request[T]:
    """The call of a script on a queue, and on its dead-letter list if the script takes that."""
    script, head, tail, types = prepared(name, keys, destination)
    return Request(script=script, words=(*head, *args, *tail), types=types, parse=parse, repeatable=repeatable)


def call_on(name: str, types: dict[str, str], args: Iterable[Word], parse: Callable[[Any], T]) -> Request[T]:
    """A script for any number of keys."""
    return Request(script=load(name), words=(len(types), *types, *args), types=types, parse=parse)
