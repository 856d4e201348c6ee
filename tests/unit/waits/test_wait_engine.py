"""The engine of a wait: scripted cases, random walks, and engines with one line broken that the walks must catch."""

from __future__ import annotations

import inspect
import itertools
import logging
import math
import sys
import types
from typing import Any

import pytest
from redis.exceptions import ResponseError

from redisson_dq._concurrency import Inbox, Promise
from redisson_dq._sync.receiving import pump as pumps
from redisson_dq._sync.receiving import receiver as receivers
from redisson_dq._sync.receiving.put_backs import PutBacks
from redisson_dq.errors import RedisConnectionError, WrongTypeError
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.waits import asking, troubles
from redisson_dq.waits import engine as shipped
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import WAKE, Line, Waiter
from redisson_dq.waits.steps import Ask, Behind, Bell, Block, Diagnose, Do, Pause, StepFailed, StepRefused
from tests.conftest import by_night
from tests.unit.waits.walked import Kind, Source, World
from tests.unit.waits.walking import Broken

AWAY = RedisConnectionError("Redis is away")
CUT = StepFailed(ConnectionError("cut"))


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Values that cannot be put back are logged again and again."""
    caplog.set_level(logging.CRITICAL, "redisson_dq")


# -- walks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("walks", [25, by_night(3000)])
@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.name)
def test_whatever_happens_the_promises_hold(kind: Kind, walks: int) -> None:
    kept = pushed = 0
    for seed in range(walks):
        world = World(kind, seed)
        try:
            world.walk()
        except Broken as error:
            raise AssertionError(f"World({kind}, {seed}): {error}") from error
        kept, pushed = kept + len(world.kept), pushed + world.pushed
    assert pushed > kept > walks


#: name -> (a line of the engine, the line in its place). Each breaks one promise.
MUTANTS = {
    "values in hand are lost with the connection": (
        "raise _Saved(values, error) from error",
        "raise",
    ),
    "a request is not owed": ("            debts.owe(request)\n", "            pass\n"),
    "the request behind a blocking command is not owed": ("self.debts.owe(behind)", "pass"),
    "a repeated request that is refused for a while is forgotten": (
        "if not (is_repeated and error.passes):",
        "if True:",
    ),
    "values that nobody waits for are dropped": ("            self.backs.add(left)", "            pass"),
    "a connection that broke is used on": (
        "        self._drop()\n        with contextlib.suppress(StepFailed):",
        "        with contextlib.suppress(StepFailed):",
    ),
    "the reply to a PING is not read": ("if block.is_pinged:", "if False:"),
    "a caller is told that nothing is there behind a failure": (
        "        self.line.broke()\n        self._drop()\n        with",
        "        self._drop()\n        with",
    ),
    "a caller whose time is over is not told of an outage": ("        self.line.answer_expired(reason)\n", ""),
    "an outage is forgotten at once": ("self.trouble, self._refuses = reason, is_refusal", "self._refuses = False"),
    "a pumper leaves while its bell rings": ("self.is_running = self.bell.qsize() > 0", "pass"),
    "a command blocks before values that go back, or a debt": ("if self.backs.are_left or self.debts:", "if False:"),
    "a debt waits behind a blocking command": (
        "        elif ends and self.blocked is not None:\n            self.unblock()\n",
        "",
    ),
    "nobody ends a command that nobody waits for": (
        "        if self.blocked is not None:\n            self.unblock()\n",
        "        pass\n",
    ),
    "an idle pumper is not woken": (
        "            self.bell.put(WAKE)\n        elif ends",
        "            pass\n        elif ends",
    ),
    "a blocked command ends for somebody who waits": (
        "return None if self.line.anyone and not",
        "return None if False and not",
    ),
    "a second pumper starts": (
        "        if not self.is_running:\n            self.is_running = True\n",
        "        if True:\n            self.is_running = True\n",
    ),
    "the connection stays after the close": (
        "                    if self._leaves():\n                        self._drop()",
        "                    if self._leaves():\n                        pass",
    ),
    "a claim is kept for ever": (
        "            line.unclaim(count)\n        if is_new",
        "            pass\n        if is_new",
    ),
    "no request of before is repeated after the close": ("elif line.closed and debts.has_request:", "elif False:"),
}
# Ends a command a little too early, which costs one more. No promise depends on it.
_HARMLESS = {"a blocked command ends for somebody who waits"}


def broken(old: str, new: str) -> Any:
    """The pump's module above an engine with one line replaced, of its own or of the modules that it is made of."""
    texts = {module.__name__: inspect.getsource(module) for module in (troubles, asking, shipped, pumps)}
    assert sum(text.count(old) for text in texts.values()) == 1, old
    with pytest.MonkeyPatch.context() as patch:
        for name, text in texts.items():
            made = types.ModuleType(name)
            exec(compile(text.replace(old, new), name, "exec"), made.__dict__)
            # Each imports those that were made before it.
            patch.setitem(sys.modules, name, made)
    return made


