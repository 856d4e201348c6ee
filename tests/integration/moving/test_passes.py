"""Entries that only a pass finds: whatever happens between its calls, each is delivered once, in order of due time."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.scheduling.hints import Hints
from redisson_dq.wire.envelope import Envelope, unwrap, wrap
from tests.conftest import by_night, eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.movers import Mover

#: An entry's key and its place, as a transfer gets them.
HINT = struct.Struct("<8sI")
PAST, FAR = 1_000_000, 4_000_000_000_000


class Queue:
    """The keys of a queue, as clients other than the mover see and change them. Values are numbers."""

    def __init__(self, admin: Any, seed: int) -> None:
        self.admin, self.draw = admin, random.Random(seed)
        self._count = 0
        #: When the next entry is offered, by the clock of the offers.
        self.us = time.time_ns() // 1000 - 10_000_000
        #: The values to be delivered, by the checked calls and by others.
        self.delivered: list[bytes] = []

    def restored(self, admin: Any) -> Queue:
        """This queue once more, now, on a server that has its keys again."""
        again = Queue(admin, 0)
        again.draw.setstate(self.draw.getstate())
        again._count = self._count
        return again

    def offer(self, count: int, java: float, due_ms: Callable[[], int] | None = None) -> list[bytes]:
        """Puts entries in, a share of them with Java's random ids, in both formats; due in another order."""
        members = []
        for _ in range(count):
            self._count += 1
            self.us += self.draw.choice((0, 1, 4000))
            ours = (self.us << 12 | self._count % 4096).to_bytes(8, "big")
            id_ = self.draw.randbytes(8) if self.draw.random() < java else ours
            members.append(wrap(self.draw.choice(list(Envelope)[:2]), id_, b"%d" % self._count))
        due = due_ms or (lambda: PAST + self.draw.randrange(200))
        self.admin.zadd(KEYS.timeout, {member: due() for member in members})
        self.admin.rpush(KEYS.envelopes, *members)
        return members

    def listed(self) -> list[bytes]:
        found: list[bytes] = self.admin.lrange(KEYS.envelopes, 0, -1)
        return found

    def due(self) -> list[bytes]:
        found: list[bytes] = self.admin.zrange(KEYS.timeout, "-inf", PAST + 1000, byscore=True)
        return found

    def ready(self) -> list[bytes]:
        found: list[bytes] = self.admin.lrange(KEYS.ready, 0, -1)
        return found

    def checked(self, mover: Mover) -> int:
        """One call of a mover, which must deliver the first due entries, and change nothing else."""
        due, listed, ready, all_ = self.due(), self.listed(), self.ready(), self.admin.zcard(KEYS.timeout)
        moved = mover.move().moved
        gone = set(due[:moved])
        assert self.ready() == [*ready, *(value(member) for member in due[:moved])]
        assert self.due() == due[moved:]
        assert self.admin.zcard(KEYS.timeout) == all_ - moved
        assert self.listed() == [member for member in listed if member not in gone]
        return moved

    def drained(self, mover: Mover, most: int) -> None:
        """Nobody interferes now: so many calls are enough."""
        for _ in range(most):
            self.checked(mover)
            if not self.due():
                return
        pytest.fail(f"{len(self.due())} are still due after {most} calls: {mover.steps[-20:]}")


def value(member: bytes) -> bytes:
    found = unwrap(member)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("java", [by_night(1.0), by_night(0.5), 0.05, by_night(0.0)])
def test_a_long_list_is_drained_in_due_order_by_a_pass(admin: Any, java: float) -> None:
    queue, mover = Queue(admin, 1), Mover(admin)
    queue.offer(600, java)
    late = queue.offer(50, java, lambda: FAR)
    queue.drained(mover, 300)
    assert queue.listed() == late
    assert b"keys" in mover.steps
    assert any(step.isdigit() for step in mover.steps), "more than one slice"


