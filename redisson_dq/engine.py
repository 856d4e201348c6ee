"""When to transfer: the decisions of one queue's transfer task, without any I/O.

Theory of operation. A queue's due items are moved by a script. Somebody has to run it when the next item falls
due, and nobody may ask in between. The driver feeds what happened into an :class:`Engine` and carries out the
actions it gives back; it owns the connection, the subscription and the timer, and the engine owns nothing
but a few fields.

* The subscription was confirmed: what was announced before is unknown, so transfer.
* A message announced a new head: arm the timer for it, unless it is armed for something earlier.
* The timer fired: transfer.
* The transfer answered: it tells the server's time and the next due time, so arm the timer for that, or transfer
  again at once when more is due, or rest when nothing waits.
* The transfer failed: try again after a pause that grows.

Among several processes one is the mover of a queue; the transfer's answer says who. The others are its reserve: they
wait a little longer than the due time, and the mover, which publishes the next due time after each transfer, is
always first as long as it lives. So an announcement that is later than what a reserve is armed for means that the
item was moved; the timer is left as it is, since it is cheaper to look once when it fires than to arm it anew for every
message. Now and then such a timer leads to a transfer all the same, which tells how the clocks have drifted.

Time comes in as an argument, in microseconds of any clock that never steps (``now_us``). Due times are
epoch milliseconds **of the server's clock**; the engine learns how the two relate from each transfer's answer,
so the wall clock of this machine plays no part.

An event is first named by what it means now (an announcement may be due, sooner than the timer, or later), then
looked up in :data:`TRANSITIONS`, which is the whole behaviour.
"""

from __future__ import annotations

import enum
from typing import Final

import attrs

__all__ = ["RESERVE_US", "TRANSITIONS", "Action", "Do", "Engine", "Event", "Role", "State"]


class State(enum.Enum):
    """What the transfer task of one queue is doing."""

    DETACHED = "waits for its subscription"
    MOVING = "a transfer is under way"
    MOVING_AGAIN = "a transfer is under way, another one follows"
    ARMED = "the timer is armed for the next due time"
    RESTING = "nothing waits in Redis"
    PAUSING = "a transfer failed, the timer is armed for the next try"
    CLOSED = "the last handle is gone"


class Event(enum.Enum):
    """What happened, as the engine reads it."""

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
    """Who moves a queue's due items, as a transfer's answer tells it."""

    ALONE = "alone"
    """No other client listens."""
    MOVER = "mover"
    """Others listen, and step in if this one does not move."""
    RESERVE = "reserve"
    """Another process moves."""


class Do(enum.Enum):
    """What the driver has to do."""

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


def _stay(state: State) -> _Row:
    return state, ()


