"""Taking waiting values by due time: which ones, their order, what remains, and the records of taken values."""

from __future__ import annotations

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from redisson_dq import Outcome, SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError, DecodeError, WrongTypeError
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import DeadKeys
from tests.conftest import PATIENCE, eventually
from tests.faults.gate import Gate
from tests.flavours import Flavour
from tests.integration.calls import dump
from tests.integration.conftest import KEYS
from tests.integration.leases.test_leases import left
from tests.integration.server import of_server, wait_until
from tests.integration.whereabouts import whereabouts
from tests.interop.sides import HOUR, NO_PROBE

TWO_HOURS = 7_200_000
PAST = datetime(2026, 1, 2, tzinfo=timezone.utc)


def until_due(delayed: Any) -> None:
    """What was offered without a delay is due in the next millisecond."""

    def all_due() -> bool:
        soon = sum(item.remaining < timedelta(minutes=1) for item in delayed.items(0, 9_999))
        return bool(delayed.overdue().count == soon)

    eventually(all_due)


def ms(count: float) -> timedelta:
    return timedelta(milliseconds=count)


@pytest.fixture
def start(admin: Any) -> datetime:
    """Some time ago, in whole milliseconds."""
    now = of_server(admin, -HOUR * 1000)
    return now - ms(now.microsecond % 1000 / 1000)


@pytest.fixture(params=["mirrored", "lean"])
def waiting(request: pytest.FixtureRequest, client: Any) -> Any:
    """The delayed side in a client that moves nothing, with entries of either kind."""
    return client.delayed_queue("orders", transfer=False, lean=request.param == "lean")


# -- which of them ---------------------------------------------------------------------------------------------------


def test_what_is_due_is_taken_in_due_order(admin: Any, waiting: Any, start: datetime) -> None:
    for number in (3, 1, 2):
        waiting.offer(f"v{number}", at=start + ms(number))
    waiting.offer("not yet", HOUR)
    assert waiting.take_due() == ["v1", "v2", "v3"]
    assert waiting.take_due() == []
    assert waiting.read_all() == ["not yet"]
    waiting.clear()
    assert left(admin) == set()


@pytest.mark.parametrize(
    ("since", "until", "offset", "limit", "expected"),
    [
        (None, None, 0, 2, [0, 1]),
        (None, None, 2, 100, [2, 3, 4, 5]),
        (None, 3, 0, 100, [0, 1, 2, 3]),
        (2, None, 0, 100, [2, 3, 4, 5]),
        (2, 4, 0, 100, [2, 3, 4]),
        (2, 4, 1, 1, [3]),
        (2, 4, 3, 1, []),
        (2, 2, 0, 5, [2]),
        (1.5, 2.5, 0, 5, [2]),
        (None, -1, 0, 5, []),
        (6, None, 0, 5, []),
        (None, 3_700_000, 0, 100, [0, 1, 2, 3, 4, 5, "tomorrow"]),
        (6, 3_700_000, 0, 100, ["tomorrow"]),
        (None, 3_700_000, 5, 1, [5]),
    ],
)
def test_a_range_of_due_times(
    waiting: Any,
    start: datetime,
    since: float | None,
    until: float | None,
    offset: int,
    limit: int,
    expected: list[Any],
) -> None:
    for number in range(6):
        waiting.offer(f"{number}", at=start + ms(number))
    waiting.offer("tomorrow", at=start + ms(3_700_000))
    moments = [None if moment is None else start + ms(moment) for moment in (until, since)]
    assert waiting.take_due(*moments, offset, limit) == [str(each) for each in expected]
    assert waiting.size() == 7 - len(expected)


def test_due_is_by_the_clock_of_the_server(admin: Any, waiting: Any) -> None:
    item = waiting.offer("a", 0.05)
    taken: list[str] = []
    while not taken:
        taken = waiting.take_due()
        assert not taken or of_server(admin) >= item.due
        assert taken or of_server(admin) < item.due + timedelta(seconds=PATIENCE)
    assert taken == ["a"]