def caught(pump: Any, monkeypatch: pytest.MonkeyPatch, walks: int) -> bool:
    monkeypatch.setattr(receivers, "Pump", pump)
    for seed, kind in itertools.product(range(walks), Kind):
        try:
            World(kind, seed).walk()
        except Exception:
            return True
    return False


@pytest.mark.nightly
@pytest.mark.parametrize("name", MUTANTS)
def test_the_walks_catch_an_engine_with_a_broken_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    is_caught = caught(broken(*MUTANTS[name]).Pump, monkeypatch, 15 if name in _HARMLESS else 120)
    assert is_caught is (name not in _HARMLESS)


# -- scripted cases --------------------------------------------------------------------------------------------------


class Script:
    """An engine, and the steps that it asks for. The test moves the clock."""

    def __init__(self, kind: Kind = Kind.POP) -> None:
        self.now = 10.0
        inbox: Any = Inbox(SYSTEM)
        self.line = Line("orders", inbox, None)  # type: ignore[arg-type]
        connections: Any = types.SimpleNamespace(clock=types.SimpleNamespace(monotonic=lambda: self.now))
        self.source = Source(kind)
        self.backs = PutBacks(connections, self.source, self.line)
        self.started = self.unblocked = 0
        engine: Any = shipped.WaitEngine(self.line, self.source, Debts(), self.backs, inbox, lambda: self.now)
        engine.start, engine.unblock = self.starts, self.unblocks
        self.engine: shipped.WaitEngine = engine
        self.steps: Any = None

    def starts(self) -> None:
        self.started += 1

    def unblocks(self) -> None:
        self.unblocked += 1

    def caller(self, timeout: float = math.inf) -> Waiter:
        waiter = Waiter(1, self.now + timeout, Promise(SYSTEM), lambda notice: None)
        self.line.inbox.put(waiter)
        return waiter

    def begin(self) -> Any:
        self.steps = self.engine.run()
        return next(self.steps)

    def connected(self) -> Any:
        """The first command over a new connection."""
        assert self.begin() is Do.CONNECT
        return self.connect()

    def connect(self) -> Any:
        self.engine.connection = types.SimpleNamespace(is_over=False)
        return self.go(0.0)

    def go(self, outcome: Any = None) -> Any:
        return self.steps.throw(outcome) if isinstance(outcome, Exception) else self.steps.send(outcome)

    def over(self, waiter: Waiter) -> None:
        """The time of a caller is over."""
        self.now = max(self.now, waiter.deadline)
        self.line.admit()
        self.line.expire(waiter)
        self.engine.answer_expired()


def test_a_value_goes_to_the_caller_that_has_waited_longest_and_another_is_asked_for() -> None:
    script = Script()
    first, second = script.caller(), script.caller()
    assert isinstance(script.connected(), Block)
    more = script.go(1)
    assert isinstance(more, Ask)
    assert more.request.words == ("POP", 1)
    assert script.go(more.request.parse([2])) is Do.GIVE_WAY
    assert [[taken.data for taken in waiter.given] for waiter in (first, second)] == [[b"1"], [b"2"]]


