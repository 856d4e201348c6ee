"""Servers of further versions, named by ``REDISSON_DQ_TEST_SERVERS``.

It holds paths of programs, with colons between them. The nightly tests name those of two wheels, a Redis 6.2 and a
Redis 8. The wheels must not be in the environment: one of them puts a ``redis-server`` into its PATH.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache, partial

from redisson_dq.embedded import ServerProgram, find_server
from tests.conftest import PROGRAMS

__all__ = ["at_hand"]


@cache
def at_hand() -> dict[str, Callable[[], ServerProgram]]:
    """By name: the function that finds each of them."""
    found = dict(PROGRAMS)
    for path in filter(None, os.environ.get("REDISSON_DQ_TEST_SERVERS", "").split(":")):
        # "Redis server v=6.2.14 sha=..."
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.split()
        found[f"{said[0].lower()}-{said[2].removeprefix('v=')}"] = partial(find_server, path)
    return found