def test_any_range_is_what_a_model_says(client: Any, admin: Any, start: datetime) -> None:
    """Mirrored and lean entries, Java's, leases, and ties; compared with a sorted list."""
    chance = random.Random(7)
    handles = [client.delayed_queue("orders", transfer=False, lean=lean) for lean in (False, True)]
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all([f"held {number}" for number in range(5)])
    for _ in range(5):
        queue.receive(visibility_timeout=chance.randrange(60, 7000))
    model: list[tuple[int, bytes, str]] = []
    for number in range(150):
        at, value = chance.randrange(0, TWO_HOURS, 36_000), f"v{number}"
        if number % 3 == 2:
            due = (start + ms(at)).timestamp() * 1000
            member = wrap(Envelope.CURRENT, chance.randbytes(8), value.encode())
            admin.zadd(KEYS.timeout, {member: due})
            admin.rpush(KEYS.envelopes, member)
        else:
            item = handles[number % 3].offer(value, at=start + ms(at))
            (member,) = [each for each in admin.zrange(KEYS.timeout, 0, -1) if each.endswith(b"\0" + value.encode())]
            assert item.due == start + ms(at)
        model.append((at, member, value))
    model.sort()
    for _ in range(40):
        since, until = (chance.choice((None, chance.randrange(TWO_HOURS))) for _ in range(2))
        if since is not None and until is not None:
            since, until = sorted((since, until))
        offset, limit = chance.choice((0, 0, 1, 5)), chance.choice((1, 3, 10))
        bound = TWO_HOURS / 2 if until is None else until
        rows = [row for row in model if (since is None or row[0] >= since) and row[0] <= bound][offset:][:limit]
        moments = [None if moment is None else start + ms(moment) for moment in (until, since)]
        assert chance.choice(handles).take_due(*moments, offset, limit) == [value for _, _, value in rows]
        model = [row for row in model if row not in rows]
    assert Counter(handles[0].read_all()) == Counter(value for _, _, value in model)
    assert queue.in_flight_size() == 5
    assert Counter(admin.lrange(KEYS.envelopes, 0, -1)) == Counter(row[1] for row in model if row[1][0] == 8)


def fill_in_random_order(admin: Any, start: datetime, count: int) -> None:
    """Entries with Java's random ids, in another order in its list than they fall due."""
    chance = random.Random(3)
    members = [wrap(Envelope.CURRENT, chance.randbytes(8), b"v%d" % number) for number in range(count)]
    for part in range(0, count, 1000):
        first = (start + ms(part)).timestamp() * 1000
        admin.zadd(KEYS.timeout, {member: first + place for place, member in enumerate(members[part : part + 1000])})
    chance.shuffle(members)
    for part in range(0, count, 1000):
        admin.rpush(KEYS.envelopes, *members[part : part + 1000])


def test_whatever_the_order_in_javas_list(admin: Any, client: Any, start: datetime) -> None:
    fill_in_random_order(admin, start, 5000)
    delayed = client.delayed_queue("orders", transfer=False)
    assert delayed.take_due(limit=1000) == [f"v{number}" for number in range(1000)]
    assert delayed.take_due(limit=10) == [f"v{number}" for number in range(1000, 1010)]
    assert admin.llen(KEYS.envelopes) == admin.zcard(KEYS.timeout) == delayed.size() == 3990


@pytest.mark.nightly
def test_a_call_takes_fewer_where_it_would_hold_the_server_up(admin: Any, client: Any, start: datetime) -> None:
    fill_in_random_order(admin, start, 300_000)
    delayed = client.delayed_queue("orders", transfer=False)
    first = delayed.take_due(limit=1000)
    assert 1 <= len(first) < 100
    assert first == [f"v{number}" for number in range(len(first))]
    assert admin.llen(KEYS.envelopes) == admin.zcard(KEYS.timeout) == delayed.size() == 300_000 - len(first)


def test_at_most_a_thousand_at_once(client: Any) -> None:
    delayed = client.delayed_queue("orders", transfer=False, lean=True)
    delayed.offer_all([(f"v{number}", 0) for number in range(1500)])
    until_due(delayed)
    assert delayed.take_due(limit=5000) == [f"v{number}" for number in range(1000)]
    assert len(delayed.take_due(limit=5000)) == 500


def test_many_callers_get_each_value_once(client: Any, waiting: Any, threads: ThreadPoolExecutor) -> None:
    waiting.offer_all([(f"v{number}", 0) for number in range(600)])
    until_due(waiting)

    def drain() -> list[str]:
        taken: list[str] = []
        while batch := waiting.take_due(limit=7):
            taken += batch
        return taken

    shares = [call.result(PATIENCE) for call in [threads.submit(drain) for _ in range(8)]]
    assert Counter(value for share in shares for value in share) == Counter(f"v{number}" for number in range(600))
    for share in shares:
        assert share == sorted(share, key=lambda value: int(value[1:]))


