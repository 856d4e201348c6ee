"""Foreign contents in the keys of a queue: no script fails on them, and the main job continues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire import calls
from redisson_dq.wire.request import Request
from tests.conftest import by_night, eventually, thinned
from tests.integration.foreign import GARBAGE, KEYS, OWN, name_of, plant, play_main_job, requests, run, state_of, there

REQUESTS = requests({})
# What makes a whole key is not asked to read it.
REPLACE = {"restore"}
WRONG = {
    "string": ("set", "text"),
    "list": ("rpush", "text"),
    "zset": ("zadd", "5", "text"),
    "hash": ("hset", "a", "b"),
}


@pytest.fixture(scope="module")
def full() -> Iterator[Any]:
    """A server of its own, and the content of a queue with something in each of its keys."""
    with EmbeddedServer() as server, redis.Redis.from_url(server.url) as admin:
        leased = there(admin)
        contents = {key: admin.dump(key) for key in admin.keys("*")}
        yield admin, contents, requests(leased)


def restored(full: Any) -> tuple[Any, dict[str, Request[Any]]]:
    admin, contents, made = full
    pipeline = admin.pipeline()
    pipeline.flushall()
    for key, content in contents.items():
        pipeline.restore(key, 0, content)
    pipeline.execute()
    return admin, made


def own_keys(request: Request[Any]) -> list[str]:
    count = int(str(request.words[0]))
    return [key for key in OWN if name_of(key) in request.words[1 : 1 + count]]


def kinds(number: int, amount: str) -> list[str]:
    """By day one kind for each script and key, by turns."""
    every = list(GARBAGE)
    return every if amount == "each" else [every[number % len(every)]]


@pytest.mark.parametrize("amount", ["one", by_night("each")])
@pytest.mark.parametrize("name", thinned(sorted(REQUESTS.keys() - REPLACE), of=4))
def test_garbage_in_a_key_stops_no_script(full: Any, name: str, amount: str) -> None:
    request = requests({})[name]
    for number, key in enumerate(own_keys(request), sorted(REQUESTS).index(name)):
        for kind in kinds(number, amount):
            admin, made = restored(full)
            plant(admin, key, kind)
            if (name, key) == ("offer_bounded", "capacity") and not admin.get(name_of(key)).lstrip(b"-").isdigit():
                # The error of an offer into a bounded queue, and of no other call.
                admin.hdel(KEYS.settings, "capacity")
                with pytest.raises(redis.ResponseError, match="NOCAPACITY"):
                    run(admin, made[name])
                continue
            run(admin, made[name])
            script = made[name].script
            if script is None or not script.only_reads:
                play_main_job(admin)


@pytest.mark.parametrize("amount", ["one", by_night("each")])
@pytest.mark.parametrize("name", thinned(sorted(REQUESTS.keys() - REPLACE), of=4))
def test_a_key_of_another_type_is_refused_before_anything_is_written(full: Any, name: str, amount: str) -> None:
    request = requests({})[name]
    for number, key in enumerate(own_keys(request)):
        wrong = [words for kind, words in WRONG.items() if kind != OWN[key]]
        for command, *words in wrong if amount == "each" else [wrong[number % 3]]:
            admin, made = restored(full)
            admin.delete(name_of(key))
            admin.execute_command(command, name_of(key), *words)
            before = state_of(admin)
            error = refusal(admin, made[name])
            if error:
                assert error.startswith("WRONGTYPE"), error
                assert state_of(admin) == before, (key, command)


def refusal(admin: Any, request: Request[Any]) -> str:
    try:
        run(admin, request)
    except redis.ResponseError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("key", ["leases", "history_ends", "forget", "newer"])
def test_what_cannot_be_read_is_set_aside_with_its_bytes(full: Any, key: str) -> None:
    admin, _ = restored(full)
    foreign = b"\xff\0" * 128
    admin.zadd(name_of(key), {foreign: 1})
    run(admin, calls.tidy(KEYS))
    run(admin, calls.transfer(KEYS, 100, 1000, "client", cluster=False))
    assert admin.zscore(name_of(key), foreign) is None
    assert b"1 " + foreign in admin.lrange(KEYS.quarantine, 0, -1)


@pytest.mark.parametrize("kind", GARBAGE)
def test_clients_go_on(client: Any, admin: Any, delayed: Any, queue: Any, kind: str) -> None:
    there(admin)
    admin.delete(KEYS.capacity)
    # Arrivals are values: one that cannot be decoded is set aside as such.
    for key in sorted(OWN.keys() - {"capacity", "arrivals"}):
        plant(admin, key, kind)
    admin.hdel(KEYS.settings, "paused", "max_size")
    delayed.offer("through", 0.01)
    got: list[bytes] = []

    def came() -> bool:
        for delivery in queue.receive(100, timeout=0.1, visibility_timeout=60):
            got.append(delivery.data)
            delivery.ack()
        return b"through" in got

    eventually(came)
    queue.offer("taken")
    # Values of the queue that was there may come before it.
    eventually(lambda: queue.take() == "taken")
