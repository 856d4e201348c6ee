"""The doctor on entries that Redisson wrote: a healthy fleet of Java and Python, and each problem by itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import attrs
import pytest
import redis

import redisson_dq
from redisson_dq.doctor import Report, diagnose
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.envelope import Envelope
from tests.conftest import PROGRAMS, by_night, eventually, thinned
from tests.illnesses import GLOBAL, ILLNESSES, Fleet, well
from tests.interop.sides import Java
from tests.interop.test_take_due_peer import ENVELOPES
from tests.peer import JavaPeer
from tests.versions import NEWEST, OLDEST

#: Those that do not depend on who wrote the entries, and one whose entries this library alone writes.
_BY_ANYBODY = {
    "eviction",
    "persistence",
    "memory",
    "replication",
    "keyspace-events",
    "slow-scripts",
    "expired",
    "history",
}
#: By day one version plants each problem.
_VERSIONS = [OLDEST, by_night(NEWEST)]


@attrs.frozen
class JavaWriter:
    """A Redisson as a writer. Values of other codecs are offered by a client with ByteArrayCodec."""

    peer: JavaPeer
    url: str
    stack: ExitStack

    def _java(self, queue: str, codec: Any = None) -> Java:
        made = Java(self.peer, self.url, queue, codec=codec)
        self.stack.callback(made.close)
        return made

    def offer(self, queue: str, value: Any, delay: float) -> None:
        self._java(queue).offer(value, int(delay * 1000))

    def offer_bytes(self, queue: str, value: bytes, delay: float) -> None:
        self._java(queue, "ByteArrayCodec").offer(value, int(delay * 1000))


@pytest.fixture(scope="module")
def safe_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    place = tmp_path_factory.mktemp("doctor-peer")
    with EmbeddedServer(program=PROGRAMS["redis"](), appendonly=True, data_dir=place) as server:
        yield server


@pytest.fixture
def fleet(safe_server: EmbeddedServer, peers: Callable[[str], JavaPeer], version: str) -> Iterator[Fleet]:
    """Python and this Redisson on one server. Python writes the envelope that the Redisson reads."""
    url = safe_server.url
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(url))
        client = stack.enter_context(redisson_dq.connect(url, envelope=Envelope(ENVELOPES[version])))
        yield stack.enter_context(well(url, admin, client, JavaWriter(peers(version), url, stack)))


def examined(url: str) -> Report:
    with redisson_dq.connect(url) as client:
        return diagnose(client)


def told(report: Report) -> str:
    return "\n".join(f"{each.check} {each.queue}: {each.text} {dict(each.evidence)}" for each in report.findings)


@pytest.mark.parametrize("version", [NEWEST])
@pytest.mark.parametrize("writers", [(NEWEST, OLDEST), by_night(tuple(ENVELOPES))])
def test_a_healthy_fleet_of_all_versions(
    fleet: Fleet, peers: Callable[[str], JavaPeer], version: str, writers: tuple[str, ...]
) -> None:
    with ExitStack() as stack:
        for number, each in enumerate(writers):
            java = Java(peers(each), fleet.url, f"shared-{number}")
            stack.callback(java.close)
            java.call("open_delayed")
            taking = java.submit("take")
            java.offer({"id": 1}, 1)
            assert taking.result(30)
            java.offer({"id": 2}, 3_600_000)
            with redisson_dq.connect(fleet.url, envelope=Envelope(ENVELOPES[each])) as client:
                client.delayed_queue(f"shared-{number}", transfer=False).offer({"id": 3}, delay=3600)
            java.submit("take")
            eventually(lambda: fleet.admin.info("clients")["blocked_clients"] >= 2)
        report = examined(fleet.url)
        assert report.findings == (), told(report)
        assert {each.status.value for each in report.results} == {"ok"}


@pytest.mark.parametrize("version", _VERSIONS)
@pytest.mark.parametrize("illness", thinned([each for each in ILLNESSES if each not in _BY_ANYBODY], of=3))
def test_a_planted_problem_is_named_and_nothing_else(fleet: Fleet, illness: str) -> None:
    ILLNESSES[illness](fleet, "orders")
    report = examined(fleet.url)
    assert [each.check for each in report.findings] == [illness], told(report)


@pytest.mark.parametrize("version", [NEWEST, by_night(OLDEST)])
@pytest.mark.parametrize("seed", [1, by_night(2), by_night(3)])
def test_a_mix_of_five(fleet: Fleet, seed: int) -> None:
    chosen = random.Random(seed).sample(sorted(ILLNESSES), 5)
    for illness in sorted(chosen, key=lambda each: -GLOBAL.index(each) if each in GLOBAL else -len(GLOBAL)):
        ILLNESSES[illness](fleet, f"orders-{illness}")
    report = examined(fleet.url)
    assert sorted(each.check for each in report.findings) == sorted(chosen), told(report)
