"""CLIENT PAUSE and CLIENT KILL at each call of a lease: it is carried out once, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq import SettleOutcome
from redisson_dq.codecs import StringCodec
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
    """The place of the value, of which there is at most one."""
    found = whereabouts(admin)
    names = ("ready", "arrivals", "waiting", "leased", "dead")
    return " ".join(name for name in names for _ in getattr(found, name).elements())


def held_up(admin: Any) -> list[int]:
    """Connections of the client whose script Redis postpones."""
    return [
        int(each["id"])
        for each in admin.client_list()
        if each["name"].startswith("victim/") and "b" in each["flags"] and each["cmd"] in ("evalsha", "eval")
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


def test_a_connection_that_died_at_rest_fails_no_call(admin: Any, victim: Any) -> None:
    """Finding out after the call was sent would be too late: it may have been carried out."""
    for number in range(3):
        victim.add(str(number))
        delivery = victim.receive(timeout=PATIENCE)
        for each in admin.client_list(_type="normal"):
            if each["name"].startswith("victim/"):
                admin.client_kill_filter(_id=int(each["id"]))
        assert delivery.ack()