# -- what else there is ----------------------------------------------------------------------------------------------


def test_leases_are_left_alone_and_ended_ones_are_taken(admin: Any, client: Any, waiting: Any, start: datetime) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(["held", "ended"])
    held, ended = queue.receive(visibility_timeout=HOUR), queue.receive(visibility_timeout=0.001)
    waiting.offer("a", at=start)
    wait_until(admin, ended.deadline)
    assert waiting.take_due() == ["a", "ended"]
    assert waiting.take_due(of_server(admin, 2 * HOUR * 1000)) == []
    assert ended.ack() is SettleOutcome.LOST
    assert held.ack() is SettleOutcome.ACKED
    assert left(admin) == set()


def test_an_offset_counts_what_waits_and_no_lease(admin: Any, client: Any, waiting: Any) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all([f"held {number}" for number in range(3)])
    queue.receive(3, visibility_timeout=60)
    waiting.offer_all([("a", 30), ("b", 90), ("c", 100)])
    later = of_server(admin, HOUR * 1000)
    assert waiting.take_due(later, offset=1, limit=1) == ["b"]
    assert waiting.take_due(later, of_server(admin, 45_000)) == ["c"]
    assert waiting.take_due(later) == ["a"]
    assert queue.in_flight_size() == 3


def test_a_paused_queue_gives_nothing(waiting: Any) -> None:
    waiting.offer("a", at=PAST)
    waiting.pause()
    assert waiting.take_due() == []
    assert waiting.take_due(visibility_timeout=5) == []
    waiting.resume()
    assert waiting.take_due() == ["a"]


@pytest.mark.parametrize("leased", [False, True])
def test_what_is_too_late_is_not_given(
    admin: Any, waiting: Any, caplog: pytest.LogCaptureFixture, leased: bool
) -> None:
    late = waiting.offer("late", at=PAST, expires=0.001, context={"k": "v"})
    waiting.offer("in time", at=of_server(admin, -1000), expires=HOUR)
    options = {"visibility_timeout": 30} if leased else {}
    assert [getattr(each, "value", each) for each in waiting.take_due(**options)] == ["in time"]
    assert [item.data for item in waiting.read_expired()] == [b"late"]
    assert waiting.expired_count() == 1
    assert late.cancel() is Outcome.EXPIRED
    assert "1 item was too late" in caplog.text


def test_the_fate_of_what_was_taken_is_known(waiting: Any) -> None:
    item = waiting.offer("a", at=PAST, id="42")
    early = waiting.offer("b", HOUR, id="43")
    assert waiting.take_due() == ["a"]
    assert waiting.take_due(early.due) == ["b"]
    assert [item.cancel(), early.cancel()] == [Outcome.DELIVERED] * 2
    assert waiting.offer("c", at=PAST, id="43", on_duplicate="keep").outcome.value == "kept"


@pytest.mark.parametrize("leased", [False, True])
def test_a_recurring_offer_goes_on(admin: Any, waiting: Any, leased: bool) -> None:
    """Nobody but the caller looks at the queue."""
    waiting.offer_recurring("tick", "tick", every=0.02)
    options = {"visibility_timeout": 30} if leased else {}
    dues: list[datetime] = []
    for _ in range(5):
        (tick,) = eventually(lambda: waiting.take_due(**options))
        assert getattr(tick, "value", tick) == "tick"
        (offer,) = waiting.recurring()
        dues.append(offer.next_due)
        assert waiting.size() == 1
    assert dues == sorted(set(dues))


def test_of_a_recurring_offer_that_cannot_go_on_the_value_is_given(
    admin: Any, waiting: Any, caplog: pytest.LogCaptureFixture
) -> None:
    waiting.offer_recurring("tick", "tick", every=0.001)
    admin.hset(KEYS.recurring, "dtick", '{"of": "a later release"}')
    assert eventually(waiting.take_due) == ["tick"]
    assert "cannot continue" in caplog.text


def test_what_is_in_no_format_is_set_aside(admin: Any, waiting: Any, caplog: pytest.LogCaptureFixture) -> None:
    waiting.offer("a", at=PAST)
    admin.zadd(KEYS.timeout, {b"junk": 5})
    admin.rpush(KEYS.envelopes, b"junk")
    assert waiting.take_due() == ["a"]
    assert [each.member for each in waiting.read_quarantine()] == [b"junk"]
    assert "no envelope format" in caplog.text
    assert not admin.exists(KEYS.timeout, KEYS.envelopes)