@pytest.mark.parametrize("java", [1.0, by_night(0.5), by_night(0.0)])
def test_on_a_slow_server_each_call_does_less(admin: Any, java: float) -> None:
    """And all of them together do the same."""
    calls = {}
    for slowness in (1.0, 8.0, 32.0):
        queue, mover = Queue(admin, 1), Mover(admin, in_haste=False, slowness=slowness)
        queue.offer(20_000, java, lambda: FAR)
        due = queue.draw.sample(queue.listed(), 3_000)
        admin.zadd(KEYS.timeout, dict.fromkeys(due, PAST))
        while queue.due():
            assert mover.move().role != "reserve"
        assert admin.zcard(KEYS.timeout) == admin.llen(KEYS.envelopes) == 17_000
        calls[slowness] = len(mover.steps)
        admin.flushall()
    assert 2 * calls[1.0] < min(calls[8.0], calls[32.0])


#: Each figure that Pace can come to on the way down from each figure that it can come to on the way up.
PACES = sorted({max(1.0, 2.0**up / 1.25**down) for up in range(6) for down in range(17)})


@pytest.mark.parametrize("every", [6, by_night(1)])
def test_whatever_was_learned_of_the_server_each_call_moves_some(admin: Any, every: int) -> None:
    """Due in offer order, and more than one call of a slow server moves."""
    for slowness in PACES[::-every]:
        queue, mover = Queue(admin, 23), Mover(admin, in_haste=False, slowness=slowness)
        due = iter(range(PAST, PAST + 1000))
        queue.offer(1000, 0.0, lambda: next(due))  # noqa: B023
        queue.drained(mover, 100)
        admin.flushall()


def test_on_the_slowest_server_a_call_moves_enough_for_its_way_along_the_list(admin: Any) -> None:
    queue, mover = Queue(admin, 19), Mover(admin, in_haste=False, slowness=32.0)
    for _ in range(12):
        queue.offer(10_000, 1.0)
    mover.move()
    while mover.hints.words()[0] != b"deliver":
        mover.move()
    # 16 are the least.
    assert max(mover.move().moved for _ in range(9)) > 32


def test_few_are_left_to_lrem_without_a_pass(admin: Any) -> None:
    queue, mover = Queue(admin, 2), Mover(admin)
    queue.offer(300, 1.0, lambda: FAR)
    for member in queue.draw.sample(queue.listed(), 3):
        admin.zadd(KEYS.timeout, {member: PAST})
    queue.drained(mover, 3)
    assert set(mover.steps) == {b"deliver"}


def test_in_the_order_of_the_offers_no_pass_is_needed(admin: Any) -> None:
    queue, mover = Queue(admin, 3), Mover(admin)
    dues = iter(range(PAST, PAST + 500))
    queue.offer(500, 1.0, lambda: next(dues))
    queue.drained(mover, 60)
    assert set(mover.steps) == {b"deliver"}


def test_in_the_reverse_order_no_pass_is_needed(admin: Any) -> None:
    queue, mover = Queue(admin, 4), Mover(admin)
    dues = iter(range(PAST + 500, PAST, -1))
    queue.offer(500, 1.0, lambda: next(dues))
    queue.drained(mover, 60)
    assert set(mover.steps) == {b"deliver"}


def test_nothing_changes_while_a_pass_is_under_way(admin: Any) -> None:
    queue, mover = Queue(admin, 5), Mover(admin)
    queue.offer(400, 1.0)
    while mover.hints.words()[0] == b"deliver":
        mover.move()
    before = {key: admin.dump(key) for key in admin.keys("*")}
    while mover.hints.words()[0] != b"deliver":
        assert mover.move().moved == 0
        assert {key: admin.dump(key) for key in admin.keys("*")} == before
    assert mover.move().moved > 0


def test_entries_that_stand_in_no_list_are_delivered_all_the_same(admin: Any) -> None:
    """Redisson's retainAll takes entries out of the list alone."""
    queue, mover = Queue(admin, 6), Mover(admin)
    members = queue.offer(300, 1.0)
    for member in queue.draw.sample(members, 150):
        admin.lrem(KEYS.envelopes, 1, member)
    queue.drained(mover, 400)
    assert not admin.exists(KEYS.envelopes, KEYS.timeout)


