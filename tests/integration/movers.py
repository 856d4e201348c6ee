"""A mover that runs the transfer script call by call, so that a test can look, and change things, between its calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import redis

from redisson_dq.scheduling.hints import Hints
from redisson_dq.scripts.script import load
from redisson_dq.wire import calls
from redisson_dq.wire.calls import Transferred
from redisson_dq.wire.keys import QueueKeys

__all__ = ["HURRIED", "Mover", "hurried"]

#: Constants with which a short list counts as a long one: a call has no time, a slice has 20 entries, a pass is for 60.
HURRIED = {
    "math.max(12000, math.min(40000, PASSED_US * size)) / slowness, PASSED_US * size / 2": "0, 0",
    "local FEW_DUE = 16": "local FEW_DUE = 3",
    "local MANY_DUE = 2000": "local MANY_DUE = 40",
    "local SLICE_US, WANTED = 12000, 100000": "local SLICE_US, WANTED = -1, 60",
    "local MOST_MOVED, MOST_IN_ORDER = 2000, 1000": "local MOST_MOVED, MOST_IN_ORDER = 100, 100",
    "local READ = 500": "local READ = 20",
    "local FRESH = 2000": "local FRESH = 0",
    "local FIRST_READ, GROWTH, READ_BYTES, BYTE_US = 1,": "local FIRST_READ, GROWTH, READ_BYTES, BYTE_US = 20,",
}


#: Up to Redis 7.0 the clock runs inside a script, so a call on a busy machine does less. Later it is stopped.
_TIME = "  local time = redis.call('TIME')\n"
_STILL = "  moment = moment or redis.call('TIME')\n  local time = moment\n"


def still(source: str) -> str:
    """A script with a stopped clock on every server, so its work depends only on its estimates."""
    assert source.count(_TIME) == 1
    return "local moment\n" + source.replace(_TIME, _STILL)


def hurried(source: str) -> str:
    """A transfer script with these constants."""
    for was, now in HURRIED.items():
        assert source.count(was) == 1, was
        source = source.replace(was, now)
    return source


class Mover:
    """One client, as its transfer driver would run it."""

    def __init__(
        self,
        admin: redis.Redis,
        name: str = "mover",
        batch: int = 5000,
        queue: str = "orders",
        *,
        in_haste: bool = True,
        in_cluster: bool = False,
        slowness: float = 1.0,
    ) -> None:
        self.hints = Hints()
        #: Changes the hints of each call before it is sent.
        self.spoil: Callable[[bytes], bytes] = bytes
        #: The purpose of each call: "deliver", "keys", or the end of a slice.
        self.steps: list[bytes] = []
        self._admin, self._name, self._batch, self._keys = admin, name, batch, QueueKeys.of(queue)
        source = still(load("transfer").source)
        self._source = hurried(source) if in_haste else source
        # In a cluster no client knows whether it is alone.
        self._in_cluster, self._slowness = in_cluster, slowness

    def move(self) -> Transferred:
        """One call."""
        kind, detail = self.hints.words()
        self.steps.append(kind)
        if kind == b"deliver" and isinstance(detail, bytes):
            detail = self.spoil(detail)
        request = calls.transfer(
            self._keys,
            self._batch,
            60_000,
            self._name,
            cluster=self._in_cluster,
            slowness=self._slowness,
            step=(kind, detail),
        )
        reply: Any = self._admin.eval(self._source, *request.words)  # type: ignore[arg-type]
        result = request.parse(reply)
        self.hints.answered(*result.step)
        return result
