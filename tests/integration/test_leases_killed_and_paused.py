"""CLIENT PAUSE and CLIENT KILL at each call of a lease, and values whose bytes change with each encoding."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq import SettleOutcome
from redisson_dq.codecs import Codec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedisConnectionError
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import whereabouts
from tests.interop.sides import NO_PROBE

CALLS: dict[str, tuple[Callable[[Any], Any], SettleOutcome, str]] = {
    "ack": (lambda each: each.ack(), SettleOutcome.ACKED, ""),
    "nack": (lambda each: each.nack(), SettleOutcome.RETURNED, "ready"),
    "nack later": (lambda each: each.nack(delay=1000), SettleOutcome.DELAYED, "waiting"),
    "hand back": (lambda each: each.nack(count=False), SettleOutcome.RETURNED, "ready"),
    "reject": (lambda each: each.reject(), SettleOutcome.DEAD_LETTERED, "dead"),
    "extend": (lambda each: each.extend(60), SettleOutcome.EXTENDED, "leased"),
}


def place(admin: Any) -> str:
    """Where the value is, of which there is one at most."""
    found = whereabouts(admin)
    names = ("ready", "arrivals", "waiting", "leased", "dead")
    return " ".join(name for name in names for _ in getattr(found, name).elements())


def held_up(admin: Any) -> list[int]:
    """Connections of the client whose script Redis postpones."""
    return [
        int(each["id"])
        for each in admin.client_list()
        if each["name"] == "victim" and "b" in each["flags"] and each["cmd"] in ("evalsha", "eval")
    ]


@pytest.fixture
def victim(flavour: Flavour, server: EmbeddedServer, admin: Any) -> Any:
    with flavour.connect(f"{server.url}?client_name=victim", codec=StringCodec(), probe_interval=NO_PROBE) as client:
        yield client.blocking_queue("orders", transfer=False)


@pytest.mark.parametrize("killed", [False, True], ids=["paused", "killed"])
@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_is_held_up(admin: Any, victim: Any, threads: ThreadPoolExecutor, call: str, killed: bool) -> None:
    work, outcome, left = CALLS[call]
    victim.add("a")
    delivery = victim.receive(timeout=PATIENCE)
    admin.client_pause(60_000, all=False)
    try:
        answer = threads.submit(work, delivery)
        (id,) = eventually(lambda: held_up(admin))
        if killed:
            assert admin.client_kill_filter(_id=id) == 1
            failure = answer.exception(PATIENCE)
            assert isinstance(failure, RedisConnectionError)
            assert failure.maybe_done
    finally:
        admin.client_unpause()
    if killed:
        # The call never began, and the lease is as it was.
        assert place(admin) == "leased"
        assert work(delivery) is outcome
    else:
        assert answer.result(PATIENCE) is outcome
    assert place(admin) == left


@pytest.mark.parametrize("killed", [False, True], ids=["paused", "killed"])
def test_a_receive_that_is_held_up(admin: Any, victim: Any, threads: ThreadPoolExecutor, killed: bool) -> None:
    admin.rpush(KEYS.ready, "a")
    admin.client_pause(60_000, all=False)
    try:
        answer = threads.submit(victim.receive, timeout=PATIENCE)
        (id,) = eventually(lambda: held_up(admin))
        if killed:
            assert admin.client_kill_filter(_id=id) == 1
    finally:
        admin.client_unpause()
    delivery = answer.result(PATIENCE)
    assert (delivery.value, delivery.attempt, delivery.crashes) == ("a", 1, 0)
    assert place(admin) == "leased"
    assert delivery.ack()


class Unstable(Codec[str]):
    """Writes other bytes each time, as a set or a map may."""

    def encode(self, value: str) -> bytes:
        return secrets.token_bytes(8) + value.encode()

    def decode(self, data: bytes) -> str:
        return data[8:].decode()


def test_every_call_works_by_the_bytes_that_were_received(flavour: Flavour, url: str, admin: Any) -> None:
    with flavour.connect(url, codec=Unstable(), probe_interval=NO_PROBE) as client:
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        delayed.offer("a", delay=0.01, context={"trace": "1"})
        first = queue.receive(timeout=PATIENCE)
        kept = first.data
        assert first.nack(reason="later")
        second = queue.receive(timeout=PATIENCE)
        assert (second.data, second.attempt, second.reason, second.context) == (kept, 2, "later", {"trace": "1"})
        assert second.nack(delay=0.01)
        third = queue.receive(timeout=PATIENCE)
        assert (third.data, third.attempt) == (kept, 3)
        assert third.extend(60)
        assert third.reject("never")
        (letter,) = queue.dead_letters()
        assert (letter.value, letter.reason, letter.attempts) == ("a", "never", 3)
        assert queue.redrive([letter]).count == 1
        last = queue.receive(timeout=PATIENCE)
        assert (last.data, last.attempt, last.context) == (kept, 1, {"trace": "1"})
        assert last.ack()
    assert whereabouts(admin).total == Counter()


def test_a_connection_that_died_at_rest_fails_no_call(admin: Any, victim: Any) -> None:
    """It would be too late to find out when the call was sent: that may be done."""
    for number in range(3):
        victim.add(str(number))
        delivery = victim.receive(timeout=PATIENCE)
        for each in admin.client_list(_type="normal"):
            if each["name"] == "victim":
                admin.client_kill_filter(_id=int(each["id"]))
        assert delivery.ack()
