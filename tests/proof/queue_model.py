"""A whole queue of the model: some items, the order of those that are ready, and every call that a client may make.

:func:`calls` gives for a state each call with the answer that it has to have and the state that it has to lead to. The
items move as ``model.py`` says. What is added here is the order, and how often an item was delivered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.proof.model import ABSENT, Item, Place, Step, after, rested

__all__ = ["LIMIT", "MOST_RECEIPTS", "TICK_US", "Call", "State", "beginning", "calls", "now_of"]

#: A tick of the clock, and the length of each visibility timeout and delay.
TICK_US = 1_000_000
#: A value becomes a dead letter after this many deliveries.
LIMIT = 2
#: The most receives of an item, because a redriven dead letter begins again.
MOST_RECEIPTS = 3
_START_US = 1_700_000_000_000_000
_HELD = (Place.LEASED, Place.VOID)


class State(NamedTuple):
    """A queue. Its items are known by their numbers; those with an even one have a name."""

    items: tuple[Item, ...]
    #: In their order. One that was cancelled while it was leased stands here until somebody receives.
    ready: tuple[int, ...]
    attempts: tuple[int, ...]
    #: Of each item the receipts that were ever given.
    receipts: tuple[tuple[str, ...], ...]
    tick: int = 0
    redriven: bool = False
    #: Dead letters, the oldest one first.
    dead: tuple[int, ...] = ()

    def put(self, number: int, item: Item, **more: Any) -> State:
        dead = self.dead
        if (item.place is Place.DEAD) != (number in dead):
            others = tuple(each for each in dead if each != number)
            dead = (*others, number) if item.place is Place.DEAD else others
        return self._replace(items=(*self.items[:number], item, *self.items[number + 1 :]), dead=dead, **more)

    def counted(self, number: int, attempts: int) -> tuple[int, ...]:
        return (*self.attempts[:number], attempts, *self.attempts[number + 1 :])


class Call(NamedTuple):
    """One call of a client: what it is, of which item, with which receipt, its answer, and what it leads to."""

    f: str
    number: int
    receipt: str
    answer: Any
    state: State


def beginning(items: int) -> State:
    return State((ABSENT,) * items, (), (0,) * items, ((),) * items)


def now_of(state: State) -> int:
    """The server's time, epoch us."""
    return _START_US + TICK_US * state.tick


def calls(state: State) -> Iterator[Call]:
    """Every call that a client may make now, including those with an ended receipt, and repeated ones."""
    now = now_of(state)
    yield from _offers(state, now)
    yield Call("move", 0, "", None, _after_move(state, now))
    if state.ready and state.items[state.ready[0]].place is Place.READY:
        number = state.ready[0]
        _, item = _decided(state.items[number], "take", ("taken",), now)
        yield Call("take", number, "", None, state.put(number, item, ready=state.ready[1:]))
    yield from _receives(state, now)
    for number, receipts in enumerate(state.receipts):
        for receipt in receipts:
            for f in ("ack", "nack", "reject", "extend"):
                yield _ending(state, f, number, receipt, now)
        if number % 2 == 0 and state.items[number].place is not Place.ABSENT:
            yield from _by_id(state, number, now)
    if state.dead and not state.redriven:
        made = state._replace(ready=(*state.ready, *state.dead), redriven=True)
        for number in state.dead:
            _, item = _decided(state.items[number], "redrive", ("redriven",), now)
            made = made.put(number, item, attempts=made.counted(number, 0))
        yield Call("redrive", 0, "", len(state.dead), made)


def _decided(
    item: Item, f: str, outcomes: tuple[str, ...], now: int, *, lease: str = "", until: int = 0, named: bool = False
) -> tuple[str, Item]:
    """The first of these outcomes that the model allows, and the item after it."""
    for outcome in outcomes:
        for made, _ in after(item, Step(f, outcome, lease, until, named=named), now, now):
            return outcome, made
    raise AssertionError(f"the model knows no outcome of {f} for {item}")


