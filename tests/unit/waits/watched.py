"""A source at a lookout, its callers and its Redis as a few fields, to walk the watch table with.

:class:`World` carries out the engine's actions as ``_async/receiving/shared_pump.py`` and ``lookout.py`` do. Redis
answers in every way that it can, the connections are cut at every place, and callers come and leave between any two
steps. After each event :meth:`World.check` looks whether the promises of the table hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import attrs

from redisson_dq.errors import RedisConnectionError
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.watch_engine import WatchEngine
from redisson_dq.waits.watch_table import Do, State, Trigger
from tests.unit.waits.walking import Broken, Event, copied

__all__ = ["World"]

AWAY = RedisConnectionError("Redis is away")


class Named(str):
    """A request that is its name."""

    repeatable: bool

    def __new__(cls, name: str, repeatable: bool) -> Named:
        made = super().__new__(cls, name)
        made.repeatable = repeatable
        return made


@attrs.frozen
class Sent:
    """The commands that are under way."""

    request: str
    share: int
    watches: bool
    #: The values, and how many are left. None until Redis has carried out the commands.
    reply: tuple[tuple[int, ...], int] | None = None


class Line:
    """The line as the engine sees it, with one value for each caller."""

    def __init__(self) -> None:
        #: Whether the time of each is over.
        self.callers: dict[int, bool] = {}
        self.inbox: tuple[int, ...] = ()
        self.closed = False
        #: The numbers of those that were told of a trouble.
        self.told: tuple[int, ...] = ()

    def broke(self) -> None:
        """With one source alone, the next command is sent before anybody is told anything."""

    def answer_expired(self, trouble: Any) -> None:
        self.told += tuple(number for number, is_over in self.callers.items() if is_over)

    @property
    def count(self) -> int:
        return len(self.callers) + len(self.inbox)

    @property
    def is_empty(self) -> bool:
        return not self.callers


class World:
    """One source. Events are pairs of a name and what the name needs. ``leases``: its requests may be sent again."""

    def __init__(self, leases: bool, *, values: int = 2, callers: int = 2, mishaps: int = 1) -> None:
        self.leases = leases
        self.most_values, self.most_callers = values, callers
        self.line = Line()
        self.engine = WatchEngine(cast("Any", self.line), Debts())
        self.pushed = 0
        #: What became of each caller: "waits", its value, "left" or "nothing".
        self.callers: dict[int, Any] = {}
        # Callers that have entered the inbox, and look then whether anybody sees it.
        self.entering: tuple[int, ...] = ()
        # How many commands Redis had carried out when the time of a caller was over.
        self.over: dict[int, int] = {}
        self.surplus: tuple[int, ...] = ()
        # Values whose put-back is under way.
        self.returning: tuple[int, ...] = ()
        self.is_called = self.is_connected = self.are_others_served = self.must_tell = False
        self.sent: Sent | None = None
        #: Works of the clerk that have not been done.
        self.works: tuple[str, ...] = ()
        self.ready: tuple[int, ...] = ()
        self.is_watched = False
        self.messages = self.carried_out = self.requests = 0
        #: Leases by the request that made them.
        self.leased: dict[str, tuple[int, ...]] = {}
        self.lost: tuple[int, ...] = ()
        self.budget = dict.fromkeys(("cut", "refuse", "recover", "evict", "yield", "late"), mishaps) | {"close": 1}
        # A pump of its own takes its place. Few walks are about that.
        self.budget["replace"] = 0

    def clone(self) -> World:
        made = copied(self)
        made.line, made.engine = copied(self.line), copied(self.engine)
        made.line.callers = dict(self.line.callers)
        made.engine.line = cast("Any", made.line)
        made.engine.debts = copied(self.engine.debts)
        made.engine.debts.requests = list(self.engine.debts.requests)
        made.callers, made.over = dict(self.callers), dict(self.over)
        made.leased, made.budget = dict(self.leased), dict(self.budget)
        return made

    def key(self) -> tuple[Any, ...]:
        engine, line = self.engine, self.line
        return (
            (engine.state, engine.is_watched, engine.left, engine.trouble is None),
            tuple(map(str, engine.debts.requests)),
            (tuple(line.callers.items()), line.inbox, line.closed, tuple(self.callers.items()), self.entering),
            tuple((number, at < self.carried_out) for number, at in self.over.items()),
            (
                self.surplus,
                self.returning,
                self.is_called,
                self.is_connected,
                self.are_others_served,
                self.sent,
                self.works,
            ),
            (self.ready, self.is_watched, self.messages, tuple(sorted(self.leased.items())), self.lost),
            (self.pushed, tuple(self.budget.values())),
        )

    # -- what may happen ---------------------------------------------------------------------------------------------

    def events(self) -> Iterator[Event]:
        """All that may happen now."""
        yield from self.own_events()
        if self.pushed < self.most_values:
            yield "push", None
        if len(self.callers) < self.most_callers and not self.line.closed:
            yield "enters", None
        for number, state in self.callers.items():
            if state == "waits" and number not in self.entering:
                yield "leaves", number
                if not self.line.callers.get(number, True):
                    yield "is over", number
            elif isinstance(state, int):
                yield "leaves", number
        if self.budget["cut"] and self.is_connected:
            yield "is cut", False
            yield "is cut", True
        if self.budget["evict"] and self.is_watched:
            yield "evicts", None
        if self.budget["recover"] and self.leases:
            yield "recovers", None
        if self.budget["late"] and any(state != "waits" for state in self.callers.values()):
            yield "is over late", None
        if self.budget["close"]:
            yield "closes", None
        if self.budget["replace"]:
            yield "is replaced", None

    def own_events(self) -> Iterator[Event]:
        """What happens without anybody else."""
        for number in self.entering:
            yield "rings", number
        if self.is_called and self.sent is None:
            yield "round", False
            if self.budget["yield"]:
                yield "round", True
        if self.sent is not None:
            if self.sent.reply is None:
                yield "redis goes on", None
            else:
                yield "reads", False
                if self.budget["refuse"]:
                    yield "reads", True
        if self.messages and self.sent is None:
            yield "hears", None
        if self.are_others_served:
            yield "others are done", None
        if self.works:
            yield "works", True
            if self.works[0] in ("return", "go on returning", "diagnose") and self.budget["refuse"]:
                yield "works", False
            if self.works[0] == "diagnose":
                yield "finds nothing wrong", None
                yield "finds no right", None
                if self.budget["refuse"]:
                    yield "finds it elsewhere", None

    # -- what happens ------------------------------------------------------------------------------------------------

    def happen(self, event: Event) -> None:
        name, what = event
        getattr(self, "_" + name.replace(" ", "_"))(what)
        self.check()

    def _tell(self, trigger: Trigger) -> None:
        for do in self.engine.step(trigger):
            if do is Do.CALL:
                self.is_called = True
            elif do is Do.RETURN:
                self.works += ("return",)
            elif do is Do.DIAGNOSE:
                self.works += ("diagnose",)
            elif do is Do.PAUSE:
                self.works += ("go on",)
            elif do is Do.REPLACE:
                self.engine.is_replaced = True
            elif do is Do.ASK:
                self._ask()
            elif do is Do.FAIL:
                self.must_tell = False
                for number in list(self.line.callers):
                    self._answer(number, "refused")
        if self.engine.state is State.RESTING and self.line.inbox and not self.engine.is_replaced:
            if trigger is Trigger.WORK:
                raise Broken("somebody enters, and the lookout is not called")
            self._tell(Trigger.WORK)

    def _wake(self) -> None:
        self._tell(Trigger.OWED if self.engine.debts or self.surplus else Trigger.WORK)

    def _admit(self) -> None:
        for number in self.line.inbox:
            if self.callers[number] == "waits":
                self.line.callers[number] = number in self.over
                if self.line.closed:
                    self._answer(number, "closed")
        self.line.inbox = ()

    def _answer(self, number: int, answer: Any) -> None:
        self.line.callers.pop(number)
        self.callers[number] = answer

    def _give(self, values: tuple[int, ...]) -> tuple[int, ...]:
        while values and self.line.callers:
            self._answer(next(iter(self.line.callers)), values[0])
            values = values[1:]
        return values

    def _put_away(self, values: tuple[int, ...]) -> None:
        if values:
            self.surplus = tuple(sorted(self.surplus + values))
            self._tell(Trigger.OWED)

    # .. callers .......................................................................................................

    def _enters(self, _: None) -> None:
        number = len(self.callers)
        self.callers[number] = "waits"
        self.line.inbox += (number,)
        self.entering += (number,)

    def _rings(self, number: int) -> None:
        self.entering = tuple(each for each in self.entering if each != number)
        if not self.engine.is_attended and self.callers[number] == "waits":
            self._wake()

    def _is_over(self, number: int) -> None:
        self._admit()
        self.line.callers[number] = True
        self.over[number] = self.carried_out
        self._times_are_over()

    def _is_over_late(self, _: None) -> None:
        """The time of a caller that has its answer is over, as others are told now."""
        self.budget["late"] -= 1
        self._admit()
        self._times_are_over()

    def _times_are_over(self) -> None:
        if self.engine.trouble is not None:
            self.line.answer_expired(self.engine.trouble)
            self._tell_of_trouble()
        elif self.engine.state is State.WATCHED and not all(self.line.callers.values()):
            self._answer_expired()
        elif self.line.count:
            self._tell(Trigger.TIME_OVER)
        self._wake()

    def _suffer(self) -> None:
        self.engine.suffer(AWAY)
        self._tell_of_trouble()

    def _tell_of_trouble(self) -> None:
        for number in self.line.told:
            self._answer(number, "trouble")
        self.line.told = ()

    def _answer_expired(self) -> None:
        if self.engine.trouble is not None:
            raise Broken("a caller is told that nothing is there, and Redis is away")
        waits = not all(self.line.callers.values())
        for number, is_over in list(self.line.callers.items()):
            if is_over:
                if not waits and self.over[number] >= self.carried_out:
                    raise Broken("no command was sent after the time of a caller was over")
                self._answer(number, "nothing")

    def _leaves(self, number: int) -> None:
        self._admit()
        state, self.callers[number] = self.callers[number], "left"
        self.line.callers.pop(number, None)
        if isinstance(state, int):
            self._put_away(self._give((state,)))
        self._wake()

    def _recovers(self, _: None) -> None:
        self.budget["recover"] -= 1
        theirs = f"theirs {self.budget['recover']}"
        self.leased[theirs] = self.ready[:1]
        self._pops(1)
        self.engine.debts.owe(cast("Any", theirs))
        self._tell(Trigger.OWED)

    def _closes(self, _: None) -> None:
        self.budget["close"] -= 1
        self.line.closed = True
        self._admit()
        for number in list(self.line.callers):
            self._answer(number, "closed")
        if self.engine.debts or self.surplus:
            self._tell(Trigger.OWED)
        self._tell(Trigger.CLOSED)

    def _is_replaced(self, _: None) -> None:
        self.budget["replace"] -= 1
        self.engine.is_replaced = True

    # .. the lookout ...................................................................................................

    def _round(self, yields: bool) -> None:
        if self.must_tell:
            raise Broken("Redis refuses, and nobody is told")
        self.is_called, self.is_connected = False, True
        self._admit()
        self.surplus = self._give(self.surplus)
        choice = self.engine.choice(has_returns=bool(self.surplus))
        if choice is Trigger.ASKS and yields and not self.engine.debts:
            self.budget["yield"] -= 1
            choice, self.are_others_served = Trigger.YIELDS, True
        self._tell(choice)

    def _others_are_done(self, _: None) -> None:
        self.are_others_served = False
        if self.engine.state is State.YIELDED:
            self._tell(Trigger.FREED)

    def _ask(self) -> None:
        if self.engine.is_replaced:
            raise Broken("a source asks, and another pump is in its place")
        engine, share = self.engine, len(self.line.callers)
        request = str(engine.debts.first or "")
        if not request and share:
            self.requests += 1
            request = f"mine {self.requests % 3}"
        if request:
            engine.sends(cast("Any", Named(request, self.leases)))
        watches = not engine.is_watched and (engine.left or 0) <= share
        if self.sent is not None:
            raise Broken("commands are sent before the replies are read")
        self.sent = Sent(request, share, watches or not request)

    def _reads(self, is_refused: bool) -> None:
        sent, self.sent = self.sent, None
        assert sent is not None
        assert sent.reply is not None
        taken, length = sent.reply
        if is_refused:
            # Redis has done nothing.
            self.budget["refuse"] -= 1
            self.ready = tuple(sorted(taken + self.ready))
            taken = ()
        self.leased.pop(sent.request, None)
        if sent.request:
            self.engine.was_answered()
        self._admit()
        answers = False
        if is_refused:
            self._tell(Trigger.FAILED)
        else:
            answers = self.engine.state is State.ASKED
            if sent.watches:
                left: int | None = length
            elif self.engine.is_watched and not taken:
                left = 0
            else:
                left = max(0, (self.engine.left or 0) - len(taken)) or None
            self._tell(self.engine.replied(left, watches=sent.watches, has_returns=bool(self.surplus)))
        self._put_away(self._give(taken))
        if answers:
            self._answer_expired()

    def _hears(self, _: None) -> None:
        self.messages -= 1
        self._tell(Trigger.CHANGED)

    def _works(self, goes_well: bool) -> None:
        work, self.works = self.works[0], self.works[1:]
        if not goes_well:
            self.budget["refuse"] -= 1
            if work == "go on returning":
                returning, self.returning = self.returning, ()
                self._put_away(returning)
            if work == "diagnose":
                self._suffer()
            self._tell(Trigger.AWAY if work == "diagnose" else Trigger.STUCK)
        elif work == "return" and self.surplus:
            self.returning, self.surplus = self.surplus, ()
            self.works = ("go on returning", *self.works)
        elif work in ("return", "go on returning"):
            debts = self.engine.debts
            if self.returning:
                self.ready, self.returning = tuple(sorted(self.returning + self.ready)), ()
                self._changes()
            elif self.line.closed and debts.has_request and not self.engine.is_replaced:
                request = debts.first
                assert request is not None
                self.surplus = tuple(sorted(self.surplus + self.leased.pop(str(request), ())))
                debts.paid(request)
            # Values that came meanwhile go next.
            self._tell(Trigger.DONE)
        elif work == "diagnose":
            self.must_tell = True
            self._tell(Trigger.REFUSED)
        elif self.engine.state is State.PAUSING:
            self._tell(Trigger.DONE)

    def _finds_nothing_wrong(self, _: None) -> None:
        self.works = self.works[1:]
        self._tell(Trigger.SOUND)

    def _finds_it_elsewhere(self, _: None) -> None:
        """The key has moved to another node, which does not watch it. Nobody hears of it at the old one any more."""
        self._works(False)
        self.is_watched, self.messages = False, 0

    def _finds_no_right(self, _: None) -> None:
        self.works = self.works[1:]
        self._tell(Trigger.DENIED)
        if not self.engine.is_replaced:
            raise Broken("the user has no right to watch, and no pump of its own takes over")

    # .. Redis .........................................................................................................

    def _changes(self) -> None:
        if self.is_watched:
            self.is_watched = False
            self.messages += 1

    def _push(self, _: None) -> None:
        self.ready += (self.pushed,)
        self.pushed += 1
        self._changes()

    def _evicts(self, _: None) -> None:
        self.budget["evict"] -= 1
        self._changes()

    def _pops(self, count: int) -> tuple[int, ...]:
        taken, self.ready = self.ready[:count], self.ready[count:]
        if taken:
            self._changes()
        return taken

    def _redis_goes_on(self, _: None) -> None:
        assert self.sent is not None
        self.carried_out += 1
        request, taken = self.sent.request, cast("tuple[int, ...]", ())
        if request:
            known = self.leased.get(request)
            taken = self._pops(self.sent.share) if known is None else known
            if self.leases:
                self.leased[request] = taken
        self.is_watched = self.is_watched or self.sent.watches
        self.sent = attrs.evolve(self.sent, reply=(taken, len(self.ready)))

    def _is_cut(self, is_long: bool) -> None:
        """The connections break. Where it ``is_long``, the callers suffer before it is over."""
        self.budget["cut"] -= 1
        if is_long:
            self._suffer()
        self.is_connected = self.is_watched = False
        self.messages = 0
        if self.sent is not None and not self.leases and self.sent.reply is not None:
            self.lost += self.sent.reply[0]
        self.sent = None
        # The lookout forgets its calls.
        self.is_called = False
        self._tell(Trigger.DISCONNECTED)

    # -- the promises ------------------------------------------------------------------------------------------------

    def check(self) -> None:
        engine = self.engine
        under_way = self.sent.reply[0] if self.sent is not None and self.sent.reply and not self.leases else ()
        owed: tuple[int, ...] = ()
        for request, values in self.leased.items():
            is_under_way = self.sent is not None and self.sent.request == request
            if request not in map(str, engine.debts.requests) and not is_under_way:
                raise Broken("leases of a request that is not owed")
            owed += values
        given = tuple(each for each in self.callers.values() if isinstance(each, int))
        places = (*self.ready, *self.surplus, *self.returning, *given, *owed, *under_way, *self.lost)
        if sorted(places) != list(range(self.pushed)):
            raise Broken("a value is lost or there twice")
        if self.sent is not None and engine.state not in (State.ASKED, State.STALE):
            raise Broken("a reply comes that nobody expects")
        if engine.state in (State.ASKED, State.STALE) and self.sent is None:
            raise Broken("a reply is waited for that does not come")
        moves = self.is_called or self.sent or self.messages or self.works or self.are_others_served or self.entering
        if moves:
            return
        if self.surplus or (engine.debts and not engine.is_replaced):
            raise Broken("values or requests do not go back")
        if engine.is_replaced:
            # The other pump sees to callers and debts.
            if engine.state not in (State.RESTING, State.WATCHED):
                raise Broken("another pump is in its place, and it does not come to rest")
            return
        if any(self.line.callers.values()):
            raise Broken("a caller waits whose time is over")
        if self.line.count and not (self.is_watched and engine.state is State.WATCHED):
            raise Broken("somebody waits, and Redis does not watch")
        if self.line.count and self.ready:
            raise Broken("somebody waits beside ready values")
