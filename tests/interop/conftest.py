"""One server and any number of Redisson clients for a test."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import attrs
import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import by_night, emptied
from tests.flavours import Flavour
from tests.interop.sides import CODINGS, Coding, Java
from tests.peer import VERSIONS, JavaPeer

#: For tests that every Redisson has: the newest and the oldest by day.
EACH_VERSION = [VERSIONS[0], *map(by_night, VERSIONS[1:-1]), VERSIONS[-1]]
#: For tests of what hardly differs between them.
NEWEST_BY_DAY = [VERSIONS[0], *map(by_night, VERSIONS[1:])]


def each_version(pairs: Iterable[tuple[str, str]]) -> list[Any]:
    """The same of pairs of a codec and a version."""
    found = set(pairs)
    return [
        pytest.param(codec, version, marks=pytest.mark.nightly)
        if version in VERSIONS[1:-1] and (codec, VERSIONS[0]) in found
        else (codec, version)
        for codec, version in sorted(found)
    ]


class OpenJava(Protocol):
    """Opens one more Redisson client for the test's queue; it is closed when the test ends."""

    def __call__(
        self, url: str, *, version: str = VERSIONS[0], codec: Any = None, prefix: str = "", queue: str = ""
    ) -> Java: ...


@pytest.fixture
def redis7(servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """An empty Redis, for tests that one kind of server is enough for."""
    return emptied(servers("redis"))


@pytest.fixture
def look(redis7: EmbeddedServer) -> Iterator[redis.Redis]:
    """A plain redis-py client, to look at that Redis with."""
    with redis.Redis.from_url(redis7.url) as client:
        yield client


@pytest.fixture
def queue() -> str:
    return f"q-{uuid.uuid4().hex}"


@pytest.fixture(params=CODINGS, ids=lambda coding: coding.name)
def coding(request: pytest.FixtureRequest) -> Coding:
    made: Coding = request.param
    return made


@pytest.fixture
def java(peers: Callable[[str], JavaPeer], queue: str) -> Iterator[OpenJava]:
    opened: list[Java] = []
    test_queue = queue

    def open_java(
        url: str, *, version: str = VERSIONS[0], codec: Any = None, prefix: str = "", queue: str = ""
    ) -> Java:
        opened.append(Java(peers(version), url, queue or test_queue, codec=codec, prefix=prefix))
        return opened[-1]

    yield open_java
    for client in opened:
        client.close()


@attrs.frozen
class Beside:
    """A Redisson and a client of ours on one queue. ``delayed`` is our handle, which moves nothing."""

    peer: Java
    client: Any
    delayed: Any


@pytest.fixture
def beside(
    redis7: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str, version: str, envelope: str
) -> Iterator[Beside]:
    """For tests with a ``version`` of Redisson and the ``envelope`` that it reads."""
    with flavour.connect(redis7.url, envelope=envelope) as client:
        yield Beside(java(redis7.url, version=version), client, client.delayed_queue(queue, transfer=False))
