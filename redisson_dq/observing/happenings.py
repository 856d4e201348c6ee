"""The arguments of observers: one frozen class for each kind of happening in a client.

The happenings of a worker are of the same family: ``working/happenings.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import attrs

from redisson_dq.errors import DecodeError
from redisson_dq.items import SettleOutcome
from redisson_dq.scheduling.engine import Role

__all__ = [
    "AckedTooLate",
    "Answered",
    "Away",
    "BackAgain",
    "Buried",
    "Expired",
    "Happening",
    "LeaseLost",
    "LeaseBegan",
    "Missed",
    "Moved",
    "Noticed",
    "OfLease",
    "OfQueue",
    "OfRequest",
    "Paused",
    "Resumed",
    "RoleChanged",
    "Sent",
    "SetAside",
    "Settled",
    "Skipped",
    "Subscribed",
    "TookLong",
    "ValuesTaken",
    "Undecodable",
]


@attrs.frozen(kw_only=True)
class Happening:
    """Something that happened in a client or in its worker. All other classes here derive from it."""


# -- the connection to Redis -----------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Away(Happening):
    """Redis cannot be reached. Reported once, when it begins. ``error`` says why."""

    error: BaseException


@attrs.frozen(kw_only=True)
class BackAgain(Happening):
    """Redis can be reached again. ``after`` is how long the outage lasted."""

    after: timedelta


@attrs.frozen(kw_only=True)
class Noticed(Happening):
    """A look at the server's settings, soon after the client's first call, has found something.

    ``check`` is ``"eviction"``, ``"append-only file"``, ``"version"``, ``"rights"`` or ``"clock"``. ``found`` is the
    state, and ``advice`` the command that helps. With ``needs_a_hand`` it is logged as a warning, else as information.
    """

    check: str
    server: str
    found: str
    advice: str
    needs_a_hand: bool


@attrs.frozen(kw_only=True)
class OfRequest(Happening):
    """A happening of one request, a command or a script call.

    ``request`` is the name of the script (``"offer"``), or the command (``"LPOP"``). ``keys`` are the keys that it is
    about. ``number`` says which :class:`Answered` belongs to which :class:`Sent`. ``waits`` is true for a command with
    which Redis answers when there is a value, as ``BLPOP``.
    """

    number: int
    request: str
    keys: tuple[str, ...]
    waits: bool = False


@attrs.frozen(kw_only=True)
class Sent(OfRequest):
    """A request is about to be sent. Exactly one :class:`Answered` follows."""


@attrs.frozen(kw_only=True)
class Answered(OfRequest):
    """A request was answered, or will not be.

    ``duration`` is the time since :class:`Sent`. It includes the wait for a connection, and redirections of a cluster.
    Requests that were sent together have the duration of all. ``error`` is None, an error of redis-py that Redis
    answered with, or why no answer came. The caller gets that error in the words of this library.
    """

    duration: timedelta
    error: BaseException | None


# -- moving due items ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class OfQueue(Happening):
    """A happening of one queue. ``queue`` is its name as it was opened; a partition has a name of its own."""

    queue: str


@attrs.frozen(kw_only=True)
class Subscribed(OfQueue):
    """Redis has confirmed that this client hears the queue's channel. It does so again after each new connection."""

    channel: str


@attrs.frozen(kw_only=True)
class RoleChanged(OfQueue):
    """Another process moves the queue's due items now, or this one does. The first known role is reported too."""

    role: Role


@attrs.frozen(kw_only=True)
class Moved(OfQueue):
    """One transfer has moved ``count`` due items to the ready list.

    ``late_by`` is how long after the due time of the first one the transfer ran, on Redis's clock. None: that due time
    was not known here before the transfer.
    """

    count: int
    late_by: timedelta | None


@attrs.frozen(kw_only=True)
class Paused(OfQueue):
    """This client has paused the queue's delivery. A pause that another client begins is not reported."""


@attrs.frozen(kw_only=True)
class Resumed(OfQueue):
    """This client has ended a pause of the queue's delivery."""


