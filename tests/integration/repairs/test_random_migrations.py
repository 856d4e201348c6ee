"""Random migrations of random queues under random faults. Each ends as one without a fault does."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
import pytest
import redis

import redisson_dq
from redisson_dq.codecs import Codec, Kryo5Codec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.migrating import Journal, Migrated, Migration, QueueSite, Recoding, batches, sites_of
from redisson_dq.wire.partitions import partition_names
from tests.conftest import emptied, eventually
from tests.faults.gate import Gate
from tests.integration.full_queue import contents, fill

# What is set aside, or belongs to ended leases. A random part of it is missing.
_PARTS = ("dead", "undecodable", "expired", "quarantine", "newer", "recurring", "forget")
_PARTITION = re.compile(rb"\d+ (\d+ )(?:orders|bills):\d+(?:-\d+)?")
_UNREADABLE = ("undecodable", "expired", "newer")


@attrs.frozen(kw_only=True)
class Play:
    """One migration, as a seed has chosen it."""

    to: str
    form: Any
    new: Codec | None
    count: int
    missing: frozenset[str]
    is_paused: bool
    leases: str
    batch: int
    #: Before which note of the journal each run is killed.
    kills: tuple[int, ...]
    #: The traps in the ways to the source and to the target.
    traps: tuple[tuple[str, str, Any, int], ...]

    @classmethod
    def of(cls, seed: int) -> Play:
        """The choices of a seed."""
        dice = random.Random(seed)
        new = Kryo5Codec() if dice.random() < 0.3 else None
        to = dice.choice(["name", "server", "server", "partitions", "other partitions"] + ([] if new else ["place"]))
        is_paused = dice.random() < 0.3
        missing = {part for part in _PARTS if dice.random() < 0.4} | (set(_UNREADABLE) if new else set())
        return cls(
            to=to,
            form=dice.choice(["current", "legacy", "lean"] if to == "place" else [None, "current", "legacy", "lean"]),
            new=new,
            count=dice.randrange(1, 4),
            missing=frozenset(missing),
            is_paused=is_paused,
            # A paused queue takes no value back.
            leases="given back" if is_paused else dice.choice(["given back", "over"]),
            batch=dice.randrange(2, 40),
            kills=tuple(dice.randrange(1, 12) for _ in range(dice.randrange(4))),
            traps=tuple(
                (
                    dice.choice(["source", "target"]),
                    dice.choice(["exchange.lua", "exchange.lua", "HDEL", "HSET", "HSCAN"]),
                    dice.choice(["command", "sent", "reply", "half"]),
                    dice.randrange(1, 3),
                )
                for _ in range(dice.randrange(3))
            ),
        )


class _Killed(BaseException):
    """The process ends here."""


def _fill(admin: Any, url: str, play: Play) -> None:
    fill(url, admin, count=play.count)
    for part in play.missing:
        admin.delete(*[key for key in admin.keys("*") if key.startswith(b"redisson_dq_" + part.encode())] or ["none"])
    leases = "redisson_dq_leases:{orders}"
    timeout: str = "redisson_delay_queue_timeout:{orders}"
    held = admin.zrange(leases, 0, -1)
    for member in admin.zrange(timeout, 0, -1):
        if any(lease in member for lease in held):
            if play.leases == "over":
                admin.zadd(timeout, {member: 1000})
                admin.zadd(leases, dict.fromkeys((each for each in held if each in member), 1000))
            else:
                admin.zrem(timeout, member)
    if play.leases == "given back":
        admin.delete(leases)
    if play.is_paused:
        admin.hset("redisson_dq_settings:{orders}", "paused", 1)


def _run(play: Play, urls: dict[str, str], journal: Path, kill_at: int = 0) -> Migrated:
    notes = 0

    def noted(state: str, number: int) -> None:
        nonlocal notes
        notes += 1
        if notes == kill_at:
            raise _Killed

    with (
        redisson_dq.connect(urls["source"], codec=StringCodec()) as client,
        redisson_dq.connect(urls["target"], codec=StringCodec()) as other,
        Journal.resumed(journal) if journal.exists() else Journal.begun(journal, "abc", {}) as file,
    ):
        sources = sites_of(client, "orders")
        targets = {
            "name": lambda: [QueueSite.of(client, "bills")],
            "place": lambda: sources,
            "server": lambda: [QueueSite.of(other, "orders")],
            "partitions": lambda: [QueueSite.of(client, each) for each in partition_names("orders", 3)],
            "other partitions": lambda: [QueueSite.of(other, each) for each in partition_names("bills", 2)],
        }[play.to]()
        if play.to == "partitions":
            # A run that goes on finds the first partitions, which have the queue's name.
            sources = [QueueSite.of(client, "orders")]
        recoding = Recoding(StringCodec() if play.new else None, play.new, play.form, targets)
        return Migration(sources, recoding, journal=file, on_state=noted).run(quiet=0.02, patience=20)


def _end_leases(play: Play, admin: Any, url: str) -> None:
    """Where items stay in their place, the migration does not wait until somebody has ended a lease that is over."""
    if play.to == "place" and play.leases == "over":
        with redisson_dq.connect(url, codec=StringCodec()) as client:
            client.delayed_queue("orders").start_moving()
            eventually(lambda: not admin.zcard("redisson_dq_leases:{orders}"))


def _state(play: Play, admins: list[redis.Redis]) -> dict[str, Any]:
    """The contents of all queues. Those of partitions are put together, as items without ids go to them in turn."""
    names = {"partitions": partition_names("orders", 3), "other partitions": partition_names("bills", 2)}
    found: dict[str, Any] = {}
    for number, admin in enumerate(admins):
        for name in ("orders", "bills"):
            for key, content in contents(admin, name).items():
                found[f"{number} {key}"] = content
        for place, name in enumerate(names.get(play.to, [])):
            for key, content in contents(admin, name).items():
                part = f"{number} {key.replace(name, 'partition')}"
                pairs = content.items() if isinstance(content, dict) else content
                if key.startswith("redisson_dq_dead_info"):
                    # A letter names the partition.
                    pairs = [(field, _PARTITION.sub(rb"\1", text)) for field, text in pairs]
                if key.startswith("redisson_dq_settings"):
                    found[f"{part} {place}"] = content
                else:
                    found[part] = sorted([*found.get(part, []), *pairs])
    for key in list(found):
        if "redisson_dq_returned" in key:
            del found[key]
        elif play.leases == "over" and any(part in key for part in ("deliveries", "histories", "history_ends")):
            # A lease that ends is noted with the time.
            found[key] = len(found[key])
        elif play.leases == "over" and key.split(" ")[1] in ("orders", "bills", "partition"):
            # It ends while ready values are moved.
            found[key] = Counter(found[key])
    return found


def play_seed(seed: int, one: EmbeddedServer, second: EmbeddedServer, folder: Path) -> None:
    play = Play.of(seed)
    with ExitStack() as stack:
        admins = [stack.enter_context(redis.Redis.from_url(each.url)) for each in (one, second)]
        stack.enter_context(pytest.MonkeyPatch.context()).setattr(batches, "BATCH", play.batch)
        _fill(admins[0], one.url, play)
        saved = {key: admins[0].dump(key) for key in admins[0].keys("*")}
        urls = {"source": one.url, "target": second.url}
        calm = _run(play, urls, folder / f"{seed} calm")
        _end_leases(play, admins[0], one.url)
        wanted = _state(play, admins)
        for admin in admins:
            admin.flushall()
        for key, dumped in saved.items():
            admins[0].restore(key, 0, dumped)
        gates = {
            side: stack.enter_context(Gate(lambda server=server: server.port or 0))  # type: ignore[misc]
            for side, server in (("source", one), ("target", second))
        }
        for side, command, where, times in play.traps:
            gates[side].trap(command, where, "cut", times=times)
        urls = {side: gate.url for side, gate in gates.items()}
        for kill_at in play.kills:
            try:
                _run(play, urls, folder / str(seed), kill_at)
            except _Killed:
                continue
        done = _run(play, urls, folder / str(seed))
        _end_leases(play, admins[0], one.url)
        found = _state(play, admins)
        differing = {key: (wanted.get(key), found.get(key)) for key in wanted.keys() | found.keys()}
        assert {key: pair for key, pair in differing.items() if pair[0] != pair[1]} == {}, (seed, play)
        assert (done.left, done.refused) == (calm.left, calm.refused), (seed, play)
        if not play.traps and play.leases != "over":
            assert done.moved == calm.moved, (seed, play)
        assert not [key for admin in admins for key in admin.keys("redisson_dq_migrating*")], (seed, play)
        for admin in admins:
            admin.flushall()


@pytest.mark.parametrize(
    ("first", "count"),
    [(1, 3), pytest.param(100, 300, marks=[pytest.mark.nightly, pytest.mark.timeout(1500)])],
    ids=["some", "many"],
)
def test_a_random_migration_ends_as_without_faults(
    servers: Callable[[str], EmbeddedServer], second: EmbeddedServer, tmp_path: Path, first: int, count: int
) -> None:
    one = emptied(servers("redis"))
    for seed in range(first, first + count):
        play_seed(seed, one, second, tmp_path)
