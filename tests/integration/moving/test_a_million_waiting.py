"""How long each call blocks Redis when very many items wait, by the server's own slow log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks import entries
from tests.integration.calls import CALLS, Call

pytestmark = pytest.mark.nightly

COUNT = 1_000_000
KEYS = QueueKeys.of("orders")
KINDS: dict[str, Callable[[str, str, int], None]] = {
    "mirrored": entries.mirrored,
    "java": entries.java,
    "lean": entries.lean,
}
#: Calls that make one reply, copy or removal of everything. docs/limits.md says how long they take.
AT_ONCE = {"read_all", "dump", "copy", "copy_and_replace", "restore_and_replace", "delete"}
#: In ms, on a machine that does nothing else. Redis itself goes along a list of this length for 5 to 10 ms.
LONGEST = 60


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest, servers: Callable[[str], EmbeddedServer]) -> Iterator[str]:
    with redis.Redis.from_url(servers("redis").url) as admin:
        admin.flushall()
        KINDS[request.param](servers("redis").url, "orders", COUNT)
        for key in (KEYS.timeout, KEYS.envelopes):
            if admin.exists(key):
                admin.copy(key, f"kept:{key}")
        yield request.param
        admin.flushall()


def made_anew(admin: redis.Redis) -> None:
    """Restores the waiting items, unless almost nothing is missing."""
    if COUNT - 1000 < admin.zcard(KEYS.timeout) < COUNT + 1000:
        return
    admin.unlink(*(key for key in [*admin.scan_iter(), b"none"] if not key.startswith(b"kept:")))
    for key in (KEYS.timeout, KEYS.envelopes):
        if admin.exists(f"kept:{key}"):
            admin.copy(f"kept:{key}", key)


def rows() -> list[Call]:
    return [row for row in CALLS if row.kind == "delayed" and not (row.waits or row.local or row.name in AT_ONCE)]


@pytest.mark.parametrize("row", rows(), ids=str)
def test_no_call_holds_redis_up(servers: Callable[[str], EmbeddedServer], kind: str, row: Call) -> None:
    url = servers("redis").url
    with redis.Redis.from_url(url) as admin:
        made_anew(admin)
        admin.config_set("slowlog-log-slower-than", 1000)
        admin.config_set("slowlog-max-len", 100_000)
        with redisson_dq.connect(url, codec=StringCodec()) as client:
            delayed = client.delayed_queue("orders", transfer=False, lean=kind == "lean")
            admin.slowlog_reset()
            row.run(delayed)
            slow: list[Any] = admin.slowlog_get(100_000)
        longest = max((entry["duration"] / 1000 for entry in slow), default=0)
        print(f"{kind} {row}: longest {longest:.1f} ms of {len(slow)}")
        assert longest < LONGEST
