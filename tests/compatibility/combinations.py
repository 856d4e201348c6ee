"""One combination of versions: its round trip, and its result."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import date

import attrs
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.compatibility.environments import ROOT, Environment
from tests.compatibility.trip import FROM_JAVA, FROM_PYTHON, VALUE
from tests.interop.sides import Java
from tests.peer import JavaPeer, PeerError, from_json
from tests.versions import LEGACY

__all__ = ["Combination", "Result", "most_telling", "server_name", "tried"]

#: The versions of Python and redis-py, the server with its version, and the version of Redisson.
Combination = tuple[str, str, str, str]


@attrs.frozen
class Result:
    """``failure`` is empty where all went well. ``day`` is that of the run."""

    python: str
    redis_py: str
    server: str
    redisson: str
    day: str
    failure: str = ""


def server_name(server: EmbeddedServer) -> str:
    """With its version."""
    return f"{server.name} {server.version}"


def most_telling(combinations: Iterable[Combination], tried: Mapping[Combination, str]) -> Iterator[Combination]:
    """First the combinations never tried, each with as many new pairs of versions as possible. Then the oldest.

    ``tried`` has the day of each that was.
    """
    rest = list(combinations)
    seen = {pair for each in tried for pair in _pairs(each)}
    fresh = [each for each in rest if each not in tried]
    while fresh:
        best = max(fresh, key=lambda each: len(_pairs(each) - seen))
        fresh.remove(best)
        seen |= _pairs(best)
        yield best
    yield from sorted((each for each in rest if each in tried), key=lambda each: tried[each])


def _pairs(combination: Combination) -> set[tuple[tuple[int, str], ...]]:
    return set(itertools.combinations(enumerate(combination), 2))


def tried(environment: Environment, server: EmbeddedServer, peer: JavaPeer) -> Result:
    """Runs the round trip on an emptied server."""
    with redis.Redis.from_url(server.url) as admin:
        admin.flushall()
    return Result(
        environment.python,
        environment.redis_py,
        server_name(server),
        peer.version,
        date.today().isoformat(),
        _failure(environment, server.url, peer),
    )


def _failure(environment: Environment, url: str, peer: JavaPeer) -> str:
    envelope = "legacy" if peer.version in LEGACY else "current"
    command = [str(environment.program), "-m", "tests.compatibility.trip", url, envelope]
    try:
        with closing(Java(peer, url, FROM_JAVA)) as java:
            java.offer_all([(VALUE, 50)] * 3)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            return f"Python: {(done.stderr.splitlines() or ['no output'])[-1]}"
        with closing(Java(peer, url, FROM_PYTHON)) as java:
            java.call("open_delayed")
            (taken,) = java.taking(1).result(60) or [None]
        if taken is None or from_json(taken["value"]) != VALUE:
            return f"Redisson took {taken!r}"
    except (PeerError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return ""
