"""Any calls on named items in any order, with few different values: no name is lost, none is another item's."""

from __future__ import annotations

from collections import Counter
from typing import Any

import redis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from redisson_dq import ItemState, Outcome, SettleOutcome, connect
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import DuplicateItemError
from tests.integration.conftest import KEYS
from tests.integration.test_leases_machine import HOUR, JAVA_TRANSFER
from tests.integration.whereabouts import whereabouts

VALUES = ["a", "b"]
WAITS = (ItemState.WAITING, ItemState.RETRYING, ItemState.PARKED)


class Machine(RuleBasedStateMachine):
    """Time passes when a rule makes Java move whatever waits."""

    server: EmbeddedServer
    envelope: Any = "current"

    def __init__(self) -> None:
        super().__init__()
        self.admin: Any = redis.Redis.from_url(self.server.url)
        self.admin.flushall()
        self.client = connect(self.server.url, codec=StringCodec(), envelope=self.envelope)
        self.queue = self.client.blocking_queue("orders", transfer=False, delivery_limit=None)
        self.delayed = self.client.delayed_queue("orders", transfer=False)
        self.made = 0
        #: The names of items that are not settled, and how often each was delivered.
        self.names: dict[str, str] = {}
        self.attempts: Counter[str] = Counter()
        self.held: dict[str, Any] = {}
        self.dead: set[str] = set()
        #: Deliveries of items that were cancelled.
        self.void: list[tuple[Any, str]] = []

    def settled(self, name: str) -> None:
        del self.names[name]
        self.dead.discard(name)
        self.held.pop(name, None)

    # -- rules -------------------------------------------------------------------------------------------------------

    @rule(value=st.sampled_from(VALUES), now=st.booleans())
    def offer(self, value: str, now: bool) -> None:
        name = f"n{self.made}"
        self.made += 1
        self.delayed.offer(value, 0 if now else HOUR, id=name)
        self.names[name] = value

    @rule(chance=st.randoms(use_true_random=False), how=st.sampled_from(["reject", "keep", "replace"]))
    @precondition(lambda self: self.names)
    def offer_again(self, chance: Any, how: Any) -> None:
        name = chance.choice(sorted(self.names))
        try:
            item = self.delayed.offer("b", HOUR, id=name, on_duplicate=how)
        except DuplicateItemError:
            assert how == "reject"
            return
        assert item.outcome is not None
        assert item.outcome.value == {"keep": "kept", "replace": "replaced"}[how]
        if how == "replace":
            self.cancelled(name)
            self.names[name] = "b"

    @rule()
    def java_moves_all(self) -> None:
        for member, score in self.admin.zrange(KEYS.timeout, 0, -1, withscores=True):
            if self.admin.zscore(KEYS.leases, member[1:11] if member[0] == 10 else member[:8]) is None:
                for item in self.delayed.items(0, 999):
                    item.run_now()
                break
            assert score > 0
        self.admin.eval(JAVA_TRANSFER, 3, KEYS.ready, KEYS.timeout, KEYS.envelopes, self.now_ms())

    def now_ms(self) -> int:
        seconds, micros = self.admin.time()
        return int(seconds * 1000 + micros // 1000 + 1)

    @rule()
    def receive(self) -> None:
        delivery = self.queue.receive(timeout=0, visibility_timeout=HOUR)
        if delivery is None:
            assert self.admin.llen(KEYS.ready) == 0
            return
        name = delivery.offer_id
        assert name is not None
        assert name not in self.held
        assert self.names[name] == delivery.value
        self.attempts[name] += 1
        assert delivery.attempt == self.attempts[name]
        self.held[name] = delivery

    @rule(chance=st.randoms(use_true_random=False), how=st.sampled_from(["ack", "nack", "later", "parked", "reject"]))
    @precondition(lambda self: self.held)
    def end(self, chance: Any, how: str) -> None:
        name = chance.choice(sorted(self.held))
        delivery = self.held.pop(name)
        if how == "ack":
            assert delivery.ack() is SettleOutcome.ACKED
            self.settled(name)
            assert self.delayed.cancel(name) is Outcome.DELIVERED
        elif how == "nack":
            assert delivery.nack() is SettleOutcome.RETURNED
        elif how == "later":
            assert delivery.nack(delay=HOUR) is SettleOutcome.DELAYED
        elif how == "parked":
            assert delivery.nack(delay=HOUR, count=False) is SettleOutcome.DELAYED
            self.attempts[name] -= 1
        else:
            assert delivery.reject("no") is SettleOutcome.DEAD_LETTERED
            self.dead.add(name)

    @rule(chance=st.randoms(use_true_random=False), nacks=st.booleans())
    @precondition(lambda self: self.void)
    def end_void(self, chance: Any, nacks: bool) -> None:
        delivery, _ = self.void.pop(chance.randrange(len(self.void)))
        assert (delivery.nack() if nacks else delivery.ack()) in (SettleOutcome.CANCELLED, SettleOutcome.ACKED)

    @rule(chance=st.randoms(use_true_random=False))
    @precondition(lambda self: self.names)
    def cancel(self, chance: Any) -> None:
        name = chance.choice(sorted(self.names))
        assert self.delayed.cancel(name) is Outcome.CANCELLED
        assert self.delayed.cancel(name) is Outcome.UNKNOWN
        self.cancelled(name)

    def cancelled(self, name: str) -> None:
        if name in self.held:
            self.void.append((self.held[name], self.names[name]))
        self.settled(name)
        del self.attempts[name]

    @rule(chance=st.randoms(use_true_random=False), now=st.booleans())
    @precondition(lambda self: self.names.keys() - self.held.keys())
    def reschedule(self, chance: Any, now: bool) -> None:
        name = chance.choice(sorted(self.names.keys() - self.held.keys()))
        assert self.delayed.reschedule(name, 0 if now else 2 * HOUR) is Outcome.RESCHEDULED
        if name in self.dead:
            self.dead.discard(name)
            self.attempts[name] = 0

    @rule()
    def redrive(self) -> None:
        assert self.queue.redrive().count == len(self.dead)
        for name in self.dead:
            self.attempts[name] = 0
        self.dead.clear()

    @rule()
    def plain_take(self) -> None:
        data = self.admin.lpop(KEYS.ready)
        if data is not None:
            gone = [name for name in self.names if self.delayed.find(name) is None]
            assert [self.names[name] for name in gone] == [data.decode()]
            # Java moved it a moment before its time, as its clock is ahead here.
            assert self.delayed.cancel(gone[0]) in (Outcome.DELIVERED, Outcome.UNKNOWN)
            self.settled(gone[0])

    @rule()
    def clear(self) -> None:
        states = {name: self.delayed.find(name).state for name in self.names}  # type: ignore[union-attr]
        self.delayed.clear()
        for name, state in states.items():
            if state in WAITS:
                self.settled(name)
                del self.attempts[name]

    # -- what holds --------------------------------------------------------------------------------------------------

    @invariant()
    def every_value_is_somewhere(self) -> None:
        expected = Counter(self.names.values()) + Counter(value for _, value in self.void)
        assert {key.decode(): count for key, count in whereabouts(self.admin).total.items()} == dict(expected)

    @invariant()
    def every_name_is_found(self) -> None:
        for name, value in self.names.items():
            item = self.delayed.find(name)
            assert item is not None, name
            assert (item.id, item.value, item.attempts) == (name, value, self.attempts[name])
            assert (item.state is ItemState.LEASED) == (name in self.held)
            assert (item.state is ItemState.DEAD) == (name in self.dead)

    def teardown(self) -> None:
        self.client.close()
        self.admin.close()


def test_any_calls_on_names(servers: Any) -> None:
    Machine.server = servers("redis")
    run_state_machine_as_test(Machine, settings=settings(max_examples=80, stateful_step_count=40, deadline=None))
