"""A pump, its callers and its Redis as a few fields, to walk the pop table with. There is no server and no waiting.

:class:`World` carries out the engine's actions as ``_async/receiving/actions.py`` and ``popping.py`` do. Redis answers
in every way that it can, the connection is cut at every place, and callers come and leave between any two steps. After
each event :meth:`World.check` looks whether the promises of the table hold.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from typing import Any, TypeVar, cast

import attrs

from redisson_dq.errors import RedisConnectionError, WrongTypeError
from redisson_dq.waits.debts import LOOK, Debts, Owed, repeat
from redisson_dq.waits.in_hand import InHand
from redisson_dq.waits.line import SOON
from redisson_dq.waits.pop_engine import Look, PopEngine
from redisson_dq.waits.pop_table import BY_CALLERS, CHOICES, IN_REDIS, Contact, Do, Pumper, State, Trigger

__all__ = ["AWAY", "Broken", "Event", "Kind", "World", "copied"]

Event = tuple[str, Any]

_SPAN = 10.0
_T = TypeVar("_T")


def copied(each: _T) -> _T:
    """A shallow copy. The standard library's takes three times as long."""
    made = object.__new__(type(each))
    made.__dict__.update(each.__dict__)
    return made


# What the pumper does in a state, where that is one thing.
_ACTIONS = {
    State.IDLE: Do.WAIT,
    State.RETURNING: Do.PUT_BACK,
    State.REPEATING: Do.REPEAT,
    State.CONNECTING: Do.CONNECT,
    State.LOOKING: Do.LOOK,
    State.PROBING: Do.PROBE,
    **dict.fromkeys(IN_REDIS, Do.BLOCK),
    State.SETTLING: Do.SETTLE,
    State.FETCHING: Do.LOOK,
    State.GATHERING: Do.GATHER,
    State.GIVING: Do.GIVE,
    State.FAILING: Do.DIAGNOSE,
}
_OF_STATES = set(_ACTIONS.values())


class Broken(AssertionError):
    """A promise of the table does not hold."""


class Kind(enum.Enum):
    """What is waited on: whether the blocking command sets aside, and whether a request is sent behind it."""

    POP = "a blocking pop"
    SEEN = "a blocking move, then a look"
    LEASE = "a blocking move with a look behind it"


#: A trouble like any other.
AWAY = RedisConnectionError("Redis is away")
REFUSED = WrongTypeError("the key is no list", key="orders", expected="list", found="string")


@attrs.define
class Caller:
    """One caller in the line."""

    number: int
    deadline: float
    is_expired: bool = False


class FakeLine:
    """The line as the engine sees it, with one value for each caller."""

    def __init__(self) -> None:
        self.callers: dict[int, Caller] = {}
        self.closed = False
        self.last = self.asked_number = 0
        #: Those that were answered with nothing, or with an error.
        self.answered: tuple[tuple[int, Any], ...] = ()

    @property
    def anyone(self) -> bool:
        return any(not each.is_expired for each in self.callers.values())

    def patience(self, now: float) -> float:
        return max((each.deadline for each in self.callers.values()), default=-math.inf) - now

    def is_unserved(self, now: float) -> bool:
        return bool(self.callers) and (self.last > self.asked_number or (self.anyone and self.patience(now) >= SOON))

    def claim(self, now: float) -> int:
        return len(self.callers)

    def asked(self) -> None:
        self.asked_number = self.last

    def broke(self) -> None:
        self.asked_number = 0

    def answer_expired(self, answer: Any = None) -> None:
        for number, each in list(self.callers.items()):
            if each.is_expired and (answer is not None or each.number <= self.asked_number):
                del self.callers[number]
                self.answered += ((number, answer),)


@attrs.frozen
class Value:
    """A value that came, as the engine sees it."""

    left: int


class FakeSource:
    """The source as the engine sees it. Its requests are names."""

    def __init__(self, world: World) -> None:
        self.world = world

    @property
    def sets_aside(self) -> bool:
        return self.world.kind is not Kind.POP

    def look(self, count: int) -> Any:
        return self.world.name("look") if self.sets_aside else None

    def behind(self) -> Any:
        return self.world.name("behind") if self.world.kind is Kind.LEASE else None