def test_a_request_that_is_noted_beside_a_blocking_command_is_another_one() -> None:
    """The command ends for it. It does not end for the request that was sent together with it."""
    script = Script(Kind.LEASE)
    script.caller()
    script.connected()
    block = script.go([])
    assert isinstance(block, Block)
    assert block.behind is not None
    assert not script.engine.owes_another()
    script.engine.wake()
    assert script.unblocked == 0
    script.engine.debts.owe(script.source.look(1))  # type: ignore[arg-type]
    assert script.engine.owes_another()
    script.engine.wake()
    assert script.unblocked == 1


def test_a_look_behind_a_blocking_command_stands_for_the_one_before_the_next() -> None:
    script = Script(Kind.LEASE)
    script.caller()
    script.connected()
    assert isinstance(script.go([]), Block)
    assert isinstance(script.go(None), Behind)
    assert isinstance(script.go([]), Block)
    assert isinstance(script.go(None), Behind)
    script.now += 1.0
    # Redis did not know the script: it has looked for nothing.
    assert isinstance(script.go(StepRefused(ResponseError("NOSCRIPT"))), Ask)


@pytest.mark.parametrize("is_refusal", [False, True])
def test_a_connection_proves_nothing_to_a_client_that_was_refused(is_refusal: bool) -> None:
    """It is made, and callers give up. So Redis is not back before it has let one pop."""
    script = Script()
    waiter = script.caller(1.0)
    script.connected()
    assert script.go(CUT) is Do.DISCONNECT
    assert isinstance(script.go(), Diagnose)
    assert isinstance(script.go((AWAY, is_refusal)), Pause)
    assert script.engine.trouble is AWAY
    script.over(waiter)
    assert waiter.answer.value is AWAY
    # Somebody else comes and goes while the connection is made.
    other = script.caller()
    assert script.go() is Do.CONNECT
    script.line.admit()
    script.line.withdraw(other)
    assert isinstance(script.connect(), Bell)
    assert script.engine.trouble is (AWAY if is_refusal else None)


def test_where_redis_had_refused_a_command_that_does_not_block_comes_first() -> None:
    script = Script()
    script.caller()
    script.connected()
    script.go(StepRefused(ResponseError("READONLY"), passes=True))
    script.go()
    assert isinstance(script.go((AWAY, True)), Pause)
    assert script.go() is Do.CONNECT
    probe = script.connect()
    assert isinstance(probe, Block)
    assert probe.span == 0
    assert script.engine.blocked is None
    block = script.go(None)
    assert isinstance(block, Block)
    assert block.span == math.inf
    assert script.engine.trouble is None


def test_a_caller_whose_command_found_no_memory_is_told_nothing_before_another_look() -> None:
    """A value may have come since the look before it."""
    script = Script(Kind.SEEN)
    waiter = script.caller(1.0)
    look = script.connected()
    block = script.go(look.request.parse([]))
    assert isinstance(block, Block)
    assert isinstance(script.go(StepRefused(ResponseError("OOM"), passes=True, is_full=True)), Pause)
    script.over(waiter)
    look = script.go()
    assert isinstance(look, Ask)
    assert not waiter.answer.filled
    script.go(look.request.parse([7]))
    assert [taken.data for taken in waiter.given] == [b"7"]


def test_a_refusal_for_good_fails_the_callers() -> None:
    script = Script()
    waiter = script.caller()
    script.connected()
    script.go(StepRefused(ResponseError("WRONGTYPE")))
    script.go()
    reason = WrongTypeError("no list", key="orders", expected="list", found="string")
    assert isinstance(script.go((reason, True)), Bell)
    assert waiter.answer.value is reason


def test_pauses_grow_while_redis_is_away_and_begin_again_when_it_has_answered() -> None:
    script = Script()
    script.caller()
    script.connected()
    pauses = []
    for _ in range(7):
        script.go(CUT)
        script.go()
        pause = script.go((AWAY, False))
        assert isinstance(pause, Pause)
        pauses.append(pause.seconds)
        assert script.go() is Do.CONNECT
        script.connect()
    limits = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0]
    assert all(0.75 * most <= pause <= most for pause, most in zip(pauses, limits, strict=True))
    script.go(None)
    script.go(CUT)
    script.go()
    again = script.go((AWAY, False))
    assert isinstance(again, Pause)
    assert again.seconds <= 0.05


