"""Calls that read all of many waiting items. They use several short scripts, and others change the queue in between."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import redisson_dq
from redisson_dq import Outcome
from redisson_dq.calls import walks
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.envelope import Envelope, unwrap, wrap
from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks import entries
from tests.conftest import by_night
from tests.flavours import Flavour

KEYS = QueueKeys.of("orders")
#: One call walks a part of this many entries.
MANY = 25_000


@pytest.fixture
def client(url: str) -> Any:
    with redisson_dq.connect(url, codec=StringCodec()) as made:
        yield made


def both(url: str, queue: str, count: int) -> None:
    """Half of them mirrored, and half in the zset alone."""
    entries.mirrored(url, queue, count // 2)
    entries.lean(url, queue, count - count // 2)


KINDS: dict[str, Callable[[str, str, int], None]] = {
    "mirrored": entries.mirrored,
    "java": entries.java,
    "lean": entries.lean,
    "both": both,
}


def calls_of(admin: Any) -> int:
    """The number of scripts run since the last look."""
    stats = admin.info("commandstats")
    admin.config_resetstat()
    return sum(stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("eval", "evalsha"))


#: The keys of many entries, by their kind and their server: made once, and restored for each test.
_made: dict[tuple[str, str], dict[bytes, bytes]] = {}


def many(admin: Any, url: str, kind: str) -> None:
    """Puts many entries of a kind into the queue."""
    if (url, kind) not in _made:
        KINDS[kind](url, "orders", MANY)
        _made[url, kind] = {key: admin.dump(key) for key in admin.keys("*")}
    else:
        for key, state in _made[url, kind].items():
            admin.restore(key, 0, state)


@pytest.mark.parametrize("kind", KINDS)
def test_each_call_takes_several_scripts(flavour: Flavour, admin: Any, url: str, kind: str) -> None:
    many(admin, url, kind)
    offered = {entries.number_of(member): member for member in admin.zrange(KEYS.timeout, 0, -1)}
    values = [str(entries.number_of(member)) for member in offered.values()] if kind != "both" else None
    with flavour.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        last = str(max(offered))
        calls_of(admin)
        assert delayed.contains(last)
        assert not delayed.contains("none")
        assert calls_of(admin) >= 3
        assert delayed.contains_all(["0", "1", last, "0"])
        assert not delayed.contains_all([last, "none"])
        assert not delayed.remove("none")
        assert delayed.remove(last)
        assert delayed.remove_all(["7", "8", "none"])
        assert calls_of(admin) >= 8
        copies = 2 if kind == "both" else 1
        assert delayed.size() == MANY - 1 - 2 * copies
        assert delayed.remove_if(lambda value: value.endswith("55")) == (MANY // copies // 100) * copies
        kept = [str(number) for number in range(100, 120)]
        assert delayed.retain_all([*kept, "none"])
        assert not delayed.retain_all(kept)
        assert sorted(delayed.read_all()) == sorted(kept * copies)
    assert values is None or len(values) == MANY
    assert admin.llen(KEYS.envelopes) == (0 if kind == "lean" else len(kept))


@pytest.mark.parametrize("kind", ["mirrored", "lean"])
def test_large_values_make_smaller_parts(client: Any, admin: Any, kind: str) -> None:
    """One script looks at some 3 MB at most, and not at 12,000 values whatever their size."""
    delayed = client.delayed_queue("orders", transfer=False, lean=kind == "lean")
    delayed.offer_all((f"{number}" + "x" * 20_000, 3600) for number in range(600))
    calls_of(admin)
    assert not delayed.contains("none")
    assert calls_of(admin) >= 4
    assert delayed.remove_if(lambda value: not value.startswith("599")) == 599
    assert calls_of(admin) >= 8
    assert delayed.read_all() == ["599" + "x" * 20_000]


def test_the_first_of_equal_values_is_removed(flavour: Flavour, admin: Any, url: str) -> None:
    many(admin, url, "java")
    with flavour.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        first, second = (delayed.offer("twice", delay) for delay in (900, 800))
        assert delayed.remove("twice")
        assert (first.cancel(), second.cancel()) == (Outcome.UNKNOWN, Outcome.CANCELLED)


class Others:
    """Producers, movers and consumers between two calls. They leave alone what has to be met."""

    def __init__(self, admin: Any, seed: int, untouched: set[bytes]) -> None:
        self.admin, self.chance, self.untouched = admin, random.Random(seed), untouched

    def change(self) -> None:
        for _ in range(self.chance.randrange(4)):
            self.chance.choice((self.take_the_first, self.take_some, self.take_a_stretch, self.offer))()

    def take(self, members: list[bytes]) -> None:
        with self.admin.pipeline(transaction=False) as pipeline:
            for member in members:
                if member not in self.untouched:
                    pipeline.lrem(KEYS.envelopes, 1, member)
                    pipeline.zrem(KEYS.timeout, member)
            pipeline.execute()

    def take_the_first(self) -> None:
        self.take(self.admin.zrange(KEYS.timeout, 0, self.chance.randrange(200)))

    def take_some(self) -> None:
        self.take(self.admin.zrandmember(KEYS.timeout, 300) or [])

    def take_a_stretch(self) -> None:
        """Where a walk has just been or will be soon."""
        first = self.chance.randrange(MANY)
        self.take(self.admin.lrange(KEYS.envelopes, first, first + 400))
        self.take(self.admin.zrange(KEYS.timeout, first, first + 400))

    def offer(self) -> None:
        with self.admin.pipeline(transaction=False) as pipeline:
            for _ in range(self.chance.randrange(300)):
                size = self.chance.choice((8, 8, 9))
                member = wrap(Envelope.CURRENT, self.chance.randbytes(size), b"new")
                pipeline.zadd(KEYS.timeout, {member: self.chance.uniform(1e12, 3e12) // 1})
                if size == 8:
                    pipeline.rpush(KEYS.envelopes, member)
            pipeline.execute()


@pytest.mark.parametrize("seed", [1, *map(by_night, range(2, 12))])
@pytest.mark.parametrize("server", ["redis", by_night("valkey")], indirect=True)
@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_all_the_time_is_met(client: Any, admin: Any, url: str, kind: str, seed: int) -> None:
    many(admin, url, kind)
    chance = random.Random(seed)
    lasting = set(chance.sample(admin.zrange(KEYS.timeout, 0, -1), 2_000))
    others = Others(admin, seed, lasting)

    def driven(walk: walks.Walk[Any, Any], run: Callable[[Any], Any]) -> tuple[Any, int]:
        request, count = next(walk), 0
        while True:
            reply = run(request)
            count += 1
            others.change()
            try:
                request = walk.send(reply)
            except StopIteration as error:
                return error.value, count

    with client.pipeline() as pipeline:

        def run(request: Any) -> Any:
            reply = pipeline.add(request)
            pipeline.execute()
            return reply.result

        found, count = driven(walks.waiting(KEYS), run)
        assert lasting <= set(found)
        assert len(found) == len(set(found))
        assert count >= 2
        values = [unwrap(member)[1] for member in lasting]
        assert driven(walks.contained(KEYS, values), run)[0]
        # The new ones are offered while it runs: none of them has a value of these.
        removed, count = driven(walks.removed(KEYS, "all", values, 0), run)
        assert removed >= len(lasting)
        assert count >= 3
    assert not lasting & set(admin.zrange(KEYS.timeout, 0, -1))
    assert not lasting & set(admin.lrange(KEYS.envelopes, 0, -1))