def test_lean_entries_between_are_delivered_in_their_turn(admin: Any) -> None:
    queue, mover = Queue(admin, 7), Mover(admin)
    queue.offer(200, 0.7)
    lean = {wrap(Envelope.CURRENT, queue.draw.randbytes(8) + b"\0", b"lean %d" % i): PAST + i for i in range(200)}
    admin.zadd(KEYS.timeout, lean)
    queue.drained(mover, 400)
    assert not admin.exists(KEYS.envelopes, KEYS.timeout)


def java_takes_them(queue: Queue, members: list[bytes]) -> None:
    for member in members:
        queue.admin.zrem(KEYS.timeout, member)
        queue.admin.lrem(KEYS.envelopes, 1, member)


def lean_ones_come(queue: Queue, members: list[bytes]) -> None:
    java_takes_them(queue, members)
    ids = (queue.draw.randbytes(8) + b"\0" for _ in members)
    queue.admin.zadd(KEYS.timeout, {wrap(Envelope.CURRENT, id_, b"lean"): PAST + 59 for id_ in ids})


def leases_end(queue: Queue, members: list[bytes]) -> None:
    java_takes_them(queue, members)
    for number, _ in enumerate(members):
        id_ = queue.draw.randbytes(10)
        queue.admin.zadd(KEYS.timeout, {wrap(Envelope.CURRENT, id_, b"%d" % number): PAST + 59})
        queue.admin.zadd(KEYS.leases, {id_: PAST + 59})


@pytest.mark.parametrize("during", ["the pass", "the delivery"])
@pytest.mark.parametrize("event", [java_takes_them, lean_ones_come, leases_end])
def test_a_pass_whose_last_hint_nobody_needs_is_followed_by_another(admin: Any, event: Any, during: str) -> None:
    """Otherwise each call would move one entry, because one hint is left."""
    queue, mover = Queue(admin, 16), Mover(admin)
    dues = iter(range(PAST, PAST + 300))
    members = queue.offer(300, 1.0, lambda: next(dues))
    # The first of the list is due last, and the others in no order.
    queue.admin.delete(KEYS.envelopes)
    queue.admin.rpush(KEYS.envelopes, members[-1], *queue.draw.sample(members[:-1], 299))
    if during == "the pass":
        event(queue, members[59:60])
    while mover.hints.words()[0] == b"deliver":
        mover.move()
    while mover.hints.words()[0] != b"deliver":
        mover.move()
    if during == "the delivery":
        event(queue, members[59:60])
    queue.drained(mover, 120)
    assert mover.steps.count(b"end") == 5


def test_a_last_hint_whose_entry_others_took_out_is_given_once() -> None:
    hints, keys = Hints(), [b"key %04d" % number for number in range(17)]
    hints.answered(b"lost")
    hints.answered(b"keys", b"".join(keys), 17)
    hints.answered(b"0", b"".join(HINT.pack(key, place) for place, key in enumerate(keys)))
    hints.answered(b"found", 16)
    assert hints.words() == (b"deliver", HINT.pack(keys[16], 0))
    hints.answered(b"found", 0)
    assert hints.words() == (b"keys", 0)


def test_short_members_in_no_format_are_set_aside_by_a_pass_too(admin: Any) -> None:
    queue, mover = Queue(admin, 8), Mover(admin)
    members = queue.offer(300, 1.0)
    junk = [b"", b"x", b"short", b"\x08" * 9, b"junk that is longer than any key"]
    for number, member in enumerate(junk):
        admin.zadd(KEYS.timeout, {member: PAST + 50 + number})
        admin.rpush(KEYS.envelopes, member)
    while queue.due():
        mover.move()
    assert sorted(queue.ready()) == sorted(map(value, members))
    assert not admin.exists(KEYS.envelopes, KEYS.timeout)
    assert [element.partition(b" ")[2] for element in admin.lrange(KEYS.quarantine, 0, -1)] == junk