@attrs.frozen(kw_only=True)
class SetAside(OfQueue):
    """``count`` entries that are in no envelope format were moved to the list with the key ``kept_in``."""

    count: int
    kept_in: str


@attrs.frozen(kw_only=True)
class Expired(OfQueue):
    """``count`` items were too late to be delivered. They are in the list with the key ``kept_in``."""

    count: int
    kept_in: str


@attrs.frozen(kw_only=True)
class Missed(OfQueue):
    """``count`` occurrences of the recurring offer ``id`` were not offered at their times, as nobody moved the queue.

    ``first`` and ``last`` are due times, and ``late_by`` is how long ago the first one was. ``policy`` is the
    ``missed=`` of the offer. ``offered`` is how many of them are offered now, with ``"all"``. With ``"one"`` the
    occurrence before ``first`` is delivered for all of them.
    """

    id: str
    count: int
    offered: int
    policy: str
    first: datetime
    last: datetime
    late_by: timedelta


# -- values ----------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class ValuesTaken(OfQueue):
    """A call or a listener has taken ``count`` values. They are no longer in Redis.

    A value that ``receive`` returns is reported by :class:`LeaseBegan`. Where ``poll_from_any`` has found a value of
    another queue, ``queue`` is the key of that queue's list. ``values`` are their texts for the log, where
    ``log_values=`` asks for them and their line is wanted.
    """

    count: int
    values: tuple[str, ...] = attrs.field(default=(), repr=False)


@attrs.frozen(kw_only=True)
class Undecodable(OfQueue):
    """``count`` values that were taken or leased cannot be read by the codec. ``error`` has their bytes.

    They are put into a list of their own then. A value that stays in its queue, as with ``peek``, is not reported.
    """

    count: int
    error: DecodeError


@attrs.frozen(kw_only=True)
class Skipped(OfQueue):
    """A call has left out ``count`` values that it could not read, as ``undecodable="skip"`` asks for.

    ``error.kept_in`` is the key that has their bytes.
    """

    count: int
    error: DecodeError


@attrs.frozen(kw_only=True)
class TookLong(OfQueue):
    """A call that Redis carries out in one go took long: ``duration``, with all that was sent along with it.

    ``call`` is the name of the call, or of two that send the same command. A queue's call is reported once in a
    process.
    """

    call: str
    duration: timedelta


# -- leases ----------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class OfLease(OfQueue):
    """A happening of one lease. ``id`` is that of the delivery, ``offer_id`` the ``id=`` of the offer or None."""

    id: str
    offer_id: str | None
    attempt: int

    @property
    def display_name(self) -> str:
        """The delivery's id, and that of the offer, for log lines."""
        return self.id if self.offer_id is None else f"{self.id} (offered as {self.offer_id!r})"


@attrs.frozen(kw_only=True)
class Buried(OfQueue):
    """``count`` values were delivered ``limit`` times, and never acked. They are in the list with the key ``kept_in``.

    A call that receives finds them. A worker counts deliveries by itself, and reports them one by one.
    """

    count: int
    limit: int
    kept_in: str


@attrs.frozen(kw_only=True)
class AckedTooLate(OfLease):
    """The block of a delivery has ended, and its ack came after the end of the lease. The value may come again."""


@attrs.frozen(kw_only=True)
class LeaseBegan(OfLease):
    """A value was received.

    ``lateness`` is how long after its due time, where that is known. ``context`` is the ``context=`` of the
    offer, else empty. ``values`` is as in :class:`ValuesTaken`.
    """

    lateness: timedelta | None
    context: Mapping[str, str] = attrs.field(repr=False)
    values: tuple[str, ...] = attrs.field(default=(), repr=False)


@attrs.frozen(kw_only=True)
class Settled(OfLease):
    """A call has ended the lease. ``held`` is how long the receiver had it."""

    outcome: SettleOutcome
    held: timedelta


@attrs.frozen(kw_only=True)
class LeaseLost(OfLease):
    """The receiver has lost the lease: a call or a renewal has found that out, or the renewal has failed for too long.

    A lease is reported once. When Redis takes an ack in spite of a failed renewal, :class:`Settled` still follows. A
    lease that ends by its deadline is not reported until it is used again.
    """
