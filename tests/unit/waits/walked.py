"""The engine that ships, its line and its receiver, driven at random against a Redis of a few lines.

:class:`World` carries out what the engine asks for, with any outcome: Redis answers, refuses, or the connection breaks
before or after the command was carried out. Between any two steps callers come, leave, vanish or run out of time,
values are pushed, others end the blocking command, and the receiver is closed. No thread, no server and no waiting.
"""

from __future__ import annotations

import collections
import enum
import itertools
import math
import random
from collections.abc import Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import attrs

from redisson_dq._concurrency import Inbox
from redisson_dq._sync.receiving import receiver as receivers
from redisson_dq.errors import RedisConnectionError, WrongTypeError
from redisson_dq.scheduling.clock import SystemClock
from redisson_dq.waits.line import Farewell, Lifeline, Waiter
from redisson_dq.waits.steps import (
    Ask,
    Behind,
    Bell,
    Block,
    Diagnose,
    Do,
    Follow,
    Pause,
    StepFailed,
    StepRefused,
    WaitStep,
)
from redisson_dq.wire import blocking
from redisson_dq.wire.blocking import PutBack
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken
from tests.unit.waits.walking import Broken

__all__ = ["Kind", "Source", "World"]

KEY = "orders"
#: After this many steps all callers leave, and nothing fails any more.
_LONG = 250
_UNTIL_REST = 400


class Kind(enum.Enum):
    """What is waited on."""

    POP = "a blocking pop"
    BOUNDED = "a blocking pop, and a request that has to follow it"
    MOVE = "a blocking move, whose values are safe"
    SEEN = "a blocking move that sets values aside, and a look"
    LEASE = "a blocking move that sets values aside, with a look behind it"


@attrs.frozen(eq=False)
class Source(blocking.Source):
    """A source whose requests name what Redis has to do."""

    kind: Kind
    numbers: Any = attrs.field(factory=itertools.count)

    @property
    def key(self) -> str:
        return KEY

    @property
    def keys(self) -> tuple[str, ...]:
        return (KEY,)

    @property
    def sets_aside(self) -> bool:
        return self.kind in (Kind.SEEN, Kind.LEASE)

    def _request(self, *words: Any, repeatable: bool = False) -> Request[Any]:
        return Request(words=words, types={KEY: ""}, parse=lambda reply: reply, repeatable=repeatable)

    def look(self, count: int) -> Request[list[Taken]] | None:
        if not self.sets_aside:
            return None
        if not count:
            return self._request("RETURN", repeatable=True).then(lambda _: [])
        return self._request("LEASE", next(self.numbers), count, repeatable=True).then(_taken)

    def behind(self) -> Request[list[Taken]] | None:
        return self.look(1) if self.kind is Kind.LEASE else None

    def words(self, timeout: float) -> tuple[Any, ...]:
        return ("BLOCK",)

    def taken(self, reply: Any) -> list[Taken]:
        return [] if self.sets_aside else _taken([reply])

    def more(self, count: int) -> Request[list[Taken]] | None:
        if self.sets_aside:
            return self.look(count)
        return None if self.kind is Kind.MOVE else self._request("POP", count).then(_taken)

    def after(self, taken: Sequence[Taken], known: Mapping[str, bytes]) -> PutBack | None:
        if self.kind is not Kind.BOUNDED:
            return None
        return PutBack(KEY, [], self._request("RELEASE", next(self.numbers), len(taken), repeatable=True))

    def put_back(self, surplus: Sequence[Taken], known: Mapping[str, bytes]) -> list[PutBack]:
        if self.kind is Kind.MOVE or not surplus:
            return []
        values = [int(each.data) for each in surplus]
        return [PutBack(KEY, list(surplus), self._request("BACK", next(self.numbers), values, repeatable=True))]


def _taken(values: list[int]) -> list[Taken]:
    return [Taken(key=KEY, data=str(value).encode()) for value in values]