#: (state, event) -> (next state, what to do). What is not listed cannot happen.
TRANSITIONS: Final[dict[tuple[State, Event], _Row]] = {
    # Nothing is known before the first transfer. Where Redis refuses subscriptions, the probe's look leads to it.
    (State.DETACHED, Event.SUBSCRIBED): _MOVE,
    (State.DETACHED, Event.DUE): _MOVE,
    (State.DETACHED, Event.CLOSE): _CLOSE,
    # While a transfer is under way, announcements are noted and weighed against its answer.
    (State.MOVING, Event.SUBSCRIBED): _stay(State.MOVING_AGAIN),
    (State.MOVING, Event.FIRED): _stay(State.MOVING),
    (State.MOVING, Event.MORE): _MOVE,
    (State.MOVING, Event.NEXT): _ARM,
    (State.MOVING, Event.EMPTY): (State.RESTING, (Do.DISARM,)),
    (State.MOVING, Event.FAILED): (State.PAUSING, (Do.ARM,)),
    (State.MOVING, Event.CLOSE): _CLOSE,
    # A subscription confirmed meanwhile: the answer may be older than it, so it does not count.
    (State.MOVING_AGAIN, Event.SUBSCRIBED): _stay(State.MOVING_AGAIN),
    (State.MOVING_AGAIN, Event.FIRED): _stay(State.MOVING_AGAIN),
    (State.MOVING_AGAIN, Event.MORE): _MOVE,
    (State.MOVING_AGAIN, Event.NEXT): _MOVE,
    (State.MOVING_AGAIN, Event.EMPTY): _MOVE,
    (State.MOVING_AGAIN, Event.FAILED): (State.PAUSING, (Do.ARM,)),
    (State.MOVING_AGAIN, Event.CLOSE): _CLOSE,
    # A later announcement does not move the timer back: at worst it fires once for nothing.
    (State.ARMED, Event.SUBSCRIBED): _MOVE,
    (State.ARMED, Event.DUE): _MOVE,
    (State.ARMED, Event.SOONER): _ARM,
    (State.ARMED, Event.LATER): _stay(State.ARMED),
    (State.ARMED, Event.FIRED): _MOVE,
    (State.ARMED, Event.SPARED): _ARM,
    (State.ARMED, Event.CLOSE): _CLOSE,
    (State.RESTING, Event.SUBSCRIBED): _MOVE,
    (State.RESTING, Event.DUE): _MOVE,
    (State.RESTING, Event.SOONER): _ARM,
    (State.RESTING, Event.FIRED): _stay(State.RESTING),
    (State.RESTING, Event.CLOSE): _CLOSE,
    # Announcements do not cut a pause short, or a failing transfer would be repeated at the rate of offers.
    (State.PAUSING, Event.SUBSCRIBED): _MOVE,
    (State.PAUSING, Event.DUE): _stay(State.PAUSING),
    (State.PAUSING, Event.SOONER): _stay(State.PAUSING),
    (State.PAUSING, Event.LATER): _stay(State.PAUSING),
    (State.PAUSING, Event.FIRED): _MOVE,
    (State.PAUSING, Event.CLOSE): _CLOSE,
    # Signals sent before the close may still arrive after it.
    **{(State.CLOSED, event): _stay(State.CLOSED) for event in Event},
}

_FIRST_PAUSE_US: Final = 100_000
_LONGEST_PAUSE_US: Final = 5_000_000

# Two clocks drift apart by up to 0.05 % even when both are disciplined. A long wait therefore ends a little
# before its time, and the transfer that finds nothing due tells the rest of it by the server's clock.
_LONG_WAIT_US: Final = 10_000_000
_DRIFT_SHARE: Final = 1024
_LONGEST_WAIT_US: Final = 86_400_000_000
# For so long after a transfer its answer tells well enough how the clocks relate: they drift by 15 ms meanwhile. What
# a reserve learns costs as many calls as there are processes, and is needed when the mover dies.
_FRESH_US: Final = 30_000_000
_FRESH_IN_RESERVE_US: Final = 600_000_000

#: How long after the due time a reserve steps in; one that is given another figure steps in before or after others.
RESERVE_US: Final = 30_000
# Where a round trip takes long, the mover's message does as well.
_LONGEST_ROUND_TRIP_US: Final = 100_000


