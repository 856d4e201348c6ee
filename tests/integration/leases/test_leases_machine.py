"""Any calls on leases in any order, against a model: the place of each value, and its deliveries."""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs
import pytest
import redis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from redisson_dq import SettleOutcome, connect
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import LeaseLostError
from redisson_dq.scripts.script import load
from redisson_dq.wire.keys import DeadKeys
from tests.conftest import by_night, eventually
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts

HOUR = 3600.0
LIMIT = 4
DEAD = DeadKeys.belonging_to("orders")

# What Redisson's transfer does, for entries of both lengths that stand in the zset alone.
JAVA_TRANSFER = """
local due = redis.call('zrangebyscore', KEYS[2], 0, ARGV[1], 'limit', 0, 100)
for _, member in ipairs(due) do
  local id, value = struct.unpack('Bc0Lc0', member)
  redis.call('rpush', KEYS[1], value)
  redis.call('lrem', KEYS[3], 1, member)
end
if #due > 0 then redis.call('zrem', KEYS[2], unpack(due)) end
return #due
"""


@attrs.define
class Model:
    """A value and its deliveries."""

    text: str
    attempt: int = 0
    failures: int = 0
    crashes: int = 0


class Machine(RuleBasedStateMachine):
    """Values are distinct, so each can be followed. Time passes when a rule moves deadlines into the past."""

    server: EmbeddedServer

    def __init__(self) -> None:
        super().__init__()
        self.admin = redis.Redis.from_url(self.server.url)
        self.admin.flushall()
        self.client = connect(self.server.url, codec=StringCodec())
        self.queue = self.client.blocking_queue("orders", transfer=False, delivery_limit=LIMIT)
        self.delayed = self.client.delayed_queue("orders", transfer=False)
        self.effects = self.client.blocking_queue("effects", transfer=False)
        self.made = 0
        self.arrived: list[Model] = []
        self.ready: list[Model] = []
        self.waiting: dict[str, Model] = {}
        self.held: list[tuple[Any, Model]] = []
        self.over: list[Any] = []
        self.dead: list[Model] = []

    def teardown(self) -> None:
        self.client.close()
        self.admin.close()

    def new(self) -> Model:
        self.made += 1
        return Model(f"v{self.made}")

    @rule(count=st.integers(1, 4))
    def add(self, count: int) -> None:
        models = [self.new() for _ in range(count)]
        self.queue.add_all([model.text for model in models])
        self.ready += models

    @rule(context=st.booleans())
    def offer(self, context: bool) -> None:
        model = self.new()
        self.delayed.offer(model.text, HOUR, context={"of": model.text} if context else None)
        self.waiting[model.text] = model

    @rule(limit=st.integers(1, 5))
    def receive(self, limit: int) -> None:
        expected: list[Model] = []
        while (self.arrived or self.ready) and len(expected) < limit:
            model = (self.arrived or self.ready).pop(0)
            if model.attempt >= LIMIT:
                self.dead.append(model)
            else:
                expected.append(model)
        batch = self.queue.receive(limit, timeout=0, visibility_timeout=HOUR)
        for each, model in zip(batch, expected, strict=True):
            model.attempt += 1
            found = (each.value, each.attempt, each.failures, each.crashes)
            assert found == (model.text, model.attempt, model.failures, model.crashes)
            assert each.context in ({}, {"of": model.text})
            self.held.append((each, model))

    @precondition(lambda self: self.held)
    @rule(data=st.data(), how=st.sampled_from(["ack", "nack", "delay", "back", "reject", "extend"]))
    def settle(self, data: st.DataObject, how: str) -> None:
        chosen = data.draw(st.lists(st.sampled_from(range(len(self.held))), min_size=1, max_size=6, unique=True))
        picked = [self.held[i] for i in chosen]
        deliveries = [delivery for delivery, _ in picked]
        if how == "extend":
            assert self.queue.extend_all(deliveries, 2 * HOUR) == [SettleOutcome.EXTENDED] * len(picked)
            return
        self.held = [pair for i, pair in enumerate(self.held) if i not in chosen]
        self.over += deliveries
        if how == "ack":
            assert all(self.queue.ack_all(deliveries))
        elif how == "reject":
            assert all(self.queue.reject_all(deliveries))
            self.dead += [model for _, model in picked]
        elif how == "back":
            assert all(self.queue.nack_all(deliveries, count=False))
            for _, model in picked:
                model.attempt -= 1
            self.ready = [model for _, model in picked] + self.ready
        else:
            outcomes = self.queue.nack_all(deliveries, delay=HOUR if how == "delay" else None)
            for outcome, (_, model) in zip(outcomes, picked, strict=True):
                model.failures += 1
                if model.attempt >= LIMIT:
                    assert outcome is SettleOutcome.DEAD_LETTERED
                    self.dead.append(model)
                elif how == "delay":
                    assert outcome is SettleOutcome.DELAYED
                    self.waiting[model.text] = model
                else:
                    assert outcome is SettleOutcome.RETURNED
                    self.ready.append(model)

    @precondition(lambda self: self.over)
    @rule(data=st.data())
    def late(self, data: st.DataObject) -> None:
        delivery = data.draw(st.sampled_from(self.over))
        for call in (delivery.ack, delivery.nack, delivery.reject, lambda: delivery.extend(5)):
            assert call() is SettleOutcome.LOST

    @precondition(lambda self: self.held)
    @rule(data=st.data(), java=st.booleans())
    def lapse(self, data: st.DataObject, java: bool) -> None:
        """The deadlines of some leases pass, and somebody moves the values."""
        chosen = data.draw(st.lists(st.sampled_from(range(len(self.held))), min_size=1, max_size=4, unique=True))
        picked = [self.held[i] for i in chosen]
        self.held = [pair for i, pair in enumerate(self.held) if i not in chosen]
        for place, (delivery, model) in enumerate(picked):
            id = bytes.fromhex(delivery.id)
            (member,) = [each for each in self.admin.zrange(KEYS.timeout, 0, -1) if each[1:11] == id]
            self.admin.execute_command("ZADD", KEYS.timeout, place + 1, member)
            self.admin.execute_command("ZADD", KEYS.leases, place + 1, id)
            self.over.append(delivery)
            model.crashes += 1
            self.ready.append(model)
        if java:
            moved = self.admin.eval(JAVA_TRANSFER, 3, KEYS.ready, KEYS.timeout, KEYS.envelopes, 1000)
            assert moved == len(picked)
        else:
            script = load("transfer")
            keys = [getattr(KEYS, key) for key in script.keys]
            assert self.admin.eval(script.source, len(keys), *keys, 100, 1000, "me", "one", 1, "deliver", "")[0] == len(
                picked
            )

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def come_due(self, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(sorted(self.waiting)))
        (item,) = [item for item in self.delayed.items(0, 999) if item.value == text]
        item.run_now()
        script = load("transfer")
        keys = [getattr(KEYS, key) for key in script.keys]
        # The due time is rounded up, so it may be a millisecond away.
        eventually(
            lambda: self.admin.eval(script.source, len(keys), *keys, 100, 1000, "me", "one", 1, "deliver", "")[0] == 1
        )
        self.ready.append(self.waiting.pop(text))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), done=st.booleans())
    def take_due(self, data: st.DataObject, done: bool) -> None:
        """Leased where it waits, without a transfer between."""
        text = data.draw(st.sampled_from(sorted(self.waiting)))
        (item,) = [item for item in self.delayed.items(0, 999) if item.value == text]
        item.run_now()
        (each,) = eventually(lambda: self.delayed.take_due(visibility_timeout=HOUR))
        model = self.waiting.pop(text)
        model.attempt += 1
        assert (each.value, each.attempt, each.failures) == (model.text, model.attempt, model.failures)
        self.over.append(each)
        if done:
            assert each.ack()
        else:
            assert each.reject()
            self.dead.append(model)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), done=st.booleans())
    def in_one_transaction(self, data: st.DataObject, done: bool) -> None:
        """Its effect is there exactly if the lease was held."""
        place = data.draw(st.sampled_from(range(len(self.held))))
        delivery, _ = self.held[place]
        over = data.draw(st.sampled_from(self.over)) if self.over and not done else None
        try:
            with self.client.pipeline(transaction=True) as pipe:
                for each in filter(None, (delivery, over)):
                    pipe.add(each.requests.ack())
                pipe.add(self.effects.requests.add("done"))
        except LeaseLostError:
            assert over is not None
            assert not self.admin.exists("effects")
            return
        assert over is None
        assert self.admin.lpop("effects", 9) == [b"done"]
        del self.held[place]
        self.over.append(delivery)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(sorted(self.waiting)))
        assert self.delayed.remove(text)
        del self.waiting[text]

    @rule()
    def clear_waiting(self) -> None:
        self.delayed.clear()
        self.waiting.clear()

    @precondition(lambda self: self.ready)
    @rule()
    def java_takes(self) -> None:
        assert self.admin.lpop(KEYS.ready) == self.ready.pop(0).text.encode()

    @precondition(lambda self: self.ready)
    @rule()
    def somebody_dies_before_the_look(self) -> None:
        """The next receive begins with what stands in the list of arrivals."""
        self.admin.lmove(KEYS.ready, KEYS.arrivals, "LEFT", "RIGHT")
        self.arrived.append(self.ready.pop(0))

    @precondition(lambda self: self.dead)
    @rule(count=st.integers(1, 3))
    def redrive(self, count: int) -> None:
        assert self.queue.redrive(limit=count).count == min(count, len(self.dead))
        for model in self.dead[:count]:
            model.attempt = model.failures = model.crashes = 0
            self.ready.append(model)
        del self.dead[:count]

    @precondition(lambda self: self.dead)
    @rule(data=st.data(), limit=st.integers(1, 3), other=st.booleans())
    def redrive_by_ids(self, data: st.DataObject, limit: int, other: bool) -> None:
        chosen = data.draw(st.lists(st.sampled_from(range(len(self.dead))), min_size=1, max_size=4))
        letters = self.queue.dead_letters(0, 999)
        ids = ["00ff", *(letters[place].id for place in chosen)]
        moved = [self.dead[place] for place in dict.fromkeys(chosen)][:limit]
        done = self.queue.redrive(ids, limit, to="other" if other else None)
        self.dead = [model for model in self.dead if model not in moved]
        assert (done.count, done.left) == (len(moved), len(self.dead))
        if other:
            assert self.admin.lrange("other", 0, -1) == [model.text.encode() for model in moved]
            self.admin.delete("other")
            return
        for model in moved:
            model.attempt = model.failures = model.crashes = 0
            self.ready.append(model)

    @precondition(lambda self: self.dead)
    @rule(data=st.data())
    def purge(self, data: st.DataObject) -> None:
        place = data.draw(st.sampled_from(range(len(self.dead))))
        letter = self.queue.dead_letters(0, 999)[place]
        assert letter.value == self.dead[place].text
        assert self.queue.purge_dead([letter]) == 1
        del self.dead[place]

    @invariant()
    def everything_is_where_the_model_has_it(self) -> None:
        found = whereabouts(self.admin)
        assert list(found.ready.elements()) == [model.text.encode() for model in self.ready]
        assert list(found.arrivals.elements()) == [model.text.encode() for model in self.arrived]
        assert found.waiting == _counted(self.waiting.values())
        assert found.leased == _counted(model for _, model in self.held)
        letters = self.queue.dead_letters(0, 999)
        assert [(each.value, each.attempts, each.failures, each.crashes) for each in letters] == [
            (model.text, model.attempt, model.failures, model.crashes) for model in self.dead
        ]
        assert self.delayed.size() == len(self.waiting)
        assert sorted(item.value for item in self.delayed.items(0, 999)) == sorted(self.waiting)
        assert self.queue.in_flight_size() == len(self.held)


def _counted(models: Any) -> Counter[bytes]:
    return Counter(model.text.encode() for model in models)


@pytest.mark.parametrize("examples", [15, by_night(60)])
def test_any_calls_in_any_order(server: EmbeddedServer, examples: int) -> None:
    Machine.server = server
    run_state_machine_as_test(Machine, settings=settings(max_examples=examples, stateful_step_count=40, deadline=None))
