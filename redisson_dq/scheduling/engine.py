"""When to transfer: the decisions of one queue's transfer task, without any I/O.

Theory of operation. A script moves a queue's due items. Some client has to run it when the next item falls due. No
client may poll in between. The transfer driver feeds triggers into an :class:`Engine` and carries out the actions that
it returns. The driver owns the connection, the subscription and the timer. The engine owns nothing but a few fields.

* The subscription was confirmed. Earlier announcements are unknown, so transfer.
* A message announced a new head. Arm the timer for it, unless it is armed for something earlier.
* The timer fired. Transfer.
* The transfer answered with the server's time and the next due time. Arm the timer for that. When more is due, transfer
  again at once. When nothing waits, rest.
* The transfer failed. Try again after a pause that grows.

Among several processes one is the mover of a queue. The transfer's answer says who. The others are its reserve, and
wait a little longer than the due time. The mover publishes the next due time after each transfer. As long as it lives
it comes first. So an announcement that is later than a reserve's timer says that the item was moved. The reserve leaves
its timer as it is: one look when it fires is cheaper than arming it again for every message. Now and then such a timer
leads to a transfer all the same, which says how the clocks have drifted.

Time comes in as an argument, in microseconds of any clock that never steps (``now_us``). Due times are epoch
milliseconds **of the server's clock**. Each transfer's answer says how the two clocks relate
(:mod:`redisson_dq.scheduling.server_clock`). The wall clock of this machine plays no part. A wait ends when a transfer
has to be sent, so that its script runs at the due time. A script that runs too early moves nothing, and costs one more
call. The server's clock may be set while a timer runs. So the probe asks for it (:meth:`Engine.measured`), and the head
that it reads arms the timer again.

A trigger is first classified by its meaning at that moment. An announcement may be due, sooner than the timer, or
later. Then it is looked up in :data:`TRANSITIONS`, which is the whole behaviour.
"""

from __future__ import annotations

import enum
from typing import Final

import attrs

from redisson_dq.scheduling.server_clock import ServerClock
from redisson_dq.scheduling.tables import TableEnum, stays

__all__ = ["RESERVE_US", "TRANSITIONS", "Action", "Do", "Engine", "Trigger", "Role", "State"]


class State(TableEnum):
    """The state of one queue's transfer task."""

    DETACHED = "waits for its subscription"
    MOVING = "a transfer is under way"
    MOVING_AGAIN = "a transfer is under way, another one follows"
    ARMED = "the timer is armed for the next due time"
    RESTING = "nothing waits in Redis"
    PAUSING = "a transfer failed, the timer is armed for the next try"
    CLOSED = "the last handle is gone"


class Trigger(TableEnum):
    """An event, as the engine reads it."""

    SUBSCRIBED = "subscribed"
    DUE = "announced: due"
    SOONER = "announced: before the timer"
    LATER = "announced: not before the timer"
    MORE = "transferred: more is due"
    NEXT = "transferred: next one known"
    EMPTY = "transferred: nothing waits"
    FAILED = "transfer failed"
    FIRED = "timer fired"
    SPARED = "timer fired: moved by the mover"
    CLOSE = "closed"


class Role(enum.Enum):
    """The part that this process has in moving a queue's due items, as a transfer's answer reports it."""

    ALONE = "alone"
    """No other client listens."""
    MOVER = "mover"
    """Others listen, and step in if this one does not move."""
    RESERVE = "reserve"
    """Another process moves."""


class Do(TableEnum):
    """An order to the transfer driver."""

    TRANSFER = "transfer"
    ARM = "arm"
    DISARM = "disarm"


@attrs.frozen
class Action:
    """One thing to do. ``delay_us`` belongs to ``ARM``: fire that many microseconds from now."""

    do: Do
    delay_us: int = 0


_Row = tuple[State, tuple[Do, ...]]

