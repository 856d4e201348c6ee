"""Few due entries behind a long backlog: how many entries a call passes over, by what the server is told to do."""

from __future__ import annotations

import random
from typing import Any

import pytest

from redisson_dq.scheduling.hints import Hints
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.envelope import Envelope, wrap
from tests.conftest import by_night
from tests.integration.conftest import KEYS
from tests.integration.movers import Mover
from tests.integration.moving.test_passes import FAR, HINT, PAST, Queue, value
from tests.integration.scanned import Scanned

BACKLOG = 40_000
#: A look at either end, and what LPOS looks at of Java's fresh entries.
ENDS = 7_000


#: The keys of a backlog, by the port and its share of Java's entries: made once, and restored for each test.
_made: dict[tuple[int, float], tuple[Queue, dict[bytes, bytes]]] = {}


def backlog(admin: Any, java: float) -> Queue:
    place = admin.connection_pool.connection_kwargs["port"], java
    if place not in _made:
        queue = Queue(admin, 1)
        queue.us -= 3_600_000_000
        for _ in range(8):
            queue.offer(BACKLOG // 8, java, lambda: FAR)
        _made[place] = queue, {key: admin.dump(key) for key in admin.keys("*")}
    else:
        for key, state in _made[place][1].items():
            admin.restore(key, 0, state)
    return _made[place][0].restored(admin)


def fresh(queue: Queue, count: int, behind: int, java: float) -> list[bytes]:
    """Offers so many that are due, at random among so many that are not."""
    dues = [PAST + queue.draw.randrange(50) for _ in range(count)] + [FAR] * behind
    queue.draw.shuffle(dues)
    following = iter(dues)
    queue.offer(len(dues), java, lambda: next(following))
    return queue.due()


@pytest.mark.parametrize("behind", [0, 800])
@pytest.mark.parametrize("count", [1, by_night(2), by_night(16), 17, 120])
@pytest.mark.parametrize("java", [0.0, by_night(0.3), 1.0])
@pytest.mark.parametrize("javas_backlog", [0.0, by_night(0.5), 1.0])
def test_fresh_entries_cost_their_distance_and_not_the_list(
    admin: Any, javas_backlog: float, java: float, count: int, behind: int
) -> None:
    queue, mover = backlog(admin, javas_backlog), Mover(admin, in_haste=False)
    due = fresh(queue, count, behind, java)
    scanned = Scanned(admin, KEYS.envelopes)
    passed = 0
    while queue.due():
        passed += scanned.of(mover.move)
        assert len(mover.steps) < 12
    assert queue.ready() == [value(member) for member in due]
    assert admin.zcard(KEYS.timeout) == admin.llen(KEYS.envelopes) == BACKLOG + behind
    # One LPOS and one LREM for each of a few of Java's. More than a few of them take one pass over what is fresh.
    each = 2 * behind + 64 if java else 64
    assert passed < ENDS + min(count, 16) * each + 24 * (count + behind)


def test_a_single_one_near_the_end_is_taken_out_from_there(admin: Any) -> None:
    queue, mover = backlog(admin, 0.0), Mover(admin, in_haste=False)
    fresh(queue, 1, 500, 0.0)
    assert Scanned(admin, KEYS.envelopes).of(mover.move) < 1100


@pytest.mark.parametrize("java", [0.0, 0.5, 1.0])
def test_a_few_are_found_without_reading_large_ones_before_them(admin: Any, java: float) -> None:
    """A read copies values into the script."""
    queue, mover = backlog(admin, java), Mover(admin, in_haste=False)
    large = [wrap(Envelope.CURRENT, queue.draw.randbytes(8), b"%d" % n + bytes(1_000_000)) for n in range(20)]
    admin.zadd(KEYS.timeout, dict.fromkeys(large, FAR))
    admin.rpush(KEYS.envelopes, *large)
    due = fresh(queue, 3, 50, java)
    scanned = Scanned(admin, KEYS.envelopes)
    assert scanned.of(mover.move) < 500
    assert scanned.bytes_read < 100_000
    assert queue.ready() == [value(member) for member in due]


def test_many_of_javas_cost_their_distance(admin: Any) -> None:
    queue, mover = backlog(admin, 1.0), Mover(admin, in_haste=False)
    due = fresh(queue, 40, 60, 1.0)
    assert Scanned(admin, KEYS.envelopes).of(mover.move) < 500
    assert queue.ready() == [value(member) for member in due]


def test_an_entry_that_a_pass_did_not_see_costs_one_way_along_the_list(admin: Any) -> None:
    """As retainAll leaves it in the zset alone."""
    queue, mover = backlog(admin, 1.0), Mover(admin, in_haste=False, slowness=32.0)
    gone = queue.draw.sample(queue.listed()[: BACKLOG // 2], 40)
    for member in gone:
        admin.lrem(KEYS.envelopes, 1, member)
    admin.zadd(KEYS.timeout, dict.fromkeys(gone, PAST))
    mover.move()
    while mover.hints.words()[0] != b"deliver":
        mover.move()
    scanned = Scanned(admin, KEYS.envelopes)
    while queue.due():
        before = len(queue.due())
        passed = scanned.of(mover.move)
        moved = before - len(queue.due())
        assert passed <= moved * BACKLOG


@pytest.mark.parametrize("part", [0.02, 0.3, 0.5, 0.7, 0.98])
def test_an_old_one_costs_its_way_from_the_nearer_end(admin: Any, part: float) -> None:
    queue, mover = backlog(admin, 0.0), Mover(admin, in_haste=False)
    place = int(BACKLOG * part)
    admin.zadd(KEYS.timeout, {admin.lindex(KEYS.envelopes, place): PAST})
    assert Scanned(admin, KEYS.envelopes).of(mover.move) < min(place, BACKLOG - place) + 4000
    assert len(queue.ready()) == 1


def test_an_old_one_of_javas_costs_one_way_along_the_list(admin: Any) -> None:
    queue, mover = backlog(admin, 1.0), Mover(admin, in_haste=False)
    admin.zadd(KEYS.timeout, {admin.lindex(KEYS.envelopes, BACKLOG // 2): PAST})
    assert Scanned(admin, KEYS.envelopes).of(mover.move) < 0.75 * BACKLOG
    assert len(queue.ready()) == 1


def test_at_both_ends_only_the_ends_are_passed_over(admin: Any) -> None:
    """Reminders that have come, from the front, and retries from the end."""
    queue, mover = backlog(admin, 0.0), Mover(admin, in_haste=False)
    places = [*range(100, 400, 10), *range(BACKLOG - 400, BACKLOG - 100, 10)]
    with admin.pipeline() as pipeline:
        for place in places:
            pipeline.lindex(KEYS.envelopes, place)
        members = pipeline.execute()
    admin.zadd(KEYS.timeout, {member: PAST + queue.draw.randrange(90) for member in members})
    assert Scanned(admin, KEYS.envelopes).of(mover.move) < 6000
    assert len(queue.ready()) == len(members)


@pytest.mark.parametrize("java", [0.0, 1.0])
@pytest.mark.parametrize("count", [1, 20])
def test_take_due_costs_the_distance_too(admin: Any, java: float, count: int) -> None:
    queue = backlog(admin, 0.5)
    due = fresh(queue, count, 400, java)
    taken: list[bytes] = []

    def take() -> None:
        request = call("take_due", KEYS, ("", "", 0, 1000, 1000), list)
        assert request.script is not None
        taken.extend(request.parse(admin.eval(request.script.source, *request.words))[0])

    passed = Scanned(admin, KEYS.envelopes).of(take)
    assert taken == [value(member) for member in due]
    assert passed < ENDS + count * 900 + 24 * (count + 400)


@pytest.mark.parametrize("javas_backlog", [0.0, 1.0])
def test_cancel_of_a_fresh_one_costs_its_distance(client: Any, admin: Any, javas_backlog: float) -> None:
    backlog(admin, javas_backlog)
    delayed = client.delayed_queue("orders", transfer=False)
    item = delayed.offer("one", 1000)
    delayed.offer_all([("other", 1000)] * 500)
    assert Scanned(admin, KEYS.envelopes).of(item.cancel) < 1100


@pytest.mark.parametrize("seed", [0, 1, *map(by_night, range(2, 6))])
def test_any_mixture_is_delivered_once_and_in_due_order(admin: Any, seed: int) -> None:
    """Also after a step back of the clock, and where entries stand in one key alone."""
    draw = random.Random(seed)
    is_hurried = seed % 2 == 0
    queue, mover = Queue(admin, seed), Mover(admin, in_haste=is_hurried)
    for _ in range(4):
        queue.offer(
            200 if is_hurried else 1500,
            draw.choice([0.0, 0.2, 1.0]),
            lambda: FAR if draw.random() < 0.9 else PAST + draw.randrange(9),
        )
        queue.us -= draw.choice([0, 0, 5_000_000])
        for member in draw.sample(queue.listed(), 5):
            admin.lrem(KEYS.envelopes, 1, member)
    lean = {wrap(Envelope.CURRENT, draw.randbytes(8) + b"\0", b"lean %d" % n): PAST + n for n in range(9)}
    admin.zadd(KEYS.timeout, lean)
    queue.drained(mover, 400)


def test_a_pass_ends_where_all_was_found() -> None:
    hints, keys = Hints(), [b"key %04d" % number for number in range(20)]
    hints.answered(b"lost")
    hints.answered(b"keys", b"".join(keys), 20)
    places = {key: 900 + number for number, key in enumerate(keys)}

    def found(part: list[bytes]) -> bytes:
        return b"".join(HINT.pack(key, places[key]) for key in part)

    hints.answered(b"950", found(keys[:15]))
    assert hints.words() == (b"950", b"".join(keys[15:])), "what was found is not looked for again"
    hints.answered(b"700", found(keys[15:]))
    assert hints.words()[0] == b"deliver"
