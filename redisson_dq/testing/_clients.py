"""The clients of this library that are connected to a database, from any process."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import redis

from redisson_dq.scheduling.clock import SYSTEM

__all__ = ["clients_in", "is_soon"]

# The name of a connection: its client, and its purpose.
_CLIENT = re.compile(r"(?:^|/)redisson-dq/[^/]+/([^/@+]+)[^/]*/")
# Redis registers that a connection was opened or closed within this time, in seconds.
_NOTICED = 1.0


def clients_in(admin: redis.Redis) -> dict[int, str]:
    """The name of the client of each connection to the database of ``admin``, by Redis's connection id."""
    number = str(admin.connection_pool.connection_kwargs.get("db") or 0)
    rows = [each for each in admin.client_list() if each["db"] == number]
    return {int(each["id"]): found[1] for each in rows if (found := _CLIENT.search(each["name"]))}


def is_soon(is_so: Callable[[], bool]) -> bool:
    """Whether a condition about connections holds, once Redis has registered all changes."""
    deadline = SYSTEM.monotonic() + _NOTICED
    while not (found := is_so()) and SYSTEM.monotonic() < deadline:
        time.sleep(0.01)
    return found