def _offers(state: State, now: int) -> Iterator[Call]:
    for number, item in enumerate(state.items):
        named = number % 2 == 0
        if item.place is Place.ABSENT:
            until = _ms_up(now + number + TICK_US * (number % 2))
            _, made = _decided(item, "offer", ("offered",), now, until=until, named=named)
            yield Call("offer", number, "", "offered", state.put(number, made))
            # Items are alike: the next one is offered after this one.
            return
        if named and item.place is not Place.VOID and item.how != "cancelled":
            yield Call("offer", number, "", "kept", state)


def _after_move(state: State, now: int) -> State:
    timed = (Place.WAITING, *_HELD)
    due = [n for n, item in enumerate(state.items) if item.place in timed and item.until <= now]
    due.sort(key=lambda number: state.items[number].until)
    for number in due:
        state = state.put(number, _over(state.items[number], now))
    return state._replace(ready=(*state.ready, *due))


def _over(item: Item, now: int) -> Item:
    """The item as somebody has moved it whose time has come."""
    return list(rested(item, now, now))[-1][0]


def _receives(state: State, now: int) -> Iterator[Call]:
    for number, item in enumerate(state.items):
        if item.place is Place.LEASED and item.until > now:
            # The reply was lost, and the call is sent again.
            yield Call("receive", number, item.lease, (0, [item.lease]), state)
    left, made, buried = list(state.ready), state, 0
    while left:
        number = left.pop(0)
        item = made.items[number]
        if item.place is not Place.READY:
            continue
        if made.attempts[number] >= LIMIT:
            made = made.put(number, _decided(item, "receive", ("dead",), now)[1])
            buried += 1
            continue
        attempt = made.attempts[number] + 1
        count = len(state.receipts[number])
        if count < MOST_RECEIPTS:
            # The clients' names for their calls, then the number of the lease in them. They receive in turns.
            receipt = f"{'ab'[count % 2]}-{number}-{count}---".encode()[:8].hex() + "0000"
            _, leased = _decided(item, "receive", ("leased",), now, lease=receipt, until=_ms_up(now + TICK_US))
            given = tuple((*each, receipt) if n == number else each for n, each in enumerate(made.receipts))
            leased_by = made.put(
                number, leased, ready=tuple(left), attempts=made.counted(number, attempt), receipts=given
            )
            yield Call("receive", number, receipt, (buried, [receipt]), leased_by)
        return
    yield Call("receive", 0, b"nobody--".hex() + "0000", (buried, []), made._replace(ready=()))


def _ending(state: State, f: str, number: int, receipt: str, now: int) -> Call:
    item = state.items[number]
    outcomes = {
        "ack": ("acked", "lost"),
        "nack": (*(("dead",) if state.attempts[number] >= LIMIT else ("returned", "delayed")), "cancelled", "lost"),
        "reject": ("dead", "cancelled", "lost"),
        "extend": ("extended", "cancelled", "lost"),
    }
    until = _ms_up(now + TICK_US) if f == "extend" else 0
    outcome, made = _decided(item, f, outcomes[f], now, lease=receipt, until=until)
    ready = (*state.ready, number) if outcome == "returned" else state.ready
    return Call(f, number, receipt, outcome, state.put(number, made, ready=ready))


def _by_id(state: State, number: int, now: int) -> Iterator[Call]:
    item = state.items[number]
    if item.place is Place.LEASED and item.until <= now:
        # Its lease is over, though nobody has moved it.
        item = _over(item, now)
    left = tuple(n for n in state.ready if n != number)
    ready = left if item.place is Place.READY else state.ready
    outcome, made = _decided(item, "cancel", ("cancelled", "delivered", "unknown"), now)
    yield Call("cancel", number, "", outcome, state.put(number, made, ready=ready))
    until = _ms_up(now + number + TICK_US)
    outcome, made = _decided(item, "reschedule", ("rescheduled", "delivered", "unknown"), now, until=until)
    attempts = state.counted(number, 0) if item.place is Place.DEAD else state.attempts
    yield Call("reschedule", number, "", outcome, state.put(number, made, ready=ready, attempts=attempts))


def _ms_up(us: int) -> int:
    """Rounded up to whole ms, as due times and deadlines are."""
    return -(-us // 1000) * 1000