def test_what_the_codec_cannot_read_is_kept(flavour: Flavour, url: str, admin: Any, waiting: Any) -> None:
    admin.zadd(KEYS.timeout, {wrap(Envelope.CURRENT, b"12345678\0", b"\xff\xfe"): 1})
    waiting.offer("a", at=PAST)
    with pytest.raises(DecodeError) as caught:
        waiting.take_due()
    assert caught.value.decoded == ["a"]
    assert admin.lrange(KEYS.undecodable, 0, -1) == [b"\xff\xfe"]
    with flavour.connect(url, codec=StringCodec(), undecodable="skip") as client:
        delayed = client.delayed_queue("orders", transfer=False)
        admin.zadd(KEYS.timeout, {wrap(Envelope.CURRENT, b"12345678\0", b"\xff\xfe"): 1})
        delayed.offer("b", at=PAST)
        assert delayed.take_due() == ["b"]


def test_a_pipeline_takes_what_is_due(client: Any, waiting: Any) -> None:
    waiting.offer_all([("a", 0), ("b", 0), ("c", HOUR)])
    until_due(waiting)
    with client.pipeline(transaction=True) as pipe:
        taken = pipe.add(waiting.requests.take_due(limit=1))
        rest = pipe.add(waiting.requests.take_due())
    assert (taken.result, rest.result) == (["a"], ["b"])


@pytest.mark.parametrize("key", ["timeout", "envelopes", "records", "forget", "quarantine", "expired", "leases"])
def test_a_key_of_another_type_takes_nothing(admin: Any, client: Any, key: str) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    delayed.offer("a", at=PAST)
    admin.delete(getattr(KEYS, key))
    admin.set(getattr(KEYS, key), "text")
    before = dump(admin)
    for options in ({}, {"visibility_timeout": 5}):
        with pytest.raises(WrongTypeError):
            delayed.take_due(**options)
        assert dump(admin) == before


# -- leased ----------------------------------------------------------------------------------------------------------


def test_leased_values_are_ended_like_any_other(admin: Any, client: Any, waiting: Any) -> None:
    items = [waiting.offer(value, at=PAST) for value in "abcd"]
    done, back, later, never = waiting.take_due(visibility_timeout=60)
    assert [each.value for each in (done, back, later, never)] == list("abcd")
    assert [each.due for each in (done, back, later, never)] == [item.due for item in items]
    assert whereabouts(admin).leased == Counter([b"a", b"b", b"c", b"d"])
    assert waiting.size() == 0
    assert waiting.take_due(of_server(admin, 2 * HOUR)) == []
    assert done.ack() is SettleOutcome.ACKED
    assert back.nack(reason="again") is SettleOutcome.DELAYED
    assert later.nack(delay=HOUR) is SettleOutcome.DELAYED
    assert never.reject("no") is SettleOutcome.DEAD_LETTERED
    (again,) = eventually(lambda: waiting.take_due(visibility_timeout=60))
    assert (again.value, again.attempt, again.failures, again.reason, again.due) == ("b", 2, 1, "again", items[1].due)
    assert whereabouts(admin).total == Counter([b"b", b"c", b"d"])
    queue = client.blocking_queue("orders", transfer=False)
    assert queue.ack_all([again]) == [SettleOutcome.ACKED]
    assert [letter.reason for letter in queue.dead_letters()] == ["no"]


def test_an_ended_lease_is_taken_again_and_counted(admin: Any, waiting: Any) -> None:
    waiting.offer("a", at=PAST, context={"trace": "1"})
    (first,) = waiting.take_due(visibility_timeout=0.002)
    assert (first.attempt, first.crashes, first.context) == (1, 0, {"trace": "1"})
    wait_until(admin, first.deadline)
    (second,) = waiting.take_due(visibility_timeout=60)
    assert (second.attempt, second.crashes, second.context) == (2, 1, {"trace": "1"})
    assert (second.first_received, second.due) == (first.first_received, first.due)
    assert first.ack() is SettleOutcome.LOST
    with second as held:
        assert held.value == "a"
    assert whereabouts(admin).total == Counter()