def test_entries_with_equal_keys_are_told_apart(admin: Any) -> None:
    """Legacy ids may differ in their first byte alone, which is no part of a key."""
    queue, mover = Queue(admin, 9), Mover(admin)
    queue.offer(120, 1.0)
    members = [wrap(Envelope.LEGACY, bytes([first]) + b"same id", b"%d" % first) for first in range(10, 50)]
    queue.draw.shuffle(members)
    admin.zadd(KEYS.timeout, {member: PAST + queue.draw.randrange(9) for member in members})
    admin.rpush(KEYS.envelopes, *members)
    queue.offer(120, 1.0)
    queue.drained(mover, 800)


def test_a_batch_of_one_gets_on_by_one_pass(admin: Any) -> None:
    queue, mover = Queue(admin, 10), Mover(admin, batch=1)
    queue.offer(150, 1.0)
    queue.drained(mover, 600)
    # 60 a pass: two and a half.
    assert mover.steps.count(b"end") <= 3


def test_who_is_paused_or_in_reserve_forgets_its_pass(admin: Any) -> None:
    queue, mover = Queue(admin, 11), Mover(admin)
    queue.offer(300, 1.0)
    while not mover.hints.words()[0].isdigit():
        mover.move()
    admin.hset(KEYS.settings, "paused", "1")
    assert queue.checked(mover) == 0
    assert mover.hints.words() == (b"deliver", b"")
    admin.delete(KEYS.settings)
    queue.drained(mover, 300)


def test_two_movers_in_turn_get_on(admin: Any) -> None:
    queue, one, other = Queue(admin, 12), Mover(admin, "one"), Mover(admin, "other")
    queue.offer(500, 0.9)
    for _ in range(400):
        queue.checked(queue.draw.choice((one, other)))
    queue.drained(one, 200)


# -- interference ----------------------------------------------------------------------------------------------------


def java_polls(queue: Queue) -> None:
    for _ in range(queue.draw.choice((1, 3, 40))):
        member = queue.admin.lpop(KEYS.envelopes)
        if member:
            queue.admin.zrem(KEYS.timeout, member)


def java_removes(queue: Queue) -> None:
    listed = queue.listed()
    for member in queue.draw.sample(listed, min(len(listed), queue.draw.choice((1, 10)))):
        queue.admin.zrem(KEYS.timeout, member)
        queue.admin.lrem(KEYS.envelopes, 1, member)


def java_transfers(queue: Queue) -> None:
    for member in queue.due()[: queue.draw.choice((1, 30))]:
        queue.admin.rpush(KEYS.ready, value(member))
        queue.admin.lrem(KEYS.envelopes, 1, member)
        queue.admin.zrem(KEYS.timeout, member)


def java_retains(queue: Queue) -> None:
    for member in queue.draw.sample(queue.listed(), min(5, len(queue.listed()))):
        queue.admin.lrem(KEYS.envelopes, 1, member)


def somebody_offers(queue: Queue) -> None:
    queue.offer(queue.draw.choice((1, 20)), 0.5, lambda: queue.draw.choice((PAST - 50, PAST + 150, FAR)))


def somebody_reschedules(queue: Queue) -> None:
    members = queue.admin.zrange(KEYS.timeout, 0, -1)
    for member in queue.draw.sample(members, min(9, len(members))):
        queue.admin.zadd(KEYS.timeout, {member: queue.draw.choice((PAST - 90, PAST + 199, FAR))}, xx=True)


def the_list_is_turned_round(queue: Queue) -> None:
    """As when a dump is restored, or another queue renamed to this one."""
    listed = queue.listed()
    if listed:
        queue.admin.delete(KEYS.envelopes)
        queue.admin.rpush(KEYS.envelopes, *queue.draw.sample(listed, len(listed)))


def another_queue_comes(queue: Queue) -> None:
    queue.admin.delete(KEYS.envelopes, KEYS.timeout)
    queue.offer(150, 0.8)


EVENTS = [
    *(java_polls, java_removes, java_transfers, java_retains, somebody_offers, somebody_reschedules),
    *(the_list_is_turned_round, another_queue_comes),
]


@pytest.mark.parametrize("event", EVENTS)
def test_what_others_do_between_two_calls_confuses_no_pass(admin: Any, event: Any) -> None:
    for seed in range(2):
        queue, mover = Queue(admin, seed), Mover(admin)
        queue.offer(200, 0.9)
        for _ in range(40):
            queue.checked(mover)
            if queue.draw.random() < 0.3:
                event(queue)
        queue.drained(mover, 500)
        admin.flushall()