def test_a_pumper_that_has_lingered_stays_for_a_caller_that_came_on_the_way_out() -> None:
    script = Script()
    waiter = script.caller()
    script.connected()
    script.line.withdraw(waiter)
    script.engine.met(AWAY)
    assert isinstance(script.go(None), Bell)
    script.caller()
    # The bell has not rung for long, and rings just now.
    assert isinstance(script.go(None), Block)
    assert script.engine.connection is not None


def test_a_pumper_that_was_rung_for_is_busy_before_it_hears_its_bell() -> None:
    """A receiver of several sources would ring again and again, and let no pumper go on."""
    script = Script()
    script.engine.is_running = True
    assert isinstance(script.begin(), Bell)
    script.engine.wake()
    assert script.engine.is_busy
    assert script.line.admit()
    # Somebody else has emptied the inbox meanwhile.
    script.engine.wake()
    assert script.line.inbox.poll() is WAKE


def test_a_pumper_that_has_lingered_gives_its_connection_up_and_leaves() -> None:
    script = Script()
    waiter = script.caller()
    script.connected()
    script.line.withdraw(waiter)
    assert isinstance(script.go(None), Bell)
    with pytest.raises(StopIteration):
        script.go(None)
    assert not script.engine.is_running
    assert script.engine.connection is None
    assert len(script.engine.retired) == 1


def test_no_caller_hears_that_nothing_is_there_from_a_command_that_failed() -> None:
    script = Script(Kind.LEASE)
    script.caller()
    other = script.caller(1.0)
    assert isinstance(script.connected(), Ask)
    script.over(other)
    assert script.go(CUT) is Do.DISCONNECT
    assert len(script.engine.debts.requests) == 1
    assert isinstance(script.go(), Diagnose)
    # Redis could be reached, so nobody is told of an outage.
    assert script.go((None, False)) is Do.CONNECT
    assert not other.answer.filled


def test_an_error_of_a_put_back_or_a_wait_for_the_bell_ends_no_pumper() -> None:
    script = Script()
    waiter = script.caller()
    script.connected()
    script.line.withdraw(waiter)
    assert isinstance(script.go(None), Bell)
    assert isinstance(script.go(StepFailed(RuntimeError("a defect"))), Bell)
    script.line.inbox.put(WAKE)
    script.engine.put_away([*script.source.taken(7)])
    assert script.go(WAKE) is Do.PUT_BACK
    assert script.go(StepFailed(RuntimeError("a defect"))) is Do.DISCONNECT
    assert isinstance(script.go(), Diagnose)


def test_what_a_cut_command_may_have_set_aside_is_looked_for_when_nobody_waits_any_more() -> None:
    script = Script(Kind.SEEN)
    waiter = script.caller()
    script.connected()
    assert isinstance(script.go([]), Block)
    assert script.go(CUT) is Do.DISCONNECT
    script.line.withdraw(waiter)
    script.go()
    assert script.go((None, False)) is Do.CONNECT
    asked = script.connect()
    assert isinstance(asked, Ask)
    assert asked.request.words == ("RETURN",)
    assert isinstance(script.go([]), Bell)
    assert not script.engine.debts


def test_no_command_blocks_for_a_caller_whose_time_is_over() -> None:
    """Its command has failed, so it is not told that nothing is there. Somebody who had more time has left."""
    script = Script()
    late, patient = script.caller(0.1), script.caller(10.0)
    script.connected()
    script.line.leave(patient)
    assert script.go(CUT) is Do.DISCONNECT
    script.go()
    script.over(late)
    assert script.go((None, False)) is Do.CONNECT
    assert not late.answer.filled
    probe = script.connect()
    assert isinstance(probe, Block)
    assert probe.span == 0
    assert isinstance(script.go(None), Bell)
    assert late.answer.value == []


def test_a_full_server_that_refuses_to_set_values_aside_is_asked_again_after_a_pause() -> None:
    script = Script(Kind.LEASE)
    script.caller()
    script.connected()
    assert isinstance(script.go([]), Block)
    behind = script.go(StepRefused(ResponseError("OOM"), is_full=True))
    pause = script.go(behind.request.parse([]))
    assert isinstance(pause, Pause)
    assert not pause.is_trouble
    assert isinstance(script.go(), Ask)
