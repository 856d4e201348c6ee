"""Any events in any order around a limit: no slot is free while a value could take it."""

from __future__ import annotations

import math
import time
from collections import Counter
from contextlib import ExitStack
from typing import Any

import attrs
import pytest
import redis
from hypothesis import note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from redisson_dq import connect
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.scripts.script import load
from redisson_dq.testing import TestClock
from redisson_dq.testing._scripts import CLOCK_KEY, timed
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.working.limits import Admission, Limit, Rate
from tests.conftest import by_night
from tests.integration.admitting import opened, told, words_of
from tests.integration.conftest import KEYS

VISIBLE = 30.0
MS = 1000
# The worker looks for slots at least so often.
LOOK_MS = 2000


def first_letter(value: str) -> str:
    return value[0]


class Machine(RuleBasedStateMachine):
    """Values are distinct. The scripts have the time that the machine says."""

    server: EmbeddedServer

    def __init__(self) -> None:
        super().__init__()
        self.ends = ExitStack()
        self.admin: Any = redis.Redis.from_url(self.server.url)
        self.ends.callback(self.admin.close)
        self.ends.enter_context(TestClock(self.server.url))
        client = self.ends.enter_context(connect(self.server.url, codec=StringCodec()))
        self.queue = opened(client)
        self.delayed = client.delayed_queue("orders", transfer=False)
        self.now_us = int(self.admin.get(CLOCK_KEY) or 0)
        self.made = 0
        self.held: dict[str, tuple[Any, float]] = {}
        #: Values whose leases had ended when the clock stepped back: others have had their slots since.
        self.lapsed: set[str] = set()
        self.retrying: set[str] = set()
        self.slots = self.most = 2
        self.rate: Rate | None = None
        self.keyed = self.by_key = self.in_turn = self.paused = False
        #: By key: the number of the value that began last.
        self.last: dict[str, int] = {}
        self.begun: set[str] = set()
        self.home = ""
        #: The times that were given for tokens do not hold: values were taken away, or the clock stepped back.
        self.gaps = False
        #: How many programs wait that take without a lease. Redis serves them before the worker.
        self.takers = 0
        #: The keys of values that those took.
        self.passed_by: set[str] = set()
        #: When the worker looks for a free slot by itself, in us.
        self.look_us = math.inf

    def teardown(self) -> None:
        self.ends.close()

    @initialize(
        keyed=st.booleans(),
        rate=st.sampled_from([None, None, Rate(10, per=1, burst=2), Rate(1, per=5)]),
        deliveries=st.sampled_from([0, 2]),
        home=st.sampled_from(["", "{h}"]),
        by_key=st.booleans(),
        in_turn=st.booleans(),
    )
    def begin(self, keyed: bool, rate: Rate | None, deliveries: int, home: str, by_key: bool, in_turn: bool) -> None:
        self.keyed, self.rate, self.home, self.by_key, self.in_turn = keyed, rate, home, by_key, in_turn
        if by_key and rate is not None:
            self.rate = attrs.evolve(rate, by=first_letter)
        self.queue = attrs.evolve(self.queue, limit=deliveries)

    # -- what is done ------------------------------------------------------------------------------------------------

    @property
    def by(self) -> Admission:
        limit = Limit(self.slots, by=first_letter if self.by_key else None)
        turns, key = first_letter if self.in_turn else None, first_letter if self.keyed else None
        return Admission(name="h", limit=limit, rate=self.rate, turns=turns, key=key)

    @property
    def source(self) -> LeaseSource:
        source = self.queue.source(VISIBLE, words_of(self.by, self.home))
        return attrs.evolve(source, tell_slots=self.note_slots)

    def note_slots(self, source: LeaseSource, next_slot_ms: int) -> None:
        if next_slot_ms == -2:
            # That call has not looked for slots.
            return
        wait = min(next_slot_ms or LOOK_MS, LOOK_MS)
        self.look_us = math.inf if next_slot_ms < 0 else self.now_us + wait * MS

    def round(self, count: int) -> None:
        """One look, and one admission of what it finds."""
        seen = self.queue.connections.run(self.source.peek(1000))
        self.take()
        # The next value of a key whose first one is gone comes with some admission, at the latest at its own time.
        if not (seen or self.keyed):
            return
        admitted, deliveries = told(self.queue, self.by, count, VISIBLE, self.home, seen)
        self.note_slots(self.source, admitted.next_slot_ms)
        for each in deliveries:
            self.begins(each.value)
            self.held[each.value] = each, self.now_us + VISIBLE * 1_000_000
            self.lapsed.discard(each.value)
            self.retrying.discard(each.value)
            self.passed_by.discard(each.value[0])
        if admitted.called_up:
            self.called_up()

    def begins(self, value: str) -> None:
        """Values of a key begin in the order in which they came; when one comes again does not matter."""
        letter, number = value[0], int(value[1:])
        if value not in self.begun and (self.by_key or self.in_turn or self.keyed):
            assert number > self.last.get(letter, -1), f"{value} after {letter}{self.last[letter]}"
            self.last[letter] = number
        self.begun.add(value)

    def take(self) -> None:
        """What is ready now goes to the programs that wait for it."""
        while self.takers and (value := self.admin.lpop(KEYS.ready)) is not None:
            self.takers -= 1
            self.retrying.discard(value.decode())
            self.gaps = True
            # The next value of its key goes on at its own time, at the latest.
            self.passed_by.add(value.decode()[0])

    def called_up(self) -> None:
        """A call may have called up values."""
        self.take()
        source = self.source
        while (request := source.call_up()) is not None and self.queue.connections.run(request):
            self.take()

    def transfer(self) -> None:
        script = load("transfer")
        keys = [getattr(KEYS, key) for key in script.keys]
        self.admin.eval(timed(script.source), len(keys), *keys, 100, 1000, "me", "one", 1, "deliver", "")

    def is_held(self, value: str) -> bool:
        return value in self.held and self.held[value][1] > self.now_us // MS * MS

    @rule(count=st.integers(1, 6), letters=st.sampled_from(["a", "ab", "abc"]))
    def add(self, count: int, letters: str) -> None:
        self.queue.add_all([f"{letters[each % len(letters)]}{self.made + each}" for each in range(count)])
        self.made += count
        self.take()

    @rule(count=st.integers(1, 4))
    def others_wait(self, count: int) -> None:
        self.takers = count
        self.take()

    @rule(count=st.integers(1, 3))
    def admit(self, count: int) -> None:
        self.round(count)

    @precondition(lambda self: self.held)
    @rule(
        data=st.data(),
        how=st.sampled_from(["ack", "ack", "back", "nack", "later", "reject", "extend"]),
        by_worker=st.booleans(),
    )
    def settle(self, data: st.DataObject, how: str, by_worker: bool) -> None:
        """An operator, or a worker that dies, looks after no value that was called up."""
        value = data.draw(st.sampled_from(sorted(self.held)))
        delivery, until_us = self.held[value]
        if how == "extend":
            if delivery.extend(VISIBLE):
                self.held[value] = delivery, self.now_us + VISIBLE * 1_000_000
            return
        del self.held[value]
        if how == "ack":
            is_done = delivery.ack()
        elif how == "reject":
            is_done = delivery.reject("no")
        elif how == "later":
            is_done = delivery.nack(3600)
            if is_done:
                self.retrying.add(value)
        else:
            is_done = delivery.nack(count=how == "nack")
        if not is_done and value in self.lapsed:
            # It was moved when its lease had ended. The clock says that it has not, and the slot is free when it has.
            self.held[value] = delivery, until_us
        self.called_up() if by_worker else self.take()

    @rule(span=st.sampled_from([1, 100, 1000, 10_000, 31_000, 120_000, 4_000_000]), by_java=st.booleans())
    def time_passes(self, span: int, by_java: bool) -> None:
        """Leases of receivers that died end, and what is due is moved."""
        self.now_us += span * MS
        self.admin.set(CLOCK_KEY, self.now_us)
        if not self.paused:
            if by_java:
                for member in self.admin.zrangebyscore(KEYS.timeout, "-inf", self.now_us // MS):
                    self.admin.rpush(KEYS.ready, unwrap(member)[1])
                    self.admin.lrem(KEYS.envelopes, 1, member)
                    self.admin.zrem(KEYS.timeout, member)
            else:
                self.transfer()
        self.take()
        if self.look_us <= self.now_us:
            self.called_up()

    @rule(span=st.sampled_from([1000, 60_000]))
    def the_clock_steps_back(self, span: int) -> None:
        self.gaps = True
        self.lapsed |= {value for value in self.held if not self.is_held(value)}
        self.now_us -= span * MS
        # The worker counts the time to its look by a clock that never steps.
        self.look_us -= span * MS
        self.admin.set(CLOCK_KEY, self.now_us)

    @rule(paused=st.booleans())
    def pause(self, paused: bool) -> None:
        self.paused = paused
        self.delayed.pause() if paused else self.delayed.resume()

    @rule(slots=st.integers(1, 4))
    def deploy(self, slots: int) -> None:
        self.slots, self.most = slots, max(self.most, slots)
        self.called_up()

    def waiting(self, leased: bool = False) -> dict[str, float]:
        """Values that wait, or those whose leases have not been moved, and their due times."""
        held = set(self.admin.zrange(KEYS.leases, 0, -1))
        members = self.admin.zrange(KEYS.timeout, 0, -1, withscores=True)
        found = ((*unwrap(member), due) for member, due in members)
        return {value.decode(): due for id, value, due in found if (id in held) is leased}

    @precondition(lambda self: self.waiting())
    @rule(data=st.data())
    def take_away(self, data: st.DataObject) -> None:
        value = data.draw(st.sampled_from(sorted(self.waiting())))
        assert self.delayed.remove(value)
        self.retrying.discard(value)
        self.gaps = True
        self.called_up()

    @rule()
    def everything_comes_at_once(self) -> None:
        """As after a step of the clock, or after a deployment that took longer than the visibility timeout."""
        self.time_passes(4_000_000, False)
        self.retrying.clear()

    @rule()
    def nothing_is_idle(self) -> None:
        if not self.is_used() and self.look_us > self.now_us:
            # Nothing has told of a slot that is free. A look follows.
            assert self.look_us <= self.now_us + LOOK_MS * MS, "no look follows"
            self.time_passes(LOOK_MS, False)
        assert self.is_used()

    def is_used(self) -> bool:
        """Whether no slot is free, or no value could take it."""
        if not self.paused:
            self.transfer()
        for number in range(200):
            # A receive that waits looks when a value comes.
            if not self.queue.size() and (number > 20 or not self.keyed):
                break
            self.round(1000)
        assert not self.queue.size(), "it comes to rest"
        held = [value for value in self.held if self.is_held(value)]
        # A value whose receiver has died keeps its turn, also while a pause holds it back.
        busy = (
            {value[0] for value in (*self.waiting(leased=True), *self.retrying, *self.passed_by)}
            if self.keyed
            else set()
        )
        able = {value: due for value, due in self.waiting().items() if value not in self.retrying}
        # A pause holds back those that are due.
        able = {value: due for value, due in able.items() if value[0] not in busy and due > self.now_us / MS}
        for letter in sorted({value[0] for value in able}) if self.by_key else ("",):
            mine = {value: due for value, due in able.items() if value.startswith(letter)}
            if not mine or len([value for value in held if value.startswith(letter)]) >= self.slots:
                continue
            if self.rate is None:
                note(f"{held} of {self.slots} slots, and {mine} wait")
                return False
            if self.paused or self.gaps:
                continue
            # Some value comes for the next token.
            interval = math.ceil(self.rate.per_us / self.rate.limit) / MS
            first = min(due for value, due in self.waiting().items() if value.startswith(letter))
            assert first <= self.now_us / MS + interval + 2, (first - self.now_us / MS, mine)
        return True

    @rule()
    def no_key_has_more_than_its_slots(self) -> None:
        """Also after leases that ended by themselves, and values that other programs took."""
        having = [value for value in self.held if self.is_held(value) and value not in self.lapsed]
        held = Counter(value[0] if self.by_key else "" for value in having)
        assert all(count <= self.most for count in held.values()), (held, self.most)


class _Chosen:
    """Stands for data that draws this value."""

    def __init__(self, value: str) -> None:
        self._value = value

    def draw(self, strategy: Any) -> str:
        return self._value


@pytest.mark.parametrize("how", ["ack", by_night("reject"), by_night("later")])
@pytest.mark.parametrize("home", ["", by_night("{h}")])
@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("by_key", [False, True])
@pytest.mark.parametrize("keyed", [False, True])
def test_another_program_takes_the_value_that_was_called_up(
    server: EmbeddedServer,
    monkeypatch: pytest.MonkeyPatch,
    keyed: bool,
    by_key: bool,
    in_turn: bool,
    home: str,
    how: str,
) -> None:
    """No call tells the worker of it. The next look fills the slot."""
    monkeypatch.setattr(f"{__name__}.note", print)
    Machine.server = server
    machine = Machine()
    try:
        machine.begin(keyed=keyed, rate=None, deliveries=0, home=home, by_key=by_key, in_turn=in_turn)
        machine.deploy(slots=1)
        machine.add(count=9, letters="ab")
        machine.nothing_is_idle()
        machine.settle(data=_Chosen("a0"), how=how, by_worker=True)
        called = machine.queue.size()
        assert called or (keyed and how == "later")
        machine.others_wait(count=called + 1)
        machine.nothing_is_idle()
        machine.no_key_has_more_than_its_slots()
    finally:
        machine.teardown()


@pytest.mark.parametrize("examples", [15, by_night(400)])
def test_no_slot_is_free_while_a_value_could_take_it(
    server: EmbeddedServer, examples: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """By night in parts, which end after some four minutes."""
    Machine.server = server
    began, done = time.monotonic(), 0
    while done < examples and (not done or time.monotonic() - began < 200):
        run_state_machine_as_test(Machine, settings=settings(max_examples=15, stateful_step_count=40, deadline=None))
        done += 15
        with capsys.disabled():
            print(f"\nwalks of admission: {done} after {time.monotonic() - began:.0f} s", end="", flush=True)