@pytest.mark.parametrize("seed", [0, 1, *map(by_night, range(2, 4))])
def test_any_mixture_of_it_confuses_no_pass(admin: Any, seed: int) -> None:
    queue, movers = Queue(admin, 100 + seed), [Mover(admin, "one"), Mover(admin, "other", 7)]
    queue.offer(200, queue.draw.random())
    for _ in range(100):
        mover = queue.draw.choice(movers)
        queue.checked(mover)
        what = queue.draw.random()
        if what < 0.3:
            queue.draw.choice(EVENTS)(queue)
        elif what < 0.35:
            mover.hints.forget()
    queue.drained(movers[0], 600)


@pytest.mark.parametrize("seed", range(2))
def test_wrong_hints_cost_time_and_nothing_else(admin: Any, seed: int) -> None:
    queue, mover = Queue(admin, 200 + seed), Mover(admin)
    spoilt = 0

    def spoil(hints: bytes) -> bytes:
        nonlocal spoilt
        pairs = list(HINT.iter_unpack(hints))
        for wrong in queue.draw.sample(range(len(pairs)), len(pairs) // 2):
            pairs[wrong] = pairs[wrong][0], queue.draw.randrange(512)
            spoilt += 1
        return b"".join(HINT.pack(key, place) for key, place in pairs)

    mover.spoil = spoil
    queue.offer(300, 1.0)
    for _ in range(100):
        queue.checked(mover)
    assert spoilt
    mover.spoil = bytes
    queue.drained(mover, 600)


# -- how much one call does ------------------------------------------------------------------------------------------
# It must not depend on a clock: Valkey's is stopped while a script runs.


def test_no_call_of_a_pass_reads_all_of_a_long_list(admin: Any) -> None:
    queue, mover = Queue(admin, 13), Mover(admin, in_haste=False)
    count = 60_000
    for _ in range(12):
        queue.offer(count // 12, 1.0)
    mover.move()
    while mover.hints.words()[0] != b"deliver":
        mover.move()
        assert len(mover.steps) < 100
    assert mover.steps.count(b"keys") >= count // 12_500
    assert sum(step.isdigit() for step in mover.steps) >= count // 16_500
    assert 1 <= mover.move().moved < 2000


def large_values(queue: Queue, count: int, few_small: int) -> list[bytes]:
    """Puts in values of 20 KB, and some small ones: due first, and at both ends of the list. Gives the large ones."""
    large = [wrap(Envelope.CURRENT, queue.draw.randbytes(8), b"%05d" % n + b"x" * 20_000) for n in range(count)]
    small = [wrap(Envelope.CURRENT, queue.draw.randbytes(8), b"%d" % n) for n in range(few_small)]
    with queue.admin.pipeline(transaction=False) as pipeline:
        for member in (*small[: few_small // 2], *large, *small[few_small // 2 :]):
            pipeline.zadd(KEYS.timeout, {member: PAST + (queue.draw.randrange(99) if len(member) > 20_000 else -1)})
            pipeline.rpush(KEYS.envelopes, member)
        pipeline.execute()
    return large


@pytest.mark.parametrize("few_small", [0, 60])
def test_large_values_make_smaller_slices(admin: Any, few_small: int) -> None:
    queue, mover = Queue(admin, 14), Mover(admin, in_haste=False)
    large_values(queue, 2000, few_small)
    mover.hints.answered(b"lost")
    while mover.hints.words()[0] != b"deliver":
        assert mover.move().moved == 0
    assert mover.steps.count(b"keys") >= 2
    assert len(mover.steps) - mover.steps.count(b"keys") >= 2


@pytest.mark.parametrize("slowness", [by_night(1.0), 32.0])
@pytest.mark.parametrize("few_small", [0, 60])
@pytest.mark.parametrize("order", ["offers", "random", "lean"])
def test_a_call_moves_a_million_bytes_at_most(admin: Any, order: str, few_small: int, slowness: float) -> None:
    queue, mover = Queue(admin, 17), Mover(admin, in_haste=False, slowness=slowness)
    large = large_values(queue, 120, few_small)
    if order == "offers":
        admin.zadd(KEYS.timeout, {member: PAST + number for number, member in enumerate(large)})
    elif order == "lean":
        members = admin.zrange(KEYS.timeout, 0, -1, withscores=True)
        admin.delete(KEYS.timeout, KEYS.envelopes)
        lean = {wrap(Envelope.CURRENT, unwrap(m)[0] + b"\0", unwrap(m)[1]): due_ms for m, due_ms in members}
        admin.zadd(KEYS.timeout, lean)
    due = queue.due()
    most = max(1_000_000 / slowness, max(map(len, due)))
    while due:
        moved = mover.move().moved
        assert sum(map(len, due[:moved])) <= most
        due = due[moved:]
    at_once = most // max(map(len, large))
    assert len(mover.steps) < 1.5 * 120 / at_once + 60, "each call moves about as much as it may"
    assert admin.llen(KEYS.ready) == 120 + few_small
    assert not admin.exists(KEYS.envelopes, KEYS.timeout)


def test_what_stands_behind_large_values_is_taken_out_of_the_list_too(admin: Any) -> None:
    """The call reads the front of the list, and not as far as to the first entry that is due."""
    queue, mover = Queue(admin, 18), Mover(admin, in_haste=False)
    large = [wrap(Envelope.CURRENT, queue.draw.randbytes(8), b"x" * 50_000) for _ in range(60)]
    small = [wrap(Envelope.CURRENT, queue.draw.randbytes(8), b"%d" % n) for n in range(60)]
    admin.zadd(KEYS.timeout, dict.fromkeys(large, FAR) | dict.fromkeys(small, PAST))
    admin.rpush(KEYS.envelopes, *large[:55], *small, *large[55:])
    queue.drained(mover, 10)


def test_a_long_call_is_no_silence_of_the_mover(admin: Any) -> None:
    """The reserve's call may wait for the end of the mover's, and comes right behind it."""
    queue, mover = Queue(admin, 15), Mover(admin, in_cluster=True)
    queue.offer(300, 1.0)
    mover.move()
    seconds, us = admin.time()
    admin.set(KEYS.mover, f"mover {seconds * 1_000_000 + us + 40_000} 0")
    assert Mover(admin, "reserve", in_cluster=True).move().role == "reserve"
    admin.set(KEYS.mover, f"mover {seconds * 1_000_000 + us - 3_000_000} 0")
    assert Mover(admin, "reserve", in_cluster=True).move().role == "mover"


# -- the whole client ------------------------------------------------------------------------------------------------


def test_a_client_drains_a_long_list_of_javas_by_a_pass(flavour: Flavour, url: str, admin: Any) -> None:
    count = 60_000
    draw = random.Random(1)
    members = [wrap(Envelope.CURRENT, draw.randbytes(8), b"%d" % number) for number in range(count)]
    due_ms = {member: PAST + draw.randrange(1000) for member in members}
    for first in range(0, count, 5000):
        part = members[first : first + 5000]
        admin.zadd(KEYS.timeout, {member: due_ms[member] for member in part})
        admin.rpush(KEYS.envelopes, *part)
    expected = [value(member).decode() for member in admin.zrange(KEYS.timeout, 0, -1)]
    admin.config_set("slowlog-max-len", 10_000)
    # In us. With 0 all that the scripts run would be there too.
    admin.config_set("slowlog-log-slower-than", 500)
    admin.slowlog_reset()
    try:
        with flavour.connect(url, codec=StringCodec()) as client:
            queue = moving(client.blocking_queue("orders"))
            eventually(lambda: admin.llen(KEYS.ready) == count)
            calls = [entry["command"].split() for entry in admin.slowlog_get(10_000)]
            assert queue.read_all() == expected
    finally:
        admin.config_set("slowlog-log-slower-than", -1)
    assert any(b"keys" in words for words in calls)
    assert not admin.exists(KEYS.timeout, KEYS.envelopes)
