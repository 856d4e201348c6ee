"""Findings that say why: reasons of dead letters, codecs of values that nobody reads, replicas without files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.cli._main import main
from redisson_dq.codecs import ByteArrayCodec, Kryo5Codec
from redisson_dq.doctor import Report, diagnose
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import DeadKeys
from redisson_dq.worker import Retry, Worker
from tests.conftest import PATIENCE, PROGRAMS, emptied, eventually
from tests.workers.handlers import running


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer(program=PROGRAMS["redis"]()) as made:
        yield made


def findings(url: str, *only: str) -> Report:
    with redisson_dq.connect(url) as client:
        return diagnose(client, only=only)


def test_dead_letters_of_another_codec_are_not_given_back_as_they_are(server: EmbeddedServer) -> None:
    url = emptied(server).url
    with redis.Redis.from_url(url) as admin, redisson_dq.connect(url, codec=Kryo5Codec()) as client:
        worker = Worker(client)
        worker.handler("orders")(lambda value: None)
        foreign = client.blocking_queue("orders", codec=ByteArrayCodec(), transfer=False)
        foreign.add_all([b'{"id": 1}', b'{"id": 2}'])
        with running(worker):
            eventually(lambda: admin.llen(DeadKeys.belonging_to("orders").dead) == 2)
        client.delayed_queue("orders", transfer=False).offer({"id": 3}, delay=3600)
    (finding,) = findings(url, "dead-letters").findings
    assert finding.evidence["dead"] == finding.evidence["last_hour"] == 2
    ((reason, count),) = finding.evidence["reasons"].items()
    assert count == 2
    assert "undecodable" in reason
    assert "2 of them within the last hour" in finding.text
    runnable = [each for each in finding.commands if not each.startswith("#")]
    assert not any("redrive" in each for each in runnable)
    (codec,) = [each for each in finding.commands if "one codec" in each]
    assert "JsonJacksonCodec" in codec
    assert "Kryo5Codec" in codec


def test_dead_letters_are_grouped_by_their_reasons(server: EmbeddedServer) -> None:
    url = emptied(server).url
    with redis.Redis.from_url(url) as admin, redisson_dq.connect(url) as client:
        worker = Worker(client)

        @worker.handler("orders", retry=Retry(limit=1))
        def handle(value: int) -> None:
            raise ValueError(f"order {value} is not known") if value < 4 else TimeoutError("the bank is away")

        client.blocking_queue("orders", transfer=False).add_all([1, 2, 3, 4])
        with running(worker):
            eventually(lambda: admin.llen(DeadKeys.belonging_to("orders").dead) == 4)
    (finding,) = findings(url, "dead-letters").findings
    assert sorted(finding.evidence["reasons"].values()) == [1, 3]
    assert "3 x " in finding.text
    assert "is not known" in finding.text
    assert any(each.startswith("redisson-dq dead redrive") for each in finding.commands)


def test_the_codec_comes_before_the_class(server: EmbeddedServer) -> None:
    """A producer with JSON, in a queue of Kryo: to declare its class would help nobody."""
    url = emptied(server).url
    value = b'{"@class":"com.acme.Order","id":1}'
    with redisson_dq.connect(url, codec=Kryo5Codec()) as client:
        client.delayed_queue("orders", transfer=False).offer({"id": 3}, delay=3600)
        client.blocking_queue("orders", codec=ByteArrayCodec(), transfer=False).add(value)
        with pytest.raises(redisson_dq.errors.DecodeError):
            client.blocking_queue("orders", transfer=False).poll()
    (finding,) = findings(url, "undecodable").findings
    deeds = [each for each in finding.commands if each.startswith("#")]
    assert "JsonJacksonCodec" in deeds[0]
    assert "Kryo5Codec" in deeds[0]


def test_a_replica_without_files_is_named_by_the_master(tmp_path: Path) -> None:
    program = PROGRAMS["redis"]()
    with EmbeddedServer(program=program, appendonly=True, data_dir=tmp_path) as master:
        host, port = master.url.partition("//")[2].partition("/")[0].split(":")
        with EmbeddedServer(program=program) as replica, redis.Redis.from_url(replica.url) as admin:
            admin.config_set("save", "")
            admin.replicaof(host, int(port))
            eventually(lambda: admin.info("replication")["master_link_status"] == "up", within=3 * PATIENCE)
            with redis.Redis.from_url(master.url) as main_admin:
                eventually(lambda: main_admin.info("replication")["slave0"]["state"] == "online")
            (finding,) = findings(master.url, "persistence").findings
            assert "once it is the master, a crash loses all items" in finding.text
            admin.config_set("appendonly", "yes")
            assert findings(master.url, "persistence").findings == ()


def test_one_line_where_redis_is_away(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--url", "redis://127.0.0.1:1"]) == 69
    told = capsys.readouterr().out
    assert told.count("unknown:") == 1
    assert "other checks" in told


def test_the_command_by_itself_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 64
    told: Any = capsys.readouterr()
    assert "  doctor " in told.out + told.err
    assert "  worker " in told.out + told.err
