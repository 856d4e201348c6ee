"""The source that leases: a queue whose values are leased, at once or after they were seen."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import attrs

from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.clock import SYSTEM, Clock
from redisson_dq.wire import calls
from redisson_dq.wire.blocking import PutBack, Source, seconds
from redisson_dq.wire.calls import Admitted, Due, DueRange, LimitWords, Peeked, Seen, limit_words, occurrences
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.forms import newer_form, tell_newer
from redisson_dq.wire.keys import LeaseKeys, QueueKeys
from redisson_dq.wire.leases import Leased, outcomes_of
from redisson_dq.wire.request import Request, Word
from redisson_dq.wire.taken import Taken

__all__ = ["MOST_AT_ONCE", "LeaseSource", "leased_rows", "mark_of"]

#: One script call leases no more values than that.
MOST_AT_ONCE = 1000

# A ``next_slot_ms`` of a call that has not looked for slots.
_NOT_LOOKED = -2

#: Distinguishes the calls of an owner.
_calls = itertools.count(secrets.randbits(32))


def _count_anew() -> None:
    """Starts from another number in a forked process, so that its calls are not taken for those of its parent."""
    global _calls
    _calls = itertools.count(secrets.randbits(32))


os.register_at_fork(after_in_child=_count_anew)


@attrs.frozen(cache_hash=True)
class LeaseSource(Source):
    """The first values of a list, each leased for this many us. After ``limit`` deliveries (0: never) a value is a dead
    letter. A value that is given back is ready again, or waits for at least ``back_after_us`` where that is above zero.

    Redis cannot wait and run a script in one step. So a look leases ready values. When nothing is ready, the blocking
    command moves the next value into the list ``arrivals``. Every look begins with that list. One is sent together with
    the blocking command, so the value is leased without another round trip.

    With ``sees_first`` a look only shows values, and :meth:`admit` leases those whose turn it is. A value that was seen
    stays where it is, so a caller that has left holds up nothing.
    """

    lease_keys: LeaseKeys
    envelope: Envelope
    visible_us: int
    limit: int
    back_after_us: int = 0
    #: The beginning of the leases' ids (:func:`mark_of`), which shows other processes which client holds them.
    owner: bytes = b""
    #: Whether values are seen before they are leased.
    sees_first: bool = False
    #: Gives the limits of slots for such values. A look that finds nothing calls up values for free slots.
    limits: Callable[[], Sequence[LimitWords]] = attrs.field(default=tuple, eq=False, repr=False)
    #: A function that is called with ``next_slot_ms`` (:class:`Peeked`), and the source.
    tell_slots: Callable[[LeaseSource, int], object] | None = attrs.field(default=None, eq=False, repr=False)
    #: The clock by which the leases say how much of their time is left.
    clock: Clock = attrs.field(default=SYSTEM, eq=False, repr=False)
    #: A function that is called with the number of values that a call has made dead letters.
    tell_buried: Callable[[int], object] | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def visible(self) -> float:
        """For how many seconds it leases."""
        return self.visible_us / 1_000_000

    @property
    def key(self) -> str:
        return self.lease_keys.queue.ready

    @property
    def keys(self) -> tuple[str, ...]:
        return self.lease_keys.queue.ready, self.lease_keys.queue.arrivals

    def leases(self, key: str) -> bool:
        return key == self.key

    @property
    def sets_aside(self) -> bool:
        return True

    def look(self, count: int) -> Request[list[Taken]]:
        if count < 1:
            # Puts back a value that has come when nobody waits for it any more.
            return call("return_arrivals", self.lease_keys.queue, (1,), lambda _: [], repeatable=True)
        if self.sees_first:
            return self.peek(count).then(lambda found: [Taken(key=self.key, data=data) for data in found])
        return cast("Request[list[Taken]]", self.receive(count))

    def receive(self, count: int, nonce: bytes = b"") -> Request[list[Leased]]:
        """Leases at most this many values. Sent again, it gives the same leases, as long as they are held.

        ``nonce`` is 8 bytes, or 6 for the legacy envelope, that no other request has.
        """
        most = min(count, MOST_AT_ONCE)
        args = (self.envelope.value, nonce or self._nonce(), most, self.visible_us, self.limit, self.lease_keys.word)
        return call("receive", self.lease_keys, args, self._received, repeatable=True)

    def _received(self, reply: list[Any]) -> list[Leased]:
        now_us, buried, rows, left = reply
        leased = self._leased(now_us, rows, left)
        if buried:
            self._tell(buried)
        return leased

    def _leased(self, now_us: int, rows: list[Any], left: int | None = None) -> list[Leased]:
        return leased_rows(self.lease_keys.queue, now_us, self.clock.now_us(), rows, left)

    def ack_and_receive(
        self, ids: Sequence[bytes], count: int
    ) -> tuple[Request[tuple[list[SettleOutcome], list[Leased]] | None], Callable[[], Request[list[Taken]]]]:
        """Ends leases and leases at most this many values, in one call; None where two calls are needed.

        When its reply was lost, a second request gives the leases that it may have made, or makes as many. Few calls
        need one, so it is a function that makes it.
        """
        nonce, most = self._nonce(), min(count, MOST_AT_ONCE)

        def parsed(reply: list[Any] | None) -> tuple[list[SettleOutcome], list[Leased]] | None:
            if reply is None:
                return None
            now_us, outcomes, rows, left = reply
            return outcomes_of(outcomes), self._leased(now_us, rows, left)

        both = call(
            "ack_and_receive", self.lease_keys, (self.envelope.value, nonce, most, self.visible_us, *ids), parsed
        )
        return both, lambda: cast("Request[list[Taken]]", self.receive(most, nonce))

    @property
    def acks_along(self) -> bool:
        """Whether :meth:`ack_and_receive` is for it."""
        return not (self.sees_first or self.lease_keys.bounded)

    def peek(self, count: int) -> Request[list[bytes]]:
        """The first this many values. They stay."""
        seen = self._peek(count, self.limits())
        return attrs.evolve(seen.then(lambda peeked: peeked.values), repeatable=True)

    def call_up(self) -> Request[int] | None:
        """Calls up values for slots that are free where nothing is ready. None without a limit of slots.

        Follows each call that has called up a value: a take of another program may have been faster than the receives.
        """
        limits = self.limits()
        return self._peek(0, limits).then(lambda peeked: peeked.called_up) if limits else None

    def _peek(self, count: int, limits: Sequence[LimitWords]) -> Request[Peeked]:
        """The values that a receive would give next, at most this many.

        Where there are none, values that wait for a slot of these limits are called up first, as far as slots are free.
        """

        def parsed(reply: list[Any]) -> Peeked:
            peeked = Peeked(*reply)
            self._tell_of_slots(peeked.next_slot_ms)
            return peeked

        return call("peek", self.lease_keys.queue, (count, len(limits), *limit_words(limits)), parsed)

    def admit(self, count: int, limits: Sequence[LimitWords], seen: Iterable[Seen]) -> Request[Admitted]:
        """Leases at most this many of the values that were seen. Sent again, it gives the same leases.

        The script follows the order of the ready list, and ends at the first value that was not seen.
        """
        args: list[Word] = [
            self.envelope.value,
            self._nonce(),
            count,
            self.visible_us,
            self.limit,
            self.lease_keys.word,
        ]
        args += (len(limits), *limit_words(limits))
        for each in seen:
            args += (each.digest, each.key, each.limit, each.unique, each.unique_us)

        def parsed(reply: list[Any]) -> Admitted:
            now_us, buried, rows, *counts = reply
            admitted = Admitted(now_us, buried, self._leased(now_us, rows), *counts)
            self._tell(buried)
            self._tell_of_slots(admitted.next_slot_ms)
            return admitted

        return call("admit", self.lease_keys, args, parsed, repeatable=True)

    def lease_due(self, wanted: DueRange, remember_ms: int) -> Request[Due]:
        """Leases values that wait, by their due times. Sent again, it gives the same leases, as long as they are
        held.
        """

        def parsed(reply: list[Any]) -> Due:
            buried, rows, set_aside, expired, now_us, come = reply
            due = Due(set_aside, expired, now_us, occurrences(come), buried, self._leased(now_us, rows))
            self._tell(buried)
            return due

        args = (self.envelope.value, self._nonce(), self.visible_us, self.limit, *wanted.words, remember_ms)
        return call("lease_due", self.lease_keys, args, parsed, repeatable=True)

    def words(self, timeout: float) -> tuple[Word, ...]:
        return "BLMOVE", *self.keys, "LEFT", "RIGHT", seconds(timeout)

    def behind(self) -> Request[list[Taken]] | None:
        # One value and no more: a receiver that hangs, and that Redis takes for alive, holds it to its deadline.
        return None if self.sees_first else self.look(1)

    def taken(self, reply: Any) -> list[Taken]:
        """No values: a look leases the value that has come."""
        return []

    def more(self, count: int) -> Request[list[Taken]]:
        return self.look(count)

    def put_back(self, surplus: Sequence[Taken], known: Mapping[str, bytes]) -> list[PutBack]:
        leased = [taken for taken in surplus if isinstance(taken, Leased)]
        return [PutBack(self.key, list(leased), self.hand_back(leased))] if leased else []

    def hand_back(self, leased: Sequence[Leased]) -> Request[list[bytes]]:
        """Returns values that no caller has seen, as if they had never been received."""
        ids = [each.id for each in leased]
        request = calls.give_back(self.lease_keys, self.envelope, ids, delay_us=self.back_after_us, counted=False)
        # A second hand-back answers LOST, and changes nothing.
        return attrs.evolve(request, repeatable=True)

    def _nonce(self) -> bytes:
        if self.owner:
            mark = self.owner if self.envelope is Envelope.CURRENT else mark_of(self.owner, self.envelope)
            size = (8 if self.envelope is Envelope.CURRENT else 6) - len(mark)
            return mark + (next(_calls) % (1 << 8 * size)).to_bytes(size, "big")
        if self.envelope is Envelope.CURRENT:
            return os.urandom(8)
        # With the top bit set, this byte cannot be the first byte of the other format.
        made = os.urandom(6)
        return bytes((made[0] | 0x80,)) + made[1:]

    def _tell(self, buried: int) -> None:
        if buried and self.tell_buried is not None:
            self.tell_buried(buried)

    def _tell_of_slots(self, next_slot_ms: int) -> None:
        # Where nobody has looked, what was found before still holds.
        if self.tell_slots is not None and next_slot_ms != _NOT_LOOKED:
            self.tell_slots(self, next_slot_ms)


def mark_of(owner: bytes, envelope: Envelope) -> bytes:
    """The beginning of the ids of an owner's leases. ``owner`` is 4 bytes that no other process has."""
    if envelope is Envelope.CURRENT:
        return owner[:4]
    return bytes((owner[0] | 0x80,)) + owner[1:3]


def leased_rows(keys: QueueKeys, now_us: int, read_us: int, rows: list[Any], left: int | None = None) -> list[Leased]:
    """Leases as the scripts return them: id, deadline, record and value of each. ``left`` is how many values were still
    in the list, where the script reports that.
    """
    key = keys.ready
    for text in rows[2::4]:
        # Nearly all are empty, or begin with a digit.
        if text[:1] == b"v":
            tell_newer(keys.ready, keys.deliveries, "deliveries", newer_form(text))
    return [
        Leased(key=key, id=id, deadline_ms=deadline, text=text, data=data, now_us=now_us, read_us=read_us, left=left)
        for id, deadline, text, data in zip(*[iter(rows)] * 4, strict=True)
    ]
