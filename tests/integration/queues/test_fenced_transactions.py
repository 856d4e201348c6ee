"""Effects that happen together with the end of a lease. They do not happen if the lease has ended before."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import redisson_dq
from redisson_dq import SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import LeaseLostError, RedissonDQError, WrongTypeError
from redisson_dq.scripts.script import guarded, load
from tests.conftest import PATIENCE, eventually
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts
from tests.interop.sides import HOUR

# Each ends the lease of the first delivery, or asks for more time.
ENDS: dict[str, tuple[Callable[[Any], Any], SettleOutcome]] = {
    "ack": (lambda requests: requests.ack(), SettleOutcome.ACKED),
    "nack": (lambda requests: requests.nack(reason="no"), SettleOutcome.RETURNED),
    "nack later": (lambda requests: requests.nack(delay=HOUR), SettleOutcome.DELAYED),
    "reject": (lambda requests: requests.reject(), SettleOutcome.DEAD_LETTERED),
    "extend": (lambda requests: requests.extend(HOUR), SettleOutcome.EXTENDED),
}


def effects(client: Any) -> list[Any]:
    """Requests of plain commands and of scripts, which write, read and answer nothing."""
    bills, later = client.blocking_queue("bills"), client.delayed_queue("bills", transfer=False)
    limited = client.bounded_blocking_queue("limited")
    return [
        bills.requests.add("plain"),
        bills.requests.poll(),
        bills.requests.add_all(["a", "b", "c"]),
        bills.requests.read_all(),
        bills.requests.get(5),
        later.requests.offer("script", delay=HOUR),
        later.requests.offer("named", delay=HOUR, id="1"),
        later.requests.size(),
        limited.requests.offer("bounded"),
        client.blocking_queue("empty").requests.poll(),
    ]


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("place", [0, 4, 10])
def test_both_are_done(admin: Any, client: Any, queue: Any, how: str, place: int) -> None:
    client.bounded_blocking_queue("limited").try_set_capacity(5)
    queue.add("order")
    delivery = queue.receive()
    end, outcome = ENDS[how]
    requests = effects(client)
    requests.insert(place, end(delivery.requests))
    pipe = client.pipeline(transaction=True)
    replies = [pipe.add(request) for request in requests]
    pipe.execute()
    found = [reply.result for reply in replies]
    assert found.pop(place) is outcome
    assert delivery.outcome is outcome
    assert found[:5] == [True, "plain", True, ["a", "b", "c"], None]
    assert [found[7], found[8], found[9]] == [2, True, None]
    assert client.blocking_queue("bills").read_all() == ["a", "b", "c"]
    assert client.blocking_queue("limited").read_all() == ["bounded"]
    assert sorted(client.delayed_queue("bills", transfer=False).read_all()) == ["named", "script"]
    assert not admin.exists(KEYS.fence)


def acked_by_somebody_else(admin: Any, client: Any, delivery: Any) -> None:
    id = bytes.fromhex(delivery.id)
    (member,) = [each for each in admin.zrange(KEYS.timeout, 0, -1) if each[1:11] == id]
    admin.zrem(KEYS.timeout, member)


def ended(admin: Any, client: Any, delivery: Any) -> None:
    eventually(lambda: delivery.lost)


def ended_and_received_again(admin: Any, client: Any, delivery: Any) -> None:
    again = client.blocking_queue("orders").receive(timeout=PATIENCE)
    assert (again.value, again.attempt) == ("order", 2)


def deleted(admin: Any, client: Any, delivery: Any) -> None:
    admin.delete(KEYS.timeout)


@pytest.mark.parametrize(
    ("loss", "seconds"),
    [(acked_by_somebody_else, HOUR), (ended, 0.05), (ended_and_received_again, 0.05), (deleted, HOUR)],
)
@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("place", [0, 4, 10])
def test_nothing_is_done(
    admin: Any,
    client: Any,
    queue: Any,
    how: str,
    place: int,
    loss: Callable[[Any, Any, Any], None],
    seconds: float,
) -> None:
    client.bounded_blocking_queue("limited").try_set_capacity(5)
    queue.add("order")
    delivery = queue.receive(visibility_timeout=seconds)
    requests = effects(client)
    requests.insert(place, ENDS[how][0](delivery.requests))
    pipe = client.pipeline(transaction=True)
    replies = [pipe.add(request) for request in requests]
    loss(admin, client, delivery)
    before = {key: admin.dump(key) for key in admin.keys("*") if key not in (KEYS.alarm.encode(), KEYS.mover.encode())}
    with pytest.raises(LeaseLostError):
        pipe.execute()
    assert replies.pop(place).result is SettleOutcome.LOST
    assert delivery.outcome is SettleOutcome.LOST
    for reply in replies:
        with pytest.raises(LeaseLostError, match="nothing of it was done"):
            reply.result  # noqa: B018
    assert not admin.exists(*[key for key in admin.keys("*") if b"bills" in key or key == b"limited"] or ["none"])
    if loss is not ended:
        now = {key: admin.dump(key) for key in before}
        assert now == before


def test_an_ack_alone_is_lost_without_an_error(client: Any, queue: Any) -> None:
    queue.add("order")
    delivery = queue.receive(visibility_timeout=0.01)
    eventually(lambda: delivery.lost)
    with client.pipeline(transaction=True) as pipe:
        acked = pipe.add(delivery.requests.ack())
    assert acked.result is SettleOutcome.LOST


def test_without_a_transaction_each_request_stands_alone(client: Any, queue: Any) -> None:
    queue.add("order")
    delivery = queue.receive(visibility_timeout=0.01)
    eventually(lambda: delivery.lost)
    with client.pipeline() as pipe:
        acked = pipe.add(delivery.requests.ack())
        pipe.add(client.blocking_queue("bills").requests.add("a"))
    assert acked.result is SettleOutcome.LOST
    assert client.blocking_queue("bills").read_all() == ["a"]


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_all_leases_or_none(admin: Any, client: Any, queue: Any, lost: int) -> None:
    other = client.blocking_queue("others")
    queue.add_all(["a", "b"])
    other.add("c")
    deliveries = [*queue.receive(2), other.receive()]
    assert deliveries[lost].ack()
    pipe = client.pipeline(transaction=True)
    replies = [pipe.add(each.requests.ack()) for each in deliveries]
    pipe.add(client.blocking_queue("bills").requests.add("a"))
    with pytest.raises(LeaseLostError):
        pipe.execute()
    for place, reply in enumerate(replies):
        if place == lost:
            assert reply.result is SettleOutcome.LOST
        else:
            with pytest.raises(LeaseLostError):
                reply.result  # noqa: B018
    assert not admin.exists("bills")
    kept = [each for place, each in enumerate(deliveries) if place != lost]
    with client.pipeline(transaction=True) as pipe:
        replies = [pipe.add(each.requests.ack()) for each in kept]
        pipe.add(client.blocking_queue("bills").requests.add("a"))
    assert [reply.result for reply in replies] == [SettleOutcome.ACKED] * 2
    assert client.blocking_queue("bills").read_all() == ["a"]
    assert whereabouts(admin).total == {}


def test_an_error_of_one_effect_is_its_own(admin: Any, client: Any, queue: Any) -> None:
    """As in any transaction of Redis."""
    admin.set("bills", "text")
    queue.add("order")
    delivery = queue.receive()
    pipe = client.pipeline(transaction=True)
    acked = pipe.add(delivery.requests.ack())
    added = pipe.add(client.blocking_queue("bills").requests.add("a"))
    after = pipe.add(client.blocking_queue("others").requests.add("b"))
    with pytest.raises(RedissonDQError):
        pipe.execute()
    assert acked.result is SettleOutcome.ACKED
    with pytest.raises(WrongTypeError):
        added.result  # noqa: B018
    assert after.result is True
    assert not admin.exists(KEYS.fence)


def test_a_key_of_another_type_withholds_everything(admin: Any, client: Any, queue: Any) -> None:
    queue.add("order")
    delivery = queue.receive()
    admin.delete(KEYS.leases)
    admin.set(KEYS.leases, "text")
    pipe = client.pipeline(transaction=True)
    pipe.add(delivery.requests.ack())
    pipe.add(client.blocking_queue("bills").requests.add("a"))
    with pytest.raises(WrongTypeError):
        pipe.execute()
    assert not admin.exists("bills")


def test_a_guard_stands_before_the_whole_script() -> None:
    script = load("offer")
    assert guarded("offer").source.endswith(script.source)
    assert re.match(r"if redis.call\('EXISTS', table.remove\(KEYS\)\) == 0 then\n  return", guarded("offer").source)
    assert guarded("offer").sha != script.sha


def test_a_process_that_stands_still_just_before_exec(admin: Any, flavour: Any, url: str) -> None:
    """The lease ends while the transaction is in Redis's queue of commands and not carried out yet."""
    with flavour.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        for number in range(20):
            queue.add(f"order{number}")
            delivery = queue.receive(visibility_timeout=0.03)
            admin.execute_command("CLIENT", "PAUSE", 10 + 2 * number)
            pipe = client.pipeline(transaction=True)
            acked = pipe.add(delivery.requests.ack())
            pipe.add(client.blocking_queue("bills").requests.add(f"order{number}"))
            try:
                pipe.execute()
                assert acked.result is SettleOutcome.ACKED
            except LeaseLostError:
                assert acked.result is SettleOutcome.LOST
            done = acked.result is SettleOutcome.ACKED
            assert (f"order{number}".encode() in admin.lrange("bills", 0, -1)) is done


def test_the_public_name() -> None:
    assert issubclass(redisson_dq.errors.LeaseLostError, RedissonDQError)
