"""One combination of versions: its round trip, and its result."""

from __future__ import annotations

import subprocess
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

__all__ = ["Result", "tried"]


@attrs.frozen
class Result:
    """``failure`` is empty where all went well. ``day`` is that of the run."""

    python: str
    redis_py: str
    server: str
    redisson: str
    day: str
    failure: str = ""


def tried(environment: Environment, server: EmbeddedServer, peer: JavaPeer) -> Result:
    """Runs the round trip on an emptied server."""
    with redis.Redis.from_url(server.url) as admin:
        admin.flushall()
    return Result(
        environment.python,
        environment.redis_py,
        f"{server.name} {server.version}",
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