def test_the_limit_and_the_dead_letters_are_those_of_the_queue(client: Any, admin: Any) -> None:
    queue = client.blocking_queue("orders", transfer=False, delivery_limit=2, dead_letter="graves")
    delayed = client.delayed_queue(queue, transfer=False)
    delayed.offer("a", at=PAST)
    for _ in range(2):
        (delivery,) = eventually(lambda: delayed.take_due(visibility_timeout=0.002))
        wait_until(admin, delivery.deadline)
    assert delayed.take_due(visibility_timeout=5) == []
    assert admin.lrange("graves", 0, -1) == [b"a"]
    (letter,) = queue.dead_letters()
    assert (letter.attempts, letter.crashes) == (2, 2)
    assert not admin.exists(DeadKeys.belonging_to("orders").dead)


def test_equal_values_keep_what_is_known_of_each(waiting: Any, start: datetime) -> None:
    for number in range(3):
        waiting.offer("same", at=start + ms(number), context={"number": str(number)})
    taken = waiting.take_due(visibility_timeout=60)
    assert [each.context for each in taken] == [{"number": str(number)} for number in range(3)]
    assert [each.due for each in taken] == [start + ms(number) for number in range(3)]


def test_a_lease_of_an_undecodable_value_is_a_dead_letter(admin: Any, waiting: Any) -> None:
    admin.zadd(KEYS.timeout, {wrap(Envelope.CURRENT, b"12345678\0", b"\xff\xfe"): 1})
    waiting.offer("a", at=PAST)
    with pytest.raises(DecodeError) as caught:
        waiting.take_due(visibility_timeout=60)
    assert [each.value for each in caught.value.decoded] == ["a"]
    assert whereabouts(admin).dead == Counter([b"\xff\xfe"])


def test_with_the_legacy_envelope(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=StringCodec(), envelope="legacy", probe_interval=NO_PROBE) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        delayed.offer_all([("a", 0), ("b", 0)])
        until_due(delayed)
        first, second = delayed.take_due(visibility_timeout=0.002)
        assert not admin.exists(KEYS.envelopes)
        assert admin.zcard(KEYS.timeout) == 2
        wait_until(admin, second.deadline)
        assert sorted(delayed.take_due()) == ["a", "b"]
        assert first.ack() is SettleOutcome.LOST
        assert left(admin) == set()


def test_a_lost_reply_gives_the_same_deliveries_again(flavour: Flavour, server: Any, admin: Any) -> None:
    with Gate(lambda: server.port or 0) as proxy, flavour.connect(proxy.url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        # Else the reply that is lost would be that there is no such script.
        assert delayed.take_due(visibility_timeout=5) == []
        delayed.offer_all([("a", 0), ("b", 0)])
        until_due(delayed)
        with ThreadPoolExecutor(1) as pool:
            proxy.silence(replies_only=True)
            taking = pool.submit(lambda: delayed.take_due(visibility_timeout=60))
            eventually(lambda: admin.zcard(KEYS.leases) == 2)
            proxy.cut()
            deliveries = taking.result(PATIENCE)
        assert [each.value for each in deliveries] == ["a", "b"]
        assert admin.zcard(KEYS.leases) == 2
        assert all(each.ack() for each in deliveries)


def test_a_closed_handle_takes_nothing(waiting: Any) -> None:
    waiting.offer("a", at=PAST)
    waiting.destroy()
    for options in ({}, {"visibility_timeout": 5}):
        with pytest.raises(ClosedError):
            waiting.take_due(**options)


def test_nothing_is_lost_between_taking_settling_and_movers(
    admin: Any, client: Any, threads: ThreadPoolExecutor
) -> None:
    """Leased by due time from some, received by others, moved by a client: every value is done once or is there."""
    delayed = client.delayed_queue("orders", transfer=False)
    queue = client.blocking_queue("orders", delivery_limit=None)
    chance = random.Random(5)
    delayed.offer_all([(f"v{number}", chance.random() * 0.2) for number in range(400)])
    done: list[str] = []
    until = time.monotonic() + PATIENCE

    def work(seed: int) -> None:
        mine = random.Random(seed)
        while len(done) < 400 and time.monotonic() < until:
            found = delayed.take_due(limit=5, visibility_timeout=5) or queue.receive(5, timeout=0, visibility_timeout=5)
            for delivery in found:
                # take_due has the delivery limit of 10.
                if mine.random() < 0.7 or delivery.attempt > 5:
                    assert delivery.ack()
                    done.append(delivery.value)
                else:
                    assert delivery.nack(mine.choice((None, 0.01)))

    for call in [threads.submit(work, seed) for seed in range(4)]:
        call.result(2 * PATIENCE)
    assert Counter(done) == Counter(f"v{number}" for number in range(400))
    assert whereabouts(admin).total == Counter()