class Redis:
    """One list, a place for values that were set aside, leases, and the room of a bounded queue."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.ready: list[int] = []
        self.aside: list[int] = []
        self.leases: dict[int, list[int]] = {}
        self.moved: list[int] = []
        self.room_taken = 0
        self.done: set[int] = set()

    def push(self, values: list[int]) -> None:
        self.ready += values
        self.room_taken += len(values)

    def pop(self) -> int | None:
        """What the blocking command does with the first value."""
        if not self.ready:
            return None
        value = self.ready.pop(0)
        (self.aside if self.kind in (Kind.SEEN, Kind.LEASE) else self.moved).append(value)
        return value

    def run(self, words: tuple[Any, ...]) -> Any:
        if words[0] == "POP":
            found = [value for _ in range(words[1]) if (value := self.pop()) is not None]
            return found
        if words[0] == "RETURN":
            self.ready[:0], self.aside = self.aside, []
            return 0
        name, number, what = words
        if name == "LEASE":
            if number not in self.leases:
                found = [(self.aside or self.ready).pop(0) for _ in range(min(what, len(self.aside) + len(self.ready)))]
                self.leases[number] = found
            return list(self.leases[number])
        if number in self.done:
            return 0
        self.done.add(number)
        if name == "RELEASE":
            self.room_taken -= what
        elif name == "BACK":
            self.ready[:0] = what
            self.room_taken += len(what) if self.kind is Kind.BOUNDED else 0
            self.moved = [value for value in self.moved if value not in what]
            for held in self.leases.values():
                held[:] = [value for value in held if value not in what]
        return 0


class Link:
    """The connection of the source."""

    is_over = False
    may_send_aside = True

    def __init__(self, world: World) -> None:
        self.world = world

    def send_aside(self, packed: bytes) -> None:
        if self.world.connection is self:
            self.world.pinged()


class Clock(SystemClock):
    """Time stands still until the world lets it go on."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:  # type: ignore[override]
        self.now += seconds


class Answer:
    """The place for one answer, which says whether a caller may be told that."""

    def __init__(self, world: World) -> None:
        self.world, self.filled = world, False
        self.value: Any = None

    def fill(self, value: Any) -> None:
        if self.filled:
            raise Broken("a caller is answered twice")
        if value == [] and self.world.engine.trouble is not None:
            raise Broken("a caller is told that nothing is there, and Redis is away")
        if value == [] and self.world.has_failed:
            raise Broken("a caller is told that nothing is there, and its command has failed")
        self.filled, self.value = True, value


@attrs.define(eq=False)
class Caller:
    """One caller of the receiver."""

    waiter: Waiter
    lifeline: Lifeline | None
    is_told: bool = False


