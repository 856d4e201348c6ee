"""Requests that end leases, or move their deadlines."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any, TypeVar

import attrs

from redisson_dq._common.texts import shown
from redisson_dq._redis.options import check_durable
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.times import Delay, delay_us, visible_us
from redisson_dq.wire import calls
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.keys import LeaseKeys
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.leases import OUTCOMES, outcomes_of
from redisson_dq.wire.request import Fence, Request, Word

__all__ = ["LARGEST_CURSOR", "Settling"]

U = TypeVar("U")

_LONGEST_REASON = 1000
#: The most bytes of a cursor, as JSON.
LARGEST_CURSOR = 4096


@attrs.frozen(cache_hash=True)
class Settling:
    """The requests that end leases of one queue, or move their deadlines."""

    source: LeaseSource
    name: str
    #: The confirmation that these changes need, unless a call says something else.
    durable: Durability | None = None

    def durably(self, request: Request[U], durable: Durability | None) -> Request[U]:
        """A change that is confirmed as the call asks for, else as the client does."""
        return request.durably(self.confirmation(durable))

    def confirmation(self, durable: Durability | None) -> Durability | None:
        """The confirmation of a change: as the call asks for, else as the client does. Raises ArgumentError."""
        if durable is None:
            return self.durable
        check_durable(durable)
        return durable

    def ack(self, ids: list[bytes]) -> Request[list[SettleOutcome]]:
        keys = self.source.lease_keys
        return call("ack", keys, (keys.word, *ids), _settled)

    def nack(
        self, ids: list[bytes], delay: Delay | None = None, count: bool = True, reason: str | None = None
    ) -> Request[list[SettleOutcome]]:
        if not isinstance(count, bool):
            raise ArgumentError(f"queue {self.name!r}: count= must be True or False, not {shown(count)}")
        request = calls.give_back(
            self.source.lease_keys,
            self.source.envelope,
            ids,
            delay_us=max(self.source.back_after_us, 0 if delay is None else delay_us(delay, self.name)),
            counted=count,
            reason=self._reason(reason),
            limit=self.source.limit,
        )
        return request.then(outcomes_of)

    def crashed(self, ids: list[bytes]) -> Request[list[SettleOutcome]]:
        """Ends leases whose receiver has died. They end as if by their deadline."""
        source = self.source
        request = calls.give_back(
            source.lease_keys, source.envelope, ids, delay_us=source.back_after_us, counted=False, crashed=True
        )
        return request.then(outcomes_of)

    def reject(self, ids: list[bytes], reason: str | None = None) -> Request[list[SettleOutcome]]:
        keys = self.source.lease_keys
        return call("reject", keys, (self._reason(reason), keys.word, *ids), _settled)

    def extend(
        self, ids: list[bytes], visibility_timeout: Delay, cursor: str = ""
    ) -> Request[tuple[int, int, list[SettleOutcome]]]:
        """The server's time in us, the deadline in ms, the outcomes. A ``cursor`` is noted in their records."""
        keys = self.source.lease_keys
        args: tuple[Word, ...] = (visible_us(visibility_timeout, self.name), cursor, *ids)
        return call("extend", keys, args, lambda reply: (reply[0], reply[1], outcomes_of(reply[2])))

    def cursor_text(self, cursor: object) -> str:
        """A cursor as its record has it. Raises ArgumentError for one that is no JSON, or too large."""
        try:
            text = json.dumps(cursor, ensure_ascii=False, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ArgumentError(f"queue {self.name!r}: a cursor is a value that JSON has: {error}") from error
        if len(text) > LARGEST_CURSOR:
            raise ArgumentError(
                f"queue {self.name!r}: the cursor takes {len(text)} bytes as JSON, more than {LARGEST_CURSOR}; save "
                "where the work goes on, and not the work"
            )
        return urlsafe_b64encode(text).rstrip(b"=").decode()

    def fence(self, id: bytes, lost: list[Any]) -> Fence:
        """Makes a transaction depend on a lease. ``lost`` is the answer of the request's script without the lease."""
        keys = self.source.lease_keys
        return Fence(
            key=keys.queue.fence,
            hold=lambda fence, first: _held(keys, id, fence, first),
            # No message was refused on any channel, and every head was announced.
            lost=[b"", b"", b"", lost],
        )

    def _reason(self, reason: str | None) -> str:
        if reason is None:
            return ""
        if not isinstance(reason, str):
            raise ArgumentError(f"queue {self.name!r}: a reason must be a str, not {shown(reason)}")
        return reason[:_LONGEST_REASON].encode(errors="replace").decode()


def _settled(reply: list[Any]) -> list[SettleOutcome]:
    """The script gives a number, and its word for each lease."""
    return list(map(OUTCOMES.__getitem__, reply[1]))


def _held(keys: LeaseKeys, id: bytes, fence: str, first: bool) -> Request[bool]:
    """Whether a lease is held. ``fence`` is the key that is set then, ``first`` whether it may be set up."""
    fenced = attrs.evolve(keys, queue=attrs.evolve(keys.queue, fence=fence))
    return call("hold", fenced, ("first" if first else "", id), lambda reply: reply == [1])
