"""Entries are removed from the middle of the envelope list. Every way has the result of removing them one by one."""

from __future__ import annotations

import functools
import random
import time
from typing import Any

import pytest

from redisson_dq.scripts.script import load
from redisson_dq.wire.envelope import Envelope, wrap
from tests.conftest import by_night, thinned
from tests.integration.conftest import KEYS

#: What decides on the way: what LREM takes to pass an entry and what it takes to read one, and the time to read all.
WAYS = {"each": (0, 1e9, 0), "search": (0, 1e9, 0), "part": (0, 1e-9, -1), "scan": (1e-6, 1e-12, 1e12)}
COSTS = "local PASSED_US, READ_US = 0.012, 0.27"
TIME = "math.max(12000, math.min(40000, PASSED_US * size))"
OFFERED = "local function offered(member, now_us)\n"


def erase(admin: Any, members: list[bytes], way: str | None = None, *, counts: str = "") -> Any:
    """Runs the part of take_due.lua that erases, on its own; ``way`` instead of the one that its costs choose."""
    script = load("take_due")
    source = script.source[: script.source.index("local now_us, now_ms = server_time()\nlocal until_ms")]
    assert source.count(COSTS) == source.count(TIME) == source.count(OFFERED) == 1
    source = source.replace(TIME, "1e12").replace("local keys = {", counts + "local keys = {", 1)
    whole = 80_000.0
    if way is not None:
        passed, read, whole = WAYS[way]
        source = source.replace(COSTS, f"local PASSED_US, READ_US = {passed}, {read}")
    if way == "each":
        source = source.replace(OFFERED, OFFERED + "  if true then return nil end\n")
    keys = [getattr(KEYS, key) for key in script.keys]
    call = f"placed(ARGV, 0, nil, {time.time_ns() // 1000}, PLAIN_US, {whole})"
    run = f"local count, places, others = {call}\nassert(count == #ARGV)\nclose_up(places, others)"
    return admin.eval(f"{source}\n{run}\nreturn {'read' if counts else 0}", len(keys), *keys, *members)


@functools.cache
def mixed(seed: int, count: int, java_share: float) -> list[bytes]:
    """Entries in offer order: ours with growing ids, Java's with random ones between them, in both formats."""
    draw = random.Random(seed)
    us = time.time_ns() // 1000 - 10_000_000
    members = []
    for number in range(count):
        us += draw.choice((0, 0, 1, 5000))
        ours = (us << 12 | number % 4096).to_bytes(8, "big")
        java = draw.randbytes(8)
        format_ = draw.choice((Envelope.CURRENT, Envelope.LEGACY))
        members.append(wrap(format_, java if draw.random() < java_share else ours, b"%d" % (number % 7)))
    return members


@pytest.mark.parametrize(("way", "java_share"), thinned([*WAYS, None], [0.0, 0.3, 0.95, 1.0], of=2))
@pytest.mark.parametrize("count", [by_night(1), by_night(15), 16, 17, by_night(300), 3000])
@pytest.mark.parametrize("seeds", [2, by_night(6)])
def test_what_is_named_is_gone_and_the_rest_keeps_its_order(
    admin: Any, way: str | None, java_share: float, count: int, seeds: int
) -> None:
    for seed in range(seeds):
        members = list(dict.fromkeys(mixed(seed, count, java_share)))
        draw = random.Random(seed)
        gone = draw.sample(members, draw.choice((1, len(members), (len(members) + 1) // 2, min(5, len(members)))))
        admin.rpush(KEYS.envelopes, *members)
        erase(admin, gone, way)
        assert admin.lrange(KEYS.envelopes, 0, -1) == [member for member in members if member not in set(gone)]
        admin.delete(KEYS.envelopes)


@pytest.mark.parametrize("way", WAYS)
def test_entries_that_are_not_in_the_list_cost_nothing_else(admin: Any, way: str) -> None:
    members = mixed(1, 500, 0.5)
    absent = mixed(2, 50, 0.5)
    admin.rpush(KEYS.envelopes, *members[:400], b"", b"junk", b"more junk", *members[400:])
    erase(admin, [*absent, *members[100:150], b"junk"], way)
    left = [*members[:100], *members[150:400], b"", b"more junk", *members[400:]]
    assert admin.lrange(KEYS.envelopes, 0, -1) == left


@pytest.mark.parametrize("way", WAYS)
def test_ids_out_of_order_are_found_all_the_same(admin: Any, way: str) -> None:
    """As after a step back of the server's clock."""
    members = mixed(3, 1000, 0.0)
    stepped = members[600:] + members[:600]
    admin.rpush(KEYS.envelopes, *stepped)
    gone = stepped[::7]
    erase(admin, gone, way)
    assert admin.lrange(KEYS.envelopes, 0, -1) == [member for member in stepped if member not in set(gone)]


def test_entries_older_than_the_first_are_searched_for_without_reading_the_list_for_each(admin: Any) -> None:
    """As after a step back of the server's clock, or in a replica that took over with a clock behind."""
    members = mixed(5, 4000, 0.0)
    stepped = members[2000:] + members[:2000]
    admin.rpush(KEYS.envelopes, *stepped)
    gone = members[:2000:100]
    reads = """
    local read, call = 0, redis.call
    local redis = {call = function(...)
      local reply = call(...)
      if (...) == 'LRANGE' then read = read + #reply end
      return reply
    end}
    """
    read = erase(admin, gone, "search", counts=reads)
    assert admin.lrange(KEYS.envelopes, 0, -1) == [member for member in stepped if member not in set(gone)]
    assert read < len(members)


def test_what_stands_at_the_front_is_cut_off_without_a_look_at_the_rest(admin: Any) -> None:
    members = mixed(4, 2000, 0.5)
    admin.rpush(KEYS.envelopes, *members)
    admin.config_resetstat()
    erase(admin, members[:900])
    assert admin.lrange(KEYS.envelopes, 0, -1) == members[900:]
    stats = admin.info("commandstats")
    assert "cmdstat_lrem" not in stats
    assert stats["cmdstat_ltrim"]["calls"] == 1