_MOVE: Final[_Row] = (State.MOVING, (Do.TRANSFER,))
_ARM: Final[_Row] = (State.ARMED, (Do.ARM,))
_CLOSE: Final[_Row] = (State.CLOSED, (Do.DISARM,))


#: (state, trigger) -> (next state, action). A pair that is not listed cannot occur.
TRANSITIONS: Final[dict[tuple[State, Trigger], _Row]] = {
    # Nothing is known before the first transfer. Where Redis refuses subscriptions, the probe's look leads to it.
    (State.DETACHED, Trigger.SUBSCRIBED): _MOVE,
    (State.DETACHED, Trigger.DUE): _MOVE,
    (State.DETACHED, Trigger.CLOSE): _CLOSE,
    # While a transfer is under way, announcements are noted and weighed against its answer.
    (State.MOVING, Trigger.SUBSCRIBED): (State.MOVING_AGAIN, ()),
    **stays(State.MOVING, Trigger.FIRED),
    (State.MOVING, Trigger.MORE): _MOVE,
    (State.MOVING, Trigger.NEXT): _ARM,
    (State.MOVING, Trigger.EMPTY): (State.RESTING, (Do.DISARM,)),
    (State.MOVING, Trigger.FAILED): (State.PAUSING, (Do.ARM,)),
    (State.MOVING, Trigger.CLOSE): _CLOSE,
    # A subscription confirmed meanwhile: the answer may be older than it, so it does not count.
    **stays(State.MOVING_AGAIN, Trigger.SUBSCRIBED, Trigger.FIRED),
    (State.MOVING_AGAIN, Trigger.MORE): _MOVE,
    (State.MOVING_AGAIN, Trigger.NEXT): _MOVE,
    (State.MOVING_AGAIN, Trigger.EMPTY): _MOVE,
    (State.MOVING_AGAIN, Trigger.FAILED): (State.PAUSING, (Do.ARM,)),
    (State.MOVING_AGAIN, Trigger.CLOSE): _CLOSE,
    # A later announcement does not move the timer back: at worst it fires once for nothing.
    (State.ARMED, Trigger.SUBSCRIBED): _MOVE,
    (State.ARMED, Trigger.DUE): _MOVE,
    (State.ARMED, Trigger.SOONER): _ARM,
    **stays(State.ARMED, Trigger.LATER),
    (State.ARMED, Trigger.FIRED): _MOVE,
    (State.ARMED, Trigger.SPARED): _ARM,
    (State.ARMED, Trigger.CLOSE): _CLOSE,
    (State.RESTING, Trigger.SUBSCRIBED): _MOVE,
    (State.RESTING, Trigger.DUE): _MOVE,
    (State.RESTING, Trigger.SOONER): _ARM,
    **stays(State.RESTING, Trigger.FIRED),
    (State.RESTING, Trigger.CLOSE): _CLOSE,
    # Announcements do not cut a pause short, or a failing transfer would be repeated at the rate of offers.
    (State.PAUSING, Trigger.SUBSCRIBED): _MOVE,
    **stays(State.PAUSING, Trigger.DUE, Trigger.SOONER, Trigger.LATER),
    (State.PAUSING, Trigger.FIRED): _MOVE,
    (State.PAUSING, Trigger.CLOSE): _CLOSE,
    # Signals sent before the close may still arrive after it.
    **stays(State.CLOSED, *Trigger),
}

_FIRST_PAUSE_US: Final = 100_000
_LONGEST_PAUSE_US: Final = 5_000_000

# Two clocks drift apart by up to 0.05 % even when both are disciplined. A long wait therefore ends a little before its
# time. The transfer then finds nothing due, and reports the remaining time by the server's clock.
_LONG_WAIT_US: Final = 10_000_000
_DRIFT_SHARE: Final = 1024
_LONGEST_WAIT_US: Final = 86_400_000_000
# How long the difference of the clocks in a transfer's answer is exact enough. They drift by 15 ms in this time. In
# reserve the time is longer: each process pays one call for the answer, and needs it only when the mover dies.
_FRESH_US: Final = 30_000_000
_FRESH_IN_RESERVE_US: Final = 600_000_000