class Engine:
    """Decides for one queue. Not thread-safe: its driver calls it from one place.

    ``reserve_us`` is how long it waits beyond a due time while another process is the mover.
    """

    def __init__(self, reserve_us: int = RESERVE_US) -> None:
        self.state = State.DETACHED
        self.role = Role.ALONE
        #: Whether it ever was the mover among others.
        self.led = False
        self._reserve_us = reserve_us
        self._patience_us = 0
        self._noted_ms: int | None = None
        self._armed_us: int | None = None
        # When a reserve's timer should fire, should it fire before that.
        self._spared_us: int | None = None
        self._ahead_us: int | None = None
        # When that was learned.
        self._learned_us = 0
        self._failures = 0

    def subscribed(self) -> tuple[Action, ...]:
        """The server confirmed the subscription of the queue's channel (again, after a reconnect)."""
        return self._step(Event.SUBSCRIBED)

    def announced(self, due_ms: int, now_us: int) -> tuple[Action, ...]:
        """A due time became known: a message came, or the liveness probe read the head."""
        if self.state in (State.MOVING, State.MOVING_AGAIN):
            self._noted_ms = due_ms if self._noted_ms is None else min(self._noted_ms, due_ms)
            return ()
        if self._ahead_us is None:
            return self._step(Event.DUE)
        self._spared_us = None
        wait_us = self._until(due_ms, now_us)
        if wait_us <= 0:
            return self._step(Event.DUE)
        if self._armed_us is not None and now_us + wait_us >= self._armed_us:
            if self.role is Role.RESERVE:
                self._spared_us = now_us + wait_us
            return self._step(Event.LATER)
        if self.role is Role.RESERVE or now_us - self._learned_us < _FRESH_US:
            return self._step(Event.SOONER, now_us, wait_us)
        # What was learned long ago is no measure of a wait; a transfer measures it anew.
        return self._step(Event.DUE)

    def transferred(
        self, next_ms: int | None, role: Role, server_now_us: int, sent_us: int, now_us: int
    ) -> tuple[Action, ...]:
        """The transfer sent at ``sent_us`` answered at ``now_us``.

        ``next_ms`` is the next due time, or None when nothing waits; ``server_now_us`` the server's epoch time
        when it ran, taken to be half way between the two.
        """
        self._failures = 0
        self.role = role
        self.led = self.led or role is Role.MOVER
        self._spared_us = None
        self._patience_us = 0
        if role is Role.RESERVE:
            self._patience_us = self._reserve_us + min(now_us - sent_us, _LONGEST_ROUND_TRIP_US)
        self._ahead_us = server_now_us - (sent_us + now_us) // 2
        self._learned_us = now_us
        known = [due for due in (next_ms, self._noted_ms) if due is not None]
        self._noted_ms = None
        if not known:
            return self._step(Event.EMPTY)
        wait_us = self._until(min(known), now_us)
        if wait_us <= 0:
            return self._step(Event.MORE)
        return self._step(Event.NEXT, now_us, wait_us)

    def failed(self, now_us: int) -> tuple[Action, ...]:
        """The transfer failed. The pause before the next one doubles up to 5 s."""
        pause_us = min(_LONGEST_PAUSE_US, _FIRST_PAUSE_US << min(self._failures, 16))
        self._failures += 1
        self._noted_ms = None
        return self._step(Event.FAILED, now_us, pause_us)

    def fired(self, now_us: int) -> tuple[Action, ...]:
        """The timer fired."""
        spared_us, self._spared_us = self._spared_us, None
        is_fresh = now_us - self._learned_us < _FRESH_IN_RESERVE_US
        if self.state is State.ARMED and spared_us is not None and spared_us > now_us and is_fresh:
            return self._step(Event.SPARED, now_us, spared_us - now_us)
        return self._step(Event.FIRED)

    def close(self) -> tuple[Action, ...]:
        """The last handle is gone. Everything that still arrives is ignored."""
        return self._step(Event.CLOSE)

    def _until(self, due_ms: int, now_us: int) -> int:
        assert self._ahead_us is not None
        until_us = due_ms * 1000 - self._ahead_us - now_us
        return max(0, until_us) + self._patience_us if self.role is Role.RESERVE else until_us

    def _step(self, event: Event, now_us: int = 0, wait_us: int = 0) -> tuple[Action, ...]:
        self.state, to_do = TRANSITIONS[self.state, event]
        long_us = _FRESH_IN_RESERVE_US if self.role is Role.RESERVE else _LONG_WAIT_US
        if self.state is State.ARMED and wait_us > long_us:
            wait_us = min(wait_us - wait_us // _DRIFT_SHARE, _LONGEST_WAIT_US)
        if Do.ARM in to_do:
            self._armed_us = now_us + wait_us
        elif self.state is not State.ARMED:
            self._armed_us = None
        return tuple(Action(do, wait_us) if do is Do.ARM else Action(do) for do in to_do)
