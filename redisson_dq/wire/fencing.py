"""The commands that are sent for a transaction: each entry has an id of its own, and leases may have to be held.

A transaction of Redis carries out all of its commands, whatever one of them answers. So the first commands of a fenced
transaction ask whether its leases are held. If they are, a key is inside the transaction. Each other command looks
for the key first, in the same script, and does nothing without it. The last command removes the key.

Nothing here does any I/O.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from redisson_dq.errors import LeaseLostError
from redisson_dq.scripts.script import WITHHELD, guarded, numbered
from redisson_dq.wire import calls
from redisson_dq.wire.request import Fence, Request

__all__ = ["fenced", "unfenced"]


def fenced(requests: Sequence[Request[Any]]) -> list[Request[Any]]:
    """The commands that are sent for the requests of one transaction."""
    fences = _fences(requests)
    if not fences:
        return _numbered(requests)
    key = next(iter(fences.values())).key
    holds = [fence.hold(key, number == 0) for number, fence in enumerate(fences.values())]
    release = Request(words=("DEL", key), types={key: "string"}, parse=int)
    return [*holds, *_numbered([_guarded(request, key) for request in requests], is_guarded=True), release]


def unfenced(requests: Sequence[Request[Any]], replies: Sequence[Any]) -> list[Any]:
    """The replies to the requests, or errors in their place, taken from the replies to all commands that were sent."""
    fences = _fences(requests)
    if not fences:
        return list(replies)
    held = dict(zip(fences, replies, strict=False))
    refusal = next((reply for reply in held.values() if isinstance(reply, Exception)), None)
    found: list[Any] = []
    for place, reply in enumerate(replies[len(fences) : -1]):
        if not (isinstance(reply, Exception) and str(reply).startswith(WITHHELD)):
            found.append(reply)
        elif refusal is not None:
            found.append(refusal)
        elif held.get(place) == [0]:
            found.append(fences[place].lost)
        else:
            found.append(LeaseLostError("a lease of this transaction had ended, so nothing of it was done"))
    return found


def _fences(requests: Sequence[Request[Any]]) -> dict[int, Fence]:
    """The fences, by the place of their request."""
    return {place: request.fence() for place, request in enumerate(requests) if request.fence is not None}


def _numbered(requests: Sequence[Request[Any]], *, is_guarded: bool = False) -> list[Request[Any]]:
    """Gives each call that adds entries the number of entries before it, where there are several calls."""
    adding = [place for place, request in enumerate(requests) if request.script is not None and request.script.adds]
    found = list(requests)
    for before, place in enumerate(adding if len(adding) > 1 else ()):
        request, script = requests[place], requests[place].script
        assert script is not None
        words = (*request.words, before)
        found[place] = attrs.evolve(request, script=numbered(script.name, is_guarded=is_guarded), words=words)
    return found


def _guarded(request: Request[Any], key: str) -> Request[Any]:
    if request.script is None:
        request = calls.run_command(request)
    assert request.script is not None
    count, *others = request.words
    assert isinstance(count, int)
    words = (count + 1, *others[:count], key, *others[count:])
    return attrs.evolve(request, script=guarded(request.script.name), words=words)