# Because of drift, a due time may seem to come sooner than it did when the timer was armed. Beyond this difference a
# clock was set.
_NOT_SET_US: Final = 20_000

#: How long after the due time a reserve steps in. The figure differs between processes, so that one steps in first.
RESERVE_US: Final = 30_000
# Where a round trip takes long, the mover's message takes long as well.
_LONGEST_ROUND_TRIP_US: Final = 100_000


class Engine:
    """Decides for one queue. Not thread-safe: its driver calls it from one place.

    ``reserve_us`` is how long it waits beyond a due time while another process is the mover. ``clock`` estimates
    the server's clock; queues of one server may share it.
    """

    def __init__(self, reserve_us: int = RESERVE_US, clock: ServerClock | None = None) -> None:
        self.state = State.DETACHED
        self.role = Role.ALONE
        #: Whether it ever was the mover among others.
        self.led = False
        #: Whether the last transfer ran before the due time that it was sent for.
        self.was_early = False
        #: How long after that due time it ran, in us. None: it was sent for no due time.
        self.late_us: int | None = None
        self._clock = clock or ServerClock()
        self._reserve_us = reserve_us
        self._patience_us = 0
        self._noted_ms: int | None = None
        self._armed_us: int | None = None
        # The first due time that it knows of, while the timer is armed.
        self._known_ms: int | None = None
        # The due time that the timer is armed for, unless it fires on the way there.
        self._aimed_ms: int | None = None
        # The due time that the transfer under way was sent for.
        self._sent_for_ms: int | None = None
        # When a reserve's timer should fire, if it fires before that time.
        self._spared_us: int | None = None
        self._failures = 0

    def subscribed(self) -> tuple[Action, ...]:
        """The server confirmed the subscription of the queue's channel (again, after a reconnect)."""
        return self._step(Trigger.SUBSCRIBED)

    def announced(self, due_ms: int, now_us: int) -> tuple[Action, ...]:
        """A due time became known: a message came, or the liveness probe read the head."""
        if self.state in (State.MOVING, State.MOVING_AGAIN):
            self._noted_ms = due_ms if self._noted_ms is None else min(self._noted_ms, due_ms)
            return ()
        if self.state is State.DETACHED or self._clock.ahead_us is None:
            return self._step(Trigger.DUE)
        self._spared_us = None
        wait_us = self._until(due_ms, now_us)
        if wait_us <= 0:
            self._sent_for_ms = due_ms
            return self._step(Trigger.DUE)
        drift_us = 0 if self._aimed_ms is None or due_ms < self._aimed_ms else _NOT_SET_US
        if self._armed_us is not None and now_us + wait_us >= self._armed_us - drift_us:
            if self.role is Role.RESERVE:
                self._spared_us, self._known_ms = now_us + wait_us, due_ms
            return self._step(Trigger.LATER)
        if self.role is Role.RESERVE or now_us - self._clock.learned_us < _FRESH_US:
            return self._step(Trigger.SOONER, now_us, wait_us, due_ms)
        # An old answer says too little about the clock now. A transfer measures it again.
        return self._step(Trigger.DUE)

    def knows(self, due_ms: int) -> bool:
        """Whether the timer fires by this due time anyway. May be called from any thread."""
        known_ms = self._known_ms
        return known_ms is not None and known_ms <= due_ms

    def measured(self, server_now_us: int, sent_us: int, now_us: int) -> None:
        """The server's time was asked for at ``sent_us`` and came at ``now_us``. Its clock may have been set."""
        self._clock.learn(server_now_us, sent_us, now_us)

    def transferred(
        self, next_ms: int | None, role: Role, server_now_us: int, sent_us: int, now_us: int
    ) -> tuple[Action, ...]:
        """The transfer sent at ``sent_us`` answered at ``now_us``.

        ``next_ms`` is the next due time, or None when nothing waits. ``server_now_us`` is the server's epoch time when
        the script ran.
        """
        self._failures = 0
        self.role = role
        self.led = self.led or role is Role.MOVER
        self._spared_us = None
        self._patience_us = 0
        if role is Role.RESERVE:
            self._patience_us = self._reserve_us + min(now_us - sent_us, _LONGEST_ROUND_TRIP_US)
        self._clock.learn(server_now_us, sent_us, now_us)
        sent_for_ms, self._sent_for_ms = self._sent_for_ms, None
        self.late_us = None if sent_for_ms is None else server_now_us - sent_for_ms * 1000
        self.was_early = sent_for_ms is not None and sent_for_ms == next_ms and server_now_us < sent_for_ms * 1000
        known = [due for due in (next_ms, self._noted_ms) if due is not None]
        self._noted_ms = None
        if not known:
            return self._step(Trigger.EMPTY)
        due_ms = min(known)
        wait_us = self._until(due_ms, now_us)
        if self.was_early:
            # The script ran before its answer was read. After this wait the next script cannot be early again.
            wait_us = max(wait_us, due_ms * 1000 - server_now_us)
        if wait_us <= 0:
            self._sent_for_ms = due_ms
            return self._step(Trigger.MORE)
        return self._step(Trigger.NEXT, now_us, wait_us, due_ms)

    def failed(self, now_us: int) -> tuple[Action, ...]:
        """The transfer failed. The pause before the next one doubles up to 5 s."""
        pause_us = min(_LONGEST_PAUSE_US, _FIRST_PAUSE_US << min(self._failures, 16))
        self._failures += 1
        self._noted_ms = self._sent_for_ms = None
        return self._step(Trigger.FAILED, now_us, pause_us)

    def fired(self, now_us: int) -> tuple[Action, ...]:
        """The timer fired."""
        spared_us, self._spared_us = self._spared_us, None
        is_fresh = now_us - self._clock.learned_us < _FRESH_IN_RESERVE_US
        if self.state is State.ARMED and spared_us is not None and spared_us > now_us and is_fresh:
            return self._step(Trigger.SPARED, now_us, spared_us - now_us)
        if self.state is State.ARMED:
            self._sent_for_ms = self._aimed_ms
        return self._step(Trigger.FIRED)

    def close(self) -> tuple[Action, ...]:
        """The last handle is gone. Everything that still arrives is ignored."""
        return self._step(Trigger.CLOSE)

    def _until(self, due_ms: int, now_us: int) -> int:
        """How long to wait before a transfer is sent."""
        assert self._clock.ahead_us is not None
        until_us = due_ms * 1000 - self._clock.ahead_us - now_us
        return max(0, until_us) + self._patience_us if self.role is Role.RESERVE else until_us

    def _step(
        self, trigger: Trigger, now_us: int = 0, wait_us: int = 0, due_ms: int | None = None
    ) -> tuple[Action, ...]:
        self.state, to_do = TRANSITIONS[self.state, trigger]
        if self.state is not State.ARMED:
            self._known_ms = None
        elif due_ms is not None:
            self._known_ms = due_ms
        long_us = _FRESH_IN_RESERVE_US if self.role is Role.RESERVE else _LONG_WAIT_US
        if self.state is State.ARMED and wait_us > long_us and self._clock.drifts:
            wait_us, due_ms = min(wait_us - wait_us // _DRIFT_SHARE, _LONGEST_WAIT_US), None
        if Do.ARM in to_do:
            self._armed_us, self._aimed_ms = now_us + wait_us, due_ms
        elif self.state is not State.ARMED:
            self._armed_us = self._aimed_ms = None
        return tuple(Action(do, wait_us) if do is Do.ARM else Action(do) for do in to_do)
