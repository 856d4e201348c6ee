"""Sources that are more than a plain list."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Union

import attrs

from redisson_dq.wire import calls
from redisson_dq.wire.blocking import Move, PlainSource, Pop, PutBack, Taken
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request, Word

__all__ = ["BoundedSource"]


@attrs.frozen
class BoundedSource(PlainSource):
    """A pop or a move from a bounded queue.

    A value that is taken makes room. A value that goes back takes room again.
    """

    of: Union[Pop, Move]
    queue: QueueKeys

    @property
    def key(self) -> str:
        return self.of.key

    @property
    def keys(self) -> tuple[str, ...]:
        return self.of.keys

    def words(self, timeout: float) -> tuple[Word, ...]:
        return self.of.words(timeout)

    def taken(self, reply: Any) -> list[Taken]:
        return self.of.taken(reply)

    def more(self, count: int) -> Request[list[Taken]] | None:
        return self.of.more(count)

    def at_once(self, count: int) -> Request[list[Taken]] | None:
        return self.of.at_once(count)

    def after(self, taken: Sequence[Taken], known: Mapping[str, bytes]) -> PutBack | None:
        count, nonce = self.of.left(self.queue.ready, taken), secrets.token_bytes(8)
        if not count:
            return None
        return PutBack(self.key, [], calls.release(self.queue, nonce, known.get(self.key, b""), count), nonce)

    def put_back(self, surplus: Sequence[Taken], known: Mapping[str, bytes]) -> list[PutBack]:
        return self.of.put_back(surplus, known, bounded=self.queue.ready)