class World:
    """One pump. Events are pairs of a name and what the name needs."""

    def __init__(self, kind: Kind, *, values: int = 2, callers: int = 2, mishaps: int = 1) -> None:
        """At most so many values and callers come, and so many mishaps of each kind."""
        self.kind = kind
        self.most_values, self.most_callers = values, callers
        # Few names make more worlds alike. They are enough where few requests are owed at a time.
        self.names = 3 if mishaps < 2 else 1_000_000
        self.line = FakeLine()
        self.engine = PopEngine(cast("Any", self.line), cast("Any", FakeSource(self)), Debts())
        self.now = 0.0
        self.inbox: tuple[tuple[int, float], ...] = ()
        self.bell = 0
        #: What became of each caller: "waits", a value that it has not kept yet, or "done".
        self.callers: dict[int, Any] = {}
        self.stand_in: int | None = None
        self.pushed = 0
        self.given: tuple[int, ...] = ()
        # The pumper: what it has yet to carry out, and what came of it so far.
        self.to_do: tuple[Do, ...] | None = None
        self.outcome: Trigger | None = None
        self.hand: tuple[int, ...] = ()
        self.is_left = False
        self.surplus: tuple[int, ...] = ()
        self.cancelled = False
        # A caller has noted its own request, and is about to wake the pump.
        self.notes = False
        # The connection and Redis.
        self.connected = self.is_cut = self.is_sent = self.in_redis = self.has_behind = False
        self.replies: tuple[tuple[int, ...] | None, ...] = ()
        self.reply: tuple[int, ...] | None = None
        self.refused = False
        self.ready: tuple[int, ...] = ()
        self.aside: tuple[int, ...] = ()
        self.leases: dict[str, tuple[int, ...]] = {}
        self.unblocks = False
        self.requests = 0
        self.sent = ""
        self.look: Look | None = None
        self.span = math.inf
        # The command that the unblocker has ended last.
        self.ended = 0
        self.behind = ""
        self.is_pinged = self.must_stop = self.must_tell = False
        # A command has failed, and none was answered or has begun to block since.
        self.has_failed = False
        self.budget = dict.fromkeys(("cut", "recover", "odd", "full"), mishaps) | {"close": 2, "late": 1}

    def forget(self) -> None:
        """Forgets the callers that were here, and the values that they were given."""
        self.callers, self.given, self.pushed = {}, (), 0

    def clone(self) -> World:
        made = copied(self)
        made.line = copied(self.line)
        made.line.callers = {
            number: Caller(each.number, each.deadline, each.is_expired) for number, each in self.line.callers.items()
        }
        made.engine = copied(self.engine)
        made.engine.line = cast("Any", made.line)
        made.engine.source = cast("Any", FakeSource(made))
        made.engine.debts = copied(self.engine.debts)
        made.engine.debts.all = list(self.engine.debts.all)
        made.callers, made.leases, made.budget = dict(self.callers), dict(self.leases), dict(self.budget)
        return made

    def key(self) -> tuple[Any, ...]:
        """All that what follows depends on."""
        engine, line = self.engine, self.line
        return (
            (engine.state, engine.pumper, engine.replies, engine.contact, engine.until, engine.emptied),
            tuple((debt.owed, str(debt.request)) for debt in engine.debts.all),
            tuple(
                (no, each.number > line.asked_number, each.deadline, each.is_expired)
                for no, each in line.callers.items()
            ),
            (line.closed, line.last > line.asked_number, self.now, self.inbox, self.bell, tuple(self.callers.items())),
            (
                self.stand_in,
                self.pushed,
                self.to_do,
                self.outcome,
                self.hand,
                self.is_left,
                self.surplus,
                self.notes,
            ),
            (
                self.connected,
                self.is_cut,
                self.is_sent,
                self.in_redis,
                self.has_behind,
                self.replies,
            ),
            (self.reply, self.refused, self.ready, self.aside, tuple(sorted(self.leases.items())), self.unblocks),
            (
                self.cancelled,
                self.behind,
                tuple(self.budget.values()),
                self.is_pinged,
                self.must_stop,
                self.must_tell,
                self.has_failed,
                self.ended == engine.number,
            ),
        )

    # -- what may happen ---------------------------------------------------------------------------------------------

    def events(self) -> Iterator[Event]:
        """All that may happen now."""
        yield from self.own_events()
        if self.pushed < self.most_values:
            yield "push", None
        if len(self.callers) < self.most_callers:
            yield "comes", math.inf
            yield "comes", self.now + _SPAN
            is_new = self.to_do is None or self.engine.pumper is Pumper.BACKGROUND
            if is_new and self.kind is not Kind.POP and not self.line.closed:
                yield "stands in", math.inf
        for number, state in self.callers.items():
            if state != "done" and number != self.stand_in:
                yield "leaves", number
            if state == "done" and self.budget["late"]:
                yield "leaves late", number
            if state == "waits" and number == self.stand_in:
                yield "is withdrawn", number
            caller = self.line.callers.get(number)
            if caller is not None and caller.deadline < math.inf and not caller.is_expired:
                yield "is over", number
        if self.budget["recover"] and self.kind is not Kind.POP:
            yield "recovers", None
            yield "notes its request", None
        if self.budget["close"]:
            yield "closes", None
        if self.budget["odd"] and self.aside:
            yield "others take it", None
        if self.engine.pumper in (Pumper.ABSENT, Pumper.RELIEF):
            yield "stands down", None
        if self.budget["odd"] and not self.engine.is_busy:
            yield "others meet a trouble", None

    def own_events(self) -> Iterator[Event]:
        """What happens without anybody else."""
        if self.to_do is not None:
            for outcome in self._outcomes():
                yield "pumps", outcome
        if self.unblocks:
            yield "unblocks", None
        if self.notes:
            yield "wakes", None
        if self.in_redis and self.engine.is_over(self.now):
            yield "server ends it", None

    def _outcomes(self) -> Iterator[str]:
        assert self.to_do is not None
        do = self.to_do[0] if self.to_do else None
        cuts, odd = self.budget["cut"] > 0, self.budget["odd"] > 0
        is_caller = self.stand_in is not None
        if do is Do.WAIT:
            if self.bell:
                yield "rings"
            # The bell may ring just when it has not rung for long.
            yield "lingers"
        elif do is Do.BLOCK:
            if not self.is_sent:
                yield "sends"
                if self.budget["full"]:
                    yield "is refused"
            elif self.is_cut or self.replies:
                yield "reads"
            if self.is_sent and cuts and not self.is_cut:
                yield "is cut"
            if self.is_sent and odd and is_caller:
                yield "is cancelled"
        elif do in (Do.LOOK, Do.GATHER, Do.PROBE):
            yield "goes well"
            if cuts:
                yield "is cut before"
                yield "is cut after"
            if odd:
                yield "is refused"
                if is_caller:
                    yield "is cancelled"
        elif do in (Do.CONNECT, Do.PUT_BACK, Do.REPEAT, Do.SETTLE, Do.GIVE, Do.REST):
            yield "goes well"
            if cuts and do is not Do.REST and (do is not Do.SETTLE or self.engine.replies):
                yield "is cut"
            if cuts and do is Do.SETTLE and self.has_behind and self.engine.replies > 1:
                yield "is cut late"
            if odd and is_caller and do in (Do.GIVE, Do.REST, Do.SETTLE):
                yield "is cancelled"
            if odd and do in (Do.PUT_BACK, Do.REPEAT):
                yield "has a defect"
        elif do is Do.DISCONNECT and is_caller:
            yield "goes well"
            if odd:
                yield "is cancelled"
        elif do is Do.DIAGNOSE:
            yield "is away"
            yield "refuses for a while"
            yield "is refused"
            yield "finds nothing wrong"
        else:
            yield "goes well"
        if odd and not is_caller and do in (Do.WAIT, Do.DIAGNOSE, Do.PAUSE, Do.RETRY, Do.REST):
            yield "is broken off"
        if do is None and len(self.callers) < self.most_callers:
            yield "somebody slips in"

    # -- what happens ------------------------------------------------------------------------------------------------

    def happen(self, event: Event) -> None:
        name, what = event
        getattr(self, "_" + name.replace(" ", "_"))(what)
        self.check()

    def _push(self, _: None) -> None:
        self.ready += (self.pushed,)
        self.pushed += 1
        self._redis_goes_on()

    def _comes(self, deadline: float) -> None:
        self._enter(deadline)
        if not self.engine.is_running:
            self._tell(Trigger.WORK)

    def _stands_in(self, deadline: float) -> None:
        number = self._enter(deadline)
        if self.engine.stand_in(is_connected=self.connected):
            self.stand_in = number
            self._begin()
        elif not self.engine.is_running:
            self._tell(Trigger.WORK)

    def _enter(self, deadline: float) -> int:
        number = len(self.callers)
        self.callers[number] = "waits"
        self.inbox += ((number, deadline),)
        self.bell += 1
        return number

    def _leaves(self, number: int) -> None:
        self._admit()
        state, self.callers[number] = self.callers[number], "done"
        self.line.callers.pop(number, None)
        if isinstance(state, int):
            self.given = tuple(each for each in self.given if each != state)
            self._distribute((state,))
        if not self.line.anyone:
            self._tell(Trigger.NOBODY)
        self._tell(Trigger.WORK)

    def _leaves_late(self, number: int) -> None:
        """A caller that was answered with nothing, or not at all."""
        self.budget["late"] -= 1
        self._leaves(number)

    def _is_withdrawn(self, number: int) -> None:
        self._admit()
        self.callers[number] = "done"
        self.line.callers.pop(number, None)
        if not self.line.anyone:
            self._tell(Trigger.NOBODY)
        self._tell(Trigger.WORK)

    def _others_take_it(self, _: None) -> None:
        self.budget["odd"] -= 1
        self.given += self.aside[:1]
        self.aside = self.aside[1:]

    def _is_over(self, number: int) -> None:
        self._admit()
        caller = self.line.callers[number]
        self.now = max(self.now, caller.deadline)
        caller.is_expired = True
        engine = self.engine
        engine.answer_expired(self.now)
        self._note_answers()
        self._tell(Trigger.WORK)
        if engine.state is State.BLOCKED and not self.line.anyone:
            if engine.is_over(self.now):
                self._tell(Trigger.LAST_OVER)
            else:
                self._tell(Trigger.NOBODY)

    def _recovers(self, _: None) -> None:
        self._notes_its_request(None)
        self.notes = False
        self._tell(Trigger.OWED)

    def _notes_its_request(self, _: None) -> None:
        """Without the mutex, so the pumper may find it before it is told."""
        self.budget["recover"] -= 1
        theirs = f"theirs {self.budget['recover']}"
        self._lease(theirs)
        self.engine.debts.owe(repeat(cast("Any", theirs)))
        self.notes = True

    def _wakes(self, _: None) -> None:
        self.notes = False
        self._tell(Trigger.OWED if self.engine.owes_another() else Trigger.WORK)

    def _closes(self, _: None) -> None:
        self.budget["close"] -= 1
        self.line.closed = True
        self._admit()
        self._fail()
        if self.engine.is_running or self.connected:
            self._tell(Trigger.CLOSED)

    def _stands_down(self, _: None) -> None:
        if self.engine.stand_down():
            self._tell(Trigger.WORK)

    def _others_meet_a_trouble(self, _: None) -> None:
        """A look at many sources has failed for this one, and its pump goes on."""
        self.budget["odd"] -= 1
        self.line.broke()
        self.engine.met(AWAY, is_connected=self.connected)
        self._tell(Trigger.WORK)

    def _server_ends_it(self, _: None) -> None:
        self._redis_ends(None)

    def _unblocks(self, _: None) -> None:
        if self.engine.state is State.ENDING:
            self._admit()
            if self.line.anyone:
                self._tell(Trigger.JOINED)
        if self.engine.state not in (State.ENDING, State.STOPPING) or self.ended == self.engine.number:
            self.unblocks = False
        elif self.in_redis:
            self.ended = self.engine.number
            if self.line.anyone and not self.must_stop:
                raise Broken("a command is ended that somebody waits for")
            self._redis_ends(None)

    # -- the pumper --------------------------------------------------------------------------------------------------

    def _tell(self, trigger: Trigger) -> None:
        self.must_stop = self.must_stop or trigger is Trigger.OWED or self.engine.state is State.TIMED
        self._at_once(self.engine.step(trigger))

    def _at_once(self, to_do: tuple[Do, ...]) -> None:
        for do in to_do:
            if do is Do.START:
                if self.to_do is not None and not self.is_leaving(to_do):
                    raise Broken("two pump")
                self._begin()
            elif do is Do.RING:
                self.bell += 1
            elif do is Do.UNBLOCK:
                self.unblocks = True
            elif do is Do.NUDGE:
                self.is_pinged = True
                if not self.in_redis and not self.is_cut:
                    self.replies = (*self.replies, ())
            elif do is Do.DISCONNECT:
                self._drop_connection()
            elif do is Do.BLOCK or do is Do.PROBE:
                self._prepare(do is Do.BLOCK)

    def is_leaving(self, to_do: tuple[Do, ...]) -> bool:
        return Do.LEAVE in to_do

    def _begin(self) -> None:
        self.to_do, self.outcome = (), None

    def _pumps(self, outcome: str) -> None:
        assert self.to_do is not None
        do, rest = (self.to_do[0], self.to_do[1:]) if self.to_do else (None, ())
        if outcome in ("has a defect", "is broken off"):
            self.budget["odd"] -= 1
            self._fails(cuts=outcome == "has a defect")
            return
        if outcome == "is cancelled":
            self.budget["odd"] -= 1
            self.cancelled = True
            if do is Do.GIVE:
                self._hand_out()
            elif do is Do.SETTLE:
                self._read_some(late=False)
            elif do in (Do.LOOK, Do.GATHER, Do.PROBE):
                # Redis may carry it out all the same.
                self._request(do)
            self._fails()
            return
        if outcome.startswith("is cut"):
            self.budget["cut"] -= 1
            if do is Do.BLOCK:
                self.is_cut, self.in_redis = True, False
                return
            if do in (Do.PUT_BACK, Do.REPEAT):
                self.outcome = Trigger.STUCK
                self._step(rest)
                return
            if do is Do.CONNECT:
                self.connected = True
            if outcome == "is cut after":
                self._request(do)
            elif do in (Do.LOOK, Do.GATHER):
                self._owe(do)
            if do is Do.GIVE:
                self._hand_out()
            if do is Do.SETTLE:
                self._read_some(late=outcome == "is cut late")
            self._fails()
            return
        self.outcome = self._carried_out(do, outcome) or self.outcome
        if self.outcome is Trigger.FAILED:
            self._fails()
        elif not (do is Do.BLOCK and outcome != "reads"):
            self._step(rest, slips_in=outcome == "somebody slips in")

    def _fails(self, *, cuts: bool = True) -> None:
        if cuts:
            # Nobody knows what stands on the connection now.
            self.is_cut = self.connected
        self.has_failed = True
        self.outcome = self.engine.failure(self._held())
        self._step(())

    def _step(self, rest: tuple[Do, ...], *, slips_in: bool = False) -> None:
        if rest:
            self.to_do = rest
            return
        caller, engine = self.stand_in, self.engine
        trigger = self.outcome or self._classified()
        if slips_in:
            # Callers enter without the mutex, so one may come when the pumper has looked.
            self._enter(math.inf)
        self.outcome = None
        stays = Trigger.HEARS_BELL if caller is None else Trigger.HANDS_OVER
        self.to_do = to_do = engine.step(trigger, lambda: stays if self.bell else None)
        if Do.LEAVE in to_do:
            self.to_do = None
            self.stand_in = None
            self._at_once(to_do)
            if caller is not None and self.callers[caller] == "waits" and self.cancelled:
                # A stand-in that was cancelled leaves.
                self._leaves(caller)
            return
        self._at_once(to_do)

    def _classified(self) -> Trigger:
        if self.engine.state not in CHOICES:
            return self.engine.next_command(self.now, has_returns=bool(self.surplus))
        if self.must_tell:
            raise Broken("Redis refuses, and nobody is told")
        if self.bell and self.engine.state is State.LINGERED:
            self.engine.step(Trigger.RANG)
        self._admit()
        self.line.answer_expired(self.engine.trouble)
        self._note_answers()
        self.surplus = self._give_to_line(self.surplus)
        stand_in = self.stand_in
        return self.engine.choice(
            self.now,
            is_answered=stand_in is not None and self.callers[stand_in] != "waits",
            is_connected=self.connected,
            has_returns=bool(self.surplus),
        )

    def _carried_out(self, do: Do | None, outcome: str) -> Trigger | None:
        if do is None:
            return None
        return cast("Trigger | None", getattr(self, f"_do_{do.name.lower()}")(outcome))

    def _do_wait(self, outcome: str) -> Trigger:
        if outcome == "lingers":
            return Trigger.LINGERED
        self.bell = max(0, self.bell - 1)
        self._admit()
        return Trigger.RANG

    def _do_put_back(self, outcome: str) -> Trigger:
        self.ready = tuple(sorted(self.surplus + self.ready))
        self.surplus = ()
        self._redis_goes_on()
        return Trigger.DONE

    def _do_repeat(self, outcome: str) -> Trigger:
        debt = self.engine.debts.first
        self.hand = self._carry_out_lease(str(debt.request))
        self.engine.debts.paid(debt)
        self.leases.pop(str(debt.request), None)
        return Trigger.CAME if self.hand else Trigger.MISSED

    def _do_connect(self, outcome: str) -> Trigger:
        self.connected = True
        return Trigger.DONE

    def _do_disconnect(self, outcome: str) -> None:
        pass

    def _do_look(self, outcome: str) -> Trigger | None:
        if outcome == "is refused":
            debt = self.engine.debts.first
            self.budget["odd"] -= 1
            self._may_send()
            # Redis would refuse it again. Its values return at their deadline, or by the next look.
            self.engine.debts.paid(LOOK if debt.owed is not Owed.REPEAT else debt)
            self.ready += self.leases.pop(str(debt.request), ())
            self.ready, self.aside = tuple(sorted(self.ready + self.aside)), ()
            return Trigger.FAILED
        self.hand = self._request(Do.LOOK)
        self._replied()
        assert self.look is not None
        self.engine.looked(self.look)
        if self.hand:
            return Trigger.CAME
        return Trigger.MISSED if self.engine.state is State.FETCHING else None

    def _do_gather(self, outcome: str) -> Trigger:
        if outcome == "is refused":
            self.budget["odd"] -= 1
            return Trigger.CAME
        self.hand += self._request(Do.GATHER)
        self._replied()
        return Trigger.CAME

    def name(self, what: str) -> str:
        """A request of the source, which is repeatable."""
        self.requests += 1
        return f"{what} {self.requests % self.names}"

    def _held(self) -> InHand:
        """All that the pumper has in hand."""
        values = [Value(left=len(self.ready)) for _ in self.hand]
        refusal = RuntimeError("refused") if self.refused else None
        return InHand(self.now, self.span, None, self.reply, refusal, 0.0, cast("Any", values))

    def _prepare(self, blocks: bool) -> None:
        self._may_send()
        self.is_sent = self.refused = self.is_pinged = self.must_stop = self.has_failed = False
        self.reply = None
        begun = self.engine.begin(self.now, blocks=blocks)
        self.has_behind, self.span = begun.behind is not None, begun.span
        if blocks and not (self.span > 0):
            raise Broken("a command blocks for no time")
        if self.has_behind:
            self.behind = str(begun.behind)

    def _do_probe(self, outcome: str) -> Trigger:
        if outcome == "is refused":
            self.budget["odd"] -= 1
            self.refused = True
        else:
            self.reply = self._popped()
        return Trigger.ANSWERED

    def _read_some(self, *, late: bool) -> None:
        """The connection breaks before the last reply."""
        if self.kind is Kind.POP:
            self.hand = self.reply or ()
        elif late:
            self.hand = self.replies[0] or ()
            self.leases.pop(self.behind, None)
            self.engine.debts.paid(repeat(cast("Any", self.behind)))
        self.replies = ()

    def _do_block(self, outcome: str) -> Trigger | None:
        if outcome == "is refused":
            self.budget["full"] -= 1
            self.is_sent = self.refused = True
            self.engine.sent(self._held())
            self._redis_ends(None)
            return None
        if outcome == "sends":
            self.is_sent = self.in_redis = True
            self.engine.sent(self._held())
            self._redis_goes_on()
            return None
        if self.is_cut:
            return Trigger.FAILED
        self.reply, *rest = self.replies
        self.replies = tuple(rest)
        return Trigger.ANSWERED

    def _do_settle(self, outcome: str) -> Trigger | None:
        engine = self.engine
        if engine.replies != len(self.replies):
            raise Broken(f"{len(self.replies)} replies are there, {engine.replies} are read")
        replies, self.replies = self.replies, ()
        if self.has_behind:
            self.hand = replies[0] or ()
            self.leases.pop(self.behind, None)
            engine.debts.paid(repeat(cast("Any", self.behind)))
        elif self.reply is not None and self.kind is Kind.POP:
            self.hand = self.reply
        engine.replies = 0
        held = self._held()
        engine.notes_aside(held)
        if held.is_refused:
            return Trigger.FULL if self.kind is not Kind.POP else Trigger.FAILED
        return engine.settled(held)

    def _do_give(self, outcome: str) -> Trigger:
        self.is_left = bool(self.ready)
        self.engine.was_left(len(self.ready), self.now)
        self._hand_out()
        return Trigger.DONE

    def _do_give_way(self, outcome: str) -> None:
        pass

    def _do_diagnose(self, outcome: str) -> Trigger:
        self.must_tell = outcome == "is refused"
        reason = {"is refused": REFUSED, "finds nothing wrong": None}.get(outcome, AWAY)
        return self.engine.diagnosed(reason, is_refusal=outcome == "refuses for a while")

    def _do_fail(self, outcome: str) -> None:
        self.must_tell = False
        self._fail()

    def _do_pause(self, outcome: str) -> Trigger:
        self.engine.suffer(AWAY, self.now)
        self._note_answers()
        if any(each.is_expired for each in self.line.callers.values()):
            raise Broken("Redis is away, and a caller whose time is over is not told")
        return Trigger.DONE

    def _do_retry(self, outcome: str) -> Trigger:
        return Trigger.DONE

    def _do_rest(self, outcome: str) -> Trigger:
        return Trigger.DONE

    # -- Redis -------------------------------------------------------------------------------------------------------

    def _may_send(self) -> None:
        if not self.connected or self.is_cut or self.in_redis or self.replies:
            raise Broken("a command is sent before the replies to others are read")

    def _drop_connection(self) -> None:
        self.connected = self.is_cut = self.in_redis = self.is_sent = False
        self.replies = ()

    def _request(self, do: Do | None) -> tuple[int, ...]:
        """Redis carries out a look, a command for more, or a probe. Gives the values of the reply."""
        self._may_send()
        if do is Do.PROBE:
            if self._popped() and self.kind is Kind.POP:
                self.pushed_lost()
            return ()
        if self.kind is Kind.POP and do is Do.GATHER:
            found, self.ready = self.ready[:1], self.ready[1:]
            return found
        self._owe(do)
        return self._carry_out_lease(self.sent) if self.sent else ()

    def _owe(self, do: Do | None) -> None:
        """The pumper is about to send a request, which is owed before it is sent."""
        self.sent = ""
        if do is Do.LOOK:
            self.look = self.engine.look(self.now)
            self.sent = str(self.look.request or "")
        elif self.kind is not Kind.POP and self.line.callers:
            self.sent = self.name("more")
        if self.sent:
            self.engine.debts.owe(repeat(cast("Any", self.sent)))

    def _replied(self) -> None:
        """The reply to the request that was sent last has been read."""
        self.has_failed = self.has_failed and not self.sent
        if self.kind is not Kind.POP and self.sent:
            self.engine.debts.paid(repeat(cast("Any", self.sent)))
            self.leases.pop(self.sent, None)

    def _carry_out_lease(self, request: str) -> tuple[int, ...]:
        if request not in self.leases:
            self._lease(request)
        return self.leases[request]

    def _lease(self, request: str) -> None:
        first = self.aside + self.ready
        self.leases[request] = first[:1]
        taken = len(self.aside[:1])
        self.aside = self.aside[1:]
        if not taken:
            self.ready = self.ready[1:]

    def pushed_lost(self) -> None:
        """Its reply was lost, and the value with it: the one loss that the pages name."""

    def _popped(self) -> tuple[int, ...] | None:
        """The blocking command takes the first value, if any."""
        if not self.ready:
            return None
        value, self.ready = self.ready[:1], self.ready[1:]
        if self.kind is not Kind.POP:
            self.aside += value
            return ()
        return value

    def _redis_goes_on(self) -> None:
        if self.in_redis and self.ready:
            self._redis_ends(self._popped())

    def _redis_ends(self, reply: tuple[int, ...] | None) -> None:
        self.in_redis = False
        self.replies = (*self.replies, reply)
        if self.has_behind:
            self.replies = (*self.replies, self._carry_out_lease(self.behind))
        if self.is_pinged:
            self.replies = (*self.replies, ())

    # -- the line ----------------------------------------------------------------------------------------------------

    def _admit(self) -> None:
        for number, deadline in self.inbox:
            if self.callers[number] != "waits":
                continue
            if self.line.closed:
                self.callers[number] = "done"
                continue
            self.line.last += 1
            self.line.callers[number] = Caller(self.line.last, deadline)
        self.inbox = ()
        self.bell = 0

    def _note_answers(self) -> None:
        """Those whose time was over go."""
        for number, answer in self.line.answered:
            if answer is None and self.engine.trouble is not None:
                raise Broken("a caller is told that nothing is there, and Redis is away")
            if answer is None and self.has_failed:
                raise Broken("a caller is told that nothing is there, and its command has failed")
            self.callers[number] = "done"
        self.line.answered = ()

    def _fail(self) -> None:
        for number in self.line.callers:
            self.callers[number] = "done"
        self.line.callers.clear()

    def _give_to_line(self, values: tuple[int, ...]) -> tuple[int, ...]:
        while values and self.line.callers:
            number = next(iter(self.line.callers))
            del self.line.callers[number]
            self.callers[number] = values[0]
            self.given += values[:1]
            values = values[1:]
        return values

    def _distribute(self, values: tuple[int, ...]) -> None:
        left = self._give_to_line(values)
        if left:
            self.surplus = tuple(sorted(self.surplus + left))
            self._tell(Trigger.OWED)

    def _hand_out(self) -> None:
        hand, self.hand = self.hand, ()
        self._admit()
        self._distribute(hand)

    # -- the promises ------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises when a promise does not hold."""
        self._check_values()
        self._check_pumper()
        self._check_action()
        self._check_blocked()

    def _check_values(self) -> None:
        engine = self.engine
        on_way = self.replies + ((self.reply,) if engine.state in (State.SETTLING, State.GATHERING) else ())
        flying = tuple(value for reply in on_way for value in reply or ())
        leased = tuple(value for values in self.leases.values() for value in values)
        held = (*self.ready, *self.aside, *self.hand, *self.surplus, *self.given)
        if len(set(held)) != len(held):
            raise Broken(f"a value is in two places: {held}")
        if self.kind is Kind.POP:
            return
        if lost := set(range(self.pushed)) - set(held) - set(leased) - set(flying):
            raise Broken(f"values are lost: {lost}")
        owed = {str(debt.request) for debt in engine.debts.all if debt.owed is Owed.REPEAT}
        for request, values in self.leases.items():
            if values and request not in owed and not set(values) & set(held):
                raise Broken(f"nobody asks for the values of a lost reply: {request}")
        if self.aside and not engine.debts and not self.line.closed and not (self.replies or engine.is_blocked):
            raise Broken("nobody looks for a value that was set aside")

    def _check_pumper(self) -> None:
        engine = self.engine
        if engine.is_running != (self.to_do is not None):
            raise Broken("the table and the pumper do not agree whether somebody pumps")
        if (engine.pumper in (Pumper.NOBODY, Pumper.ABSENT)) != (self.to_do is None):
            raise Broken("the table and the pumper do not agree whether somebody pumps")
        if (engine.pumper is Pumper.CALLER) != (self.stand_in is not None):
            raise Broken("the table and the pumper do not agree who pumps")
        if engine.contact is Contact.BACK and not self.connected:
            raise Broken("a connection that is gone shows that Redis is back")
        if engine.state in (State.RESTING, State.IDLE) and not self.bell:
            if engine.contact is Contact.AWAY and self.connected:
                raise Broken("Redis counts as away, and a connection rests")
            owes = bool(engine.debts.has_request if self.line.closed else engine.debts)
            # A caller whose time has just run out says so by itself.
            unserved = self.line.is_unserved(self.now) or any(each.is_expired for each in self.line.callers.values())
            if self.surplus or (owes and not self.notes) or unserved or self.inbox:
                raise Broken("work is left and nobody pumps")
            if self.line.closed and self.connected and engine.state is State.RESTING:
                raise Broken("closed, and the connection stays")
            if self.connected and engine.pumper not in BY_CALLERS and engine.state is State.RESTING:
                raise Broken("a connection stays that nobody uses")

    def _check_action(self) -> None:
        """The state tells what the pumper does. Others decide by it."""
        if self.to_do is None:
            return
        state, wakes = self.engine.state, self.to_do[:1] == (Do.WAIT,) and self.engine.state is State.CHOOSING
        if wakes and not self.bell:
            raise Broken("the pumper sleeps, and there is work")
        owes = self.engine.debts and not self.line.closed and not self.notes
        if state is State.IDLE and (self.surplus or owes):
            raise Broken("there is work, and the table tells that there is none")
        done = _ACTIONS.get(state)
        if done is not None and not wakes and done not in self.to_do and state is not State.GIVING:
            raise Broken(f"the state is {state}, and the pumper does {self.to_do}")
        if state is State.GIVING and not {Do.GIVE, Do.DISCONNECT} & set(self.to_do):
            raise Broken(f"values are handed out, and the pumper does {self.to_do}")
        if state is State.CHOOSING and not wakes and set(self.to_do) & _OF_STATES:
            raise Broken(f"the pumper chooses, and does {self.to_do}")

    def _check_blocked(self) -> None:
        engine = self.engine
        if not engine.is_blocked or not self.is_sent:
            return
        if self.is_cut:
            return
        coming = (1 + self.has_behind + self.is_pinged) * self.in_redis + len(self.replies)
        if engine.replies != coming:
            raise Broken(f"{coming} replies come, {engine.replies} are known")
        if not self.in_redis:
            return
        if engine.state in (State.ENDING, State.STOPPING):
            if not self.unblocks:
                raise Broken("nobody ends a command that has to end")
            return
        if (engine.state is State.TIMED) != self.is_pinged:
            raise Broken("the table and Redis do not agree whether a PING ends the command")
        foreign = engine.debts.has_request and str(engine.debts.first.request) != self.behind
        if not engine.is_over(self.now) and not self.line.anyone and not self.inbox:
            raise Broken("a command blocks and nobody waits")
        if self.surplus or (foreign and not self.notes):
            raise Broken("values or debts wait behind a blocking command")