class World:
    """One source, and everybody around it."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.kind, self.chance, self.clock = kind, random.Random(seed), Clock()
        self.redis, self.source = Redis(kind), Source(kind)
        self.is_healthy = self.has_failed = self.has_values = self.is_look_refused = self.is_closed = False
        self.pushed, self.steps_done, self.closed = 0, 0, math.inf
        self.excused: set[int] = set()
        self.kept: list[int] = []
        self.callers: list[Caller] = []
        # The connection: the replies that were not read, the blocking command, and whether a PING stands behind it.
        self.connection: Link | None = None
        self.replies: list[Any] = []
        self.blocked: Block | None = None
        self.pings = 0
        connections: Any = SimpleNamespace(
            clock=self.clock,
            run=self.run,
            longest_block=30.0,
            outage=SimpleNamespace(ended=None, gave_up=None, is_going_on=False),
            tries=None,
        )
        self.notices: Inbox[Any] = Inbox(self.clock)
        self.receiver = receivers.Receiver(connections, self.notices, [self.source])
        pump: Any = self.receiver.pump
        self.engine = pump
        self.unblocker = pump.unblocker = SimpleNamespace(is_running=False, start=self._starts_to_unblock)
        self.engine.start = self._starts
        self.engine._clock = self.time
        self.is_starting = False
        self.steps: Any = None

    # -- Redis -------------------------------------------------------------------------------------------------------

    def time(self) -> float:
        """The engine asks for the time. A caller does not wait for a mutex, and may come just now."""
        if self.fails(0.01):
            self.comes()
        return self.clock.now

    def chances(self, share: float) -> bool:
        return self.chance.random() < share

    def fails(self, share: float = 0.06) -> bool:
        return not self.is_healthy and self.chances(share)

    def run(self, request: Request[Any], when_closed: bool = False, **options: Any) -> Any:
        """A request over another connection."""
        # Values that cannot be put back for long after the close are lost, and the log has them.
        share = 0.0 if self.clock.now - self.closed > 0.5 else 0.15
        if self.fails(share):
            raise RedisConnectionError("away")
        reply = self.redis.run(request.words)
        if self.fails(share):
            raise RedisConnectionError("lost", maybe_done=True)
        return request.parse(reply)

    def refuses(self, words: tuple[Any, ...]) -> StepRefused | None:
        if not self.fails(0.06):
            return None
        passes = self.chances(0.5)
        if not passes and words[0] == "LEASE":
            # It is not sent again, and it is no longer known whether it was carried out before.
            self.excused.update(self.redis.leases.get(words[1], ()))
        return StepRefused(RuntimeError("refused"), passes=passes, is_full=self.chances(0.3))

    def may_send(self) -> None:
        if self.connection is None or self.connection is not self.engine.connection:
            raise Broken("a command is sent on a connection that is gone")
        if self.replies or self.blocked is not None:
            raise Broken("a command is sent before the replies to others are read")

    def cut(self) -> None:
        """The connection goes, and with it the replies that were not read."""
        if self.blocked is not None and self.chances(0.5):
            self.serve()
        if self.kind in (Kind.POP, Kind.BOUNDED):
            self.lose(self.replies)
        self.connection, self.replies, self.blocked, self.pings = None, [], None, 0

    def lose(self, replies: list[Any]) -> None:
        """The one loss that the pages name: a value in a reply that is lost on its way."""
        for reply in replies:
            self.excused.update(reply if isinstance(reply, list) else [reply] if isinstance(reply, int) else [])

    def breaks(self) -> None:
        self.cut()
        self.has_failed = True
        raise StepFailed(ConnectionError("cut"))

    def serve(self, *, ends: bool = False) -> None:
        """The blocking command takes a value, or ends without one."""
        if self.blocked is None or not (self.redis.ready or ends):
            return
        block, self.blocked = self.blocked, None
        self.replies.append(self.redis.pop())
        if block.behind is not None:
            self.replies.append(self.redis.run(block.behind.words))
        self.replies += ["PONG"] * self.pings
        self.pings = 0

    def pinged(self) -> None:
        if self.blocked is None:
            self.replies.append("PONG")
        else:
            self.pings += 1
            if self.blocked.until <= self.clock.now:
                self.serve(ends=True)

    # -- what the engine asks for ------------------------------------------------------------------------------------

    def carry_out(self, step: WaitStep) -> Any:
        # A failure of before was told of by then.
        self.has_failed = self.has_failed and not isinstance(step, Block)
        if not self.is_healthy and self.chances(0.4):
            self.event()
        if isinstance(step, Ask):
            return self.ask(step.request)
        self.has_values = False
        if isinstance(step, Block):
            return self.block(step)
        if isinstance(step, Behind):
            if self.fails():
                self.breaks()
            if refused := self.refuses(("BEHIND",)):
                # A look follows. What the request would have leased stands where it was.
                reply = self.replies.pop(0)
                self.redis.aside[:0] = self.redis.leases.pop(int(str(step.request.words[1])), [])
                del reply
                raise refused
            reply = self.replies.pop(0)
            # One for more may come behind it.
            self.has_values = bool(reply)
            return step.request.parse(reply)
        if isinstance(step, Bell):
            return self.ring(step)
        if isinstance(step, Diagnose):
            return self.diagnose()
        if isinstance(step, Follow):
            return self.engine.backs.follow(step.after)
        if isinstance(step, Pause):
            if step.is_trouble and any(waiter.is_expired for waiter in self.engine.line.waiting):
                raise Broken("Redis is away, and a caller whose time is over is not told")
            self.pass_time(step.seconds)
            if self.fails(0.02):
                raise StepFailed(RuntimeError("broken off"))
            return None
        if step is Do.CONNECT:
            self.cut()
            self.engine.retired.clear()
            self.connection = self.engine.connection = Link(self)
            if self.fails(0.15):
                self.breaks()
            return 0.0
        if step is Do.DISCONNECT:
            self.cut()
            self.engine.retired.clear()
        elif step is Do.READ:
            if self.fails():
                self.breaks()
            if self.replies.pop(0) != "PONG":
                raise Broken("another reply is read for that to the PING")
        elif step is Do.PUT_BACK:
            return self.engine.backs.send()
        elif step is Do.REPEAT:
            return self.engine.backs.repeat(self.engine.debts)
        return None

    def ask(self, request: Request[Any]) -> Any:
        self.may_send()
        if self.fails(0.04):
            self.breaks()
        if refused := self.refuses(request.words):
            # One for more comes behind a command that was answered.
            self.has_failed = self.has_failed or not (request.words[0] == "POP" or self.has_values)
            # The next look of any caller, or of the mover, finds what was set aside.
            self.is_look_refused = not refused.passes
            raise refused
        reply = self.redis.run(request.words)
        if self.fails(0.04):
            self.replies.append(reply)
            self.breaks()
        self.has_failed = False
        # A request that is sent again gives what it gave before, and looks at nothing.
        self.is_look_refused = self.is_look_refused and bool(self.redis.aside)
        return request.parse(reply)

    def block(self, step: Block) -> Any:
        self.may_send()
        if step.span < 0:
            raise Broken("a command blocks for no time")
        if self.fails(0.04):
            self.breaks()
        if refused := self.refuses(("BLOCK",)):
            if step.behind is not None:
                self.replies.append(self.redis.run(step.behind.words))
            self.has_failed = True
            raise refused
        if not step.span:
            return self.redis.pop()
        step.until = step.began + step.span
        self.blocked = step
        self.serve()
        for _ in range(10_000):
            if self.fails(0.02):
                self.breaks()
            if self.replies and (self.is_healthy or self.chances(0.6)):
                return self.replies.pop(0)
            if self.blocked is not None and not (self.notices.count or self.unblocker.is_running):
                self.check_blocked(step)
            self.anything(step)
        raise Broken("a blocking command does not end")

    def anything(self, step: Block) -> None:
        """Something happens while the blocking command is under way."""
        if self.notices.count or self.unblocker.is_running or not self.is_healthy:
            self.event()
        else:
            self.pass_time(1.0)
        # Redis reads its clock when it likes.
        if step is self.blocked and self.clock.now >= step.until and self.chances(0.3):
            self.serve(ends=True)

    def check_blocked(self, step: Block) -> None:
        line = self.engine.line
        if self.clock.now < step.until and not line.anyone and not line.inbox.qsize():
            raise Broken("a command blocks and nobody waits")
        others = [each for each in self.engine.debts.requests if each is not step.behind]
        if self.engine.backs.surplus or others:
            raise Broken("values or debts wait behind a blocking command")

    def ring(self, step: Bell) -> Any:
        for _ in range(self.chance.randrange(4)):
            if not self.is_healthy:
                self.event()
        while self.is_healthy and self.notices.count:
            self.event()
        bell = self.receiver.line.inbox
        if (rung := bell.poll()) is not None:
            return rung
        if step.lingers and not self.notices.count:
            self.check_rest()
        if step.lingers and self.fails(0.02):
            raise StepFailed(RuntimeError("broken off"))
        self.pass_time(step.seconds)
        return bell.poll()

    def check_rest(self) -> None:
        """No caller is active, and none was asked to be."""
        line = self.engine.line
        owes = self.engine.debts.has_request if line.closed else bool(self.engine.debts)
        late = any(waiter.is_expired for waiter in line.waiting)
        if self.redis.aside and not (line.closed or owes or self.is_look_refused):
            raise Broken("nobody looks for a value that was set aside")
        if self.engine.backs.are_left or owes or late or line.is_unserved(self.clock.now):
            raise Broken("work is left and nobody pumps")

    def diagnose(self) -> tuple[Any, bool]:
        if self.fails(0.1):
            raise StepFailed(ConnectionError("cancelled"))
        away = RedisConnectionError("away", maybe_done=self.chances(0.5))
        lasting = WrongTypeError("no list", key=KEY, expected="list", found="string")
        found = [(None, False), (away, False)] if self.is_healthy else [(None, False), (lasting, False)]
        chosen: tuple[Any, bool] = self.chance.choice([*found, (away, False), (away, True)])
        return chosen

    # -- everybody else ----------------------------------------------------------------------------------------------

    def pass_time(self, most: float) -> None:
        self.clock.now += most if self.is_healthy else self.chance.random() * most
        for caller in self.callers:
            # Its own thread wakes up.
            if caller.waiter.deadline <= self.clock.now and not (caller.is_told or caller.waiter.answer.filled):
                caller.is_told = True
                self.notices.put(partial(self.receiver.expire, caller.waiter))
                self.notices.put(partial(self.receiver.insist, caller.waiter))

    def event(self) -> None:
        """One thing that others do."""
        if self.unblocker.is_running and self.chances(0.4):
            self.unblock()
            return
        if self.notices.count and self.chances(0.6):
            self.handle(self.notices.get())
            return
        if self.is_healthy:
            return
        dice = self.chance.random()
        if dice < 0.3:
            count = self.chance.choice((1, 1, 1, 3))
            self.redis.push(list(range(self.pushed, self.pushed + count)))
            self.pushed += count
            self.serve()
        elif dice < 0.6:
            self.comes()
        elif dice < 0.88:
            self.leaves()
        elif dice < 0.9 and not self.is_closed and self.chances(0.1):
            self.close()
        elif dice < 0.92 and self.source.sets_aside and not self.is_closed:
            self.recover()
        elif dice < 0.94 and self.connection is not None:
            self.connection.is_over = True
        elif dice < 0.96:
            with self.engine.line.mutex:
                self.engine.met(RedisConnectionError("others cannot reach it"))
        else:
            self.pass_time(self.chance.choice((0.001, 0.05, 0.05 if self.is_closed else 2.0)))

    def handle(self, notice: Any) -> None:
        waiter = notice.waiter if isinstance(notice, Farewell) else notice
        if isinstance(waiter, Waiter):
            waiter.owner.gone(waiter)
        else:
            notice()

    def unblock(self) -> None:
        with self.engine.line.mutex:
            target = self.engine.to_end()
        if target is None:
            self.unblocker.is_running = False
        elif not self.fails(0.3):
            self.serve(ends=True)

    def comes(self) -> None:
        if self.is_closed:
            return
        timeout = self.chance.choice((math.inf, math.inf, 0.001, 0.05, 1.0))
        limit = self.chance.choice((1, 1, 1, 2, 5))
        lifeline = Lifeline()
        waiter = Waiter(limit, self.clock.now + timeout, Answer(self), self.notices.put, self.receiver, lifeline)
        self.callers.append(Caller(waiter, lifeline))
        self.receiver.line.inbox.put(waiter)
        if not self.engine.is_running:
            self.notices.put(self.receiver.attend)

    def leaves(self) -> None:
        """A caller keeps its answer, leaves, or vanishes."""
        if not self.callers:
            return
        caller = self.chance.choice(self.callers)
        self.callers.remove(caller)
        waiter, lifeline, caller.lifeline = caller.waiter, caller.lifeline, None
        assert lifeline is not None
        if waiter.answer.filled and self.chances(0.5):
            self.keep(waiter, lifeline)
        elif self.chances(0.5):
            waiter.leave()
        elif self.chances(0.2):
            self.receiver.withdraw(lifeline)
            # It reads the answer that it gets then.
            self.callers.append(Caller(waiter, lifeline))
        # Otherwise the lifeline goes, and says so by itself.

    def keep(self, waiter: Waiter, lifeline: Lifeline) -> None:
        if isinstance(waiter.answer.value, list):
            self.kept += [int(taken.data) for taken in waiter.answer.value]
        lifeline.keep()

    def recover(self) -> None:
        """Somebody has lost the reply to a request of its own."""
        request = self.source.look(1)
        assert request is not None
        if self.chances(0.5):
            self.redis.run(request.words)
        self.receiver.recover(request)

    def close(self) -> None:
        self.is_closed, self.closed = True, self.clock.now
        self.notices.put(self.receiver.shut)

    def _starts(self) -> None:
        if self.steps is not None:
            raise Broken("a second pumper starts")
        self.is_starting = True

    def _starts_to_unblock(self) -> None:
        self.unblocker.is_running = True

    # -- the walk ----------------------------------------------------------------------------------------------------

    def walk(self) -> int:
        """Walks until everybody has left and all is at rest. Gives the number of steps."""
        go_on, outcome = None, None
        while True:
            self.steps_done += 1
            if self.steps_done == _LONG:
                self.everybody_leaves()
            if self.steps_done > _LONG + _UNTIL_REST:
                raise Broken("it does not come to an end")
            if self.steps is None:
                go_on, outcome = None, None
                if self.is_starting:
                    self.is_starting, self.steps = False, self.engine.run()
                elif self.is_healthy and not (self.notices.count or self.unblocker.is_running):
                    break
                else:
                    if not self.notices.count:
                        if self.receiver.line.inbox.qsize():
                            raise Broken("a caller came, and nobody pumps")
                        self.check_rest()
                    self.event()
                    continue
            try:
                step = (go_on or self.steps.send)(outcome)
            except StopIteration:
                self.steps = None
                if self.engine.connection is None:
                    self.cut()
                    self.engine.retired.clear()
                continue
            self.engine.has_answered = False
            try:
                go_on, outcome = self.steps.send, self.carry_out(step)
            except StepFailed as error:
                go_on, outcome = self.steps.throw, error
        self.check_end()
        return self.steps_done

    def everybody_leaves(self) -> None:
        self.is_healthy = True
        for caller in self.callers:
            caller.waiter.leave()
        self.callers.clear()
        if not self.is_closed:
            self.close()

    def check_end(self) -> None:
        if self.engine.is_running or self.engine.backs.are_left or not self.receiver.is_at_rest:
            raise Broken("it is not at rest")
        if self.engine.connection is not None:
            raise Broken("closed, and the connection stays")
        redis = self.redis
        held = [value for values in redis.leases.values() for value in values]
        moved = redis.moved if self.kind is Kind.MOVE else []
        there = collections.Counter([*redis.ready, *redis.aside])
        if self.kind is Kind.MOVE:
            there.update(moved)
            if stray := set(self.kept) - set(moved):
                raise Broken(f"given, and not moved: {stray}")
        else:
            there.update(self.kept)
        if twice := [value for value, times in there.items() if times > 1]:
            raise Broken(f"values are in two places: {twice}")
        if lost := set(range(self.pushed)) - set(there) - self.excused:
            raise Broken(f"values are lost: {lost}")
        if orphans := set(held) - set(self.kept) - self.excused:
            raise Broken(f"leases that nobody has: {orphans}")
        if self.kind is Kind.BOUNDED and redis.room_taken != len(redis.ready) + len(self.excused & set(redis.moved)):
            raise Broken("the room of a bounded queue is not what is taken")
