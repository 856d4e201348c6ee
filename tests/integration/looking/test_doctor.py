"""``redisson_dq.doctor``: each planted problem gives its own finding and nothing else."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import click
import pytest
import redis

import redisson_dq
from redisson_dq.cli._main import main, program
from redisson_dq.codecs import Codec, JsonJacksonCodec, MarshallingCodec
from redisson_dq.doctor import CHECKS, Finding, Report, Severity, Status, diagnose
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.worker import Worker
from tests.conftest import PATIENCE, PROGRAMS, environment, eventually, moving
from tests.illnesses import GLOBAL, ILLNESSES, UNDECLARED, Fleet, PythonWriter, well
from tests.workers.handlers import Gate, running

_READS = ("cmdstat_zscore", "cmdstat_lrange", "cmdstat_zrange", "cmdstat_lindex")


@pytest.fixture(scope="module")
def safe_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server as in production: with an append-only file."""
    place = tmp_path_factory.mktemp("doctor")
    with EmbeddedServer(program=PROGRAMS["redis"](), appendonly=True, data_dir=place) as server:
        yield server


@pytest.fixture
def fleet(safe_server: EmbeddedServer) -> Iterator[Fleet]:
    url = safe_server.url
    with redis.Redis.from_url(url) as admin, redisson_dq.connect(url) as client:
        with well(url, admin, client, PythonWriter(client)) as made:
            yield made


def examined(url: str, *queues: str, **options: Any) -> Report:
    with redisson_dq.connect(url) as client:
        return diagnose(client, queues, **options)


def named(report: Report) -> list[str]:
    return sorted(finding.check for finding in report.findings)


def told(report: Report) -> str:
    return "\n".join(f"{each.check} {each.queue}: {each.text} {dict(each.evidence)}" for each in report.findings)


def test_a_healthy_fleet(fleet: Fleet) -> None:
    report = examined(fleet.url)
    assert report.findings == (), told(report)
    assert [(each.check, each.status, each.reason) for each in report.results] == [
        (check.id, Status.OK, None) for check in CHECKS if not check.writes
    ]
    assert (report.notes, report.exit_code(), report.exit_code(strict=True)) == ((), 0, 0)


def test_values_whose_receiver_is_gone_are_named_long_before_their_deadline(safe_server: EmbeddedServer) -> None:
    """Nobody is connected that could ack them, and what is ready beside them has no consumer either."""
    keys = QueueKeys.of("payments")
    with redis.Redis.from_url(safe_server.url) as admin:
        admin.flushall()
        with redisson_dq.connect(safe_server.url) as client:
            queue = client.blocking_queue("payments", transfer=False)
            queue.add_all(["held", "ready"])
            assert queue.receive(timeout=0, visibility_timeout=7 * 86_400)
        assert named(examined(safe_server.url, "payments")) == ["nobody-consumes"], "it may just have been received"
        records: Any = admin.hgetall(keys.deliveries)
        ((lease, record),) = records.items()
        fields = record.split(b" ")
        # It was received two minutes ago.
        fields[4] = b"%d" % (int(fields[4]) - 120_000)
        admin.hset(keys.deliveries, lease, b" ".join(fields))
        report = examined(safe_server.url, "payments")
        assert named(report) == ["leases-stuck", "nobody-consumes"], told(report)
        assert "no connected client could ack them" in told(report)
        with redisson_dq.connect(safe_server.url) as client:
            # Another client is connected, which does not have it.
            assert client.ping()
            assert named(examined(safe_server.url, "payments")) == ["leases-stuck", "nobody-consumes"]


def test_a_ready_value_in_another_codec_is_shown_where_it_stands(safe_server: EmbeddedServer) -> None:
    with redis.Redis.from_url(safe_server.url) as admin, redisson_dq.connect(safe_server.url) as client:
        admin.flushall()
        client.blocking_queue("invoices", transfer=False).add_all(range(12))
        admin.rpush("invoices", b"\x80\x04\x95binary junk")
        (finding,) = diagnose(client, ["invoices"], only=["codec"]).findings
        shown = subprocess.run(["bash", "-c", finding.shown_by], capture_output=True, check=True).stdout
        assert b"binary junk" in shown
        assert " --state ready" in finding.commands[0]


@pytest.mark.parametrize("name", ["MarshallingCodec", "ForyCodec"])
def test_a_codec_of_an_old_fleet_is_a_finding(safe_server: EmbeddedServer, name: str) -> None:
    data = MarshallingCodec().encode({"id": 5}) if name == "MarshallingCodec" else b"\x00\xff\x02\x00abc"
    with redis.Redis.from_url(safe_server.url) as admin, redisson_dq.connect(safe_server.url) as client:
        admin.flushall()
        admin.rpush("orders", data, data)
        (finding,) = diagnose(client, ["orders"], only=["codec"]).findings
        assert finding.text.endswith(f"the values are in {name}")
        named = diagnose(client, ["orders"], only=["codec"], codec=MarshallingCodec())
        assert len(named.findings) == (name == "ForyCodec")


@pytest.mark.parametrize("expected", [None, JsonJacksonCodec()], ids=["recognised", "given"])
def test_a_codec_that_reads_and_writes_another_form_is_a_finding(
    safe_server: EmbeddedServer, expected: Codec | None
) -> None:
    usual = [JsonJacksonCodec(java_time=form).encode([datetime(2026, 1, 2), uuid4()]) for form in ("numbers", "text")]
    usual += [JsonJacksonCodec(redisson="3.20.0").encode({"id": uuid4()})]
    other = b'["java.util.ArrayList",[{"@class":"java.util.HashMap","a":1}, 2]]'
    with redis.Redis.from_url(safe_server.url) as admin, redisson_dq.connect(safe_server.url) as client:
        admin.flushall()
        admin.rpush("orders", *usual)
        assert not diagnose(client, ["orders"], only=["codec"], codec=expected).findings
        admin.rpush("orders", other)
        (finding,) = diagnose(client, ["orders"], only=["codec"], codec=expected).findings
        assert "1 of 4 sampled values are read by JsonJacksonCodec and written in another form" in finding.text
        assert finding.severity is Severity.WARNING
        assert finding.evidence["bytes"] == other[:32].hex()


@pytest.mark.parametrize("illness", ILLNESSES)
def test_a_planted_problem_is_named_and_nothing_else(fleet: Fleet, illness: str) -> None:
    ILLNESSES[illness](fleet, "orders")
    report = examined(fleet.url)
    if illness == "replication" and "nobody-moves" in named(report):
        # A refused write makes the clients connect again. In that moment nobody listens.
        eventually(lambda: "nobody-moves" not in named(examined(fleet.url)))
        report = examined(fleet.url)
    assert named(report) == [illness], told(report)
    (finding,) = report.findings
    assert finding.queue in (None, "orders", "shop:orders")
    assert finding.evidence
    assert finding.commands
    # The command that shows it is one that redis-cli takes.
    done = subprocess.run(["bash", "-c", finding.shown_by], capture_output=True, check=True).stdout
    # That nothing stands in the other key is the sign of a torn entry.
    assert (done.strip() == b"") is (illness == "torn-entries")
    assert b"ERR" not in done
    assert {each.check: each.status.value for each in report.results if each.status is not Status.OK} == {
        illness: finding.severity.value
    }


#: The setting of a history; how many ms before now its 80 events are; the finding, and the last command.
HISTORIES = {
    "of items": (b"80 2592000000", 60_000, r"covers only the last 6\d s: it keeps 80", "--keep 100"),
    "of a time": (b"80 21600000", 60_000, r"covers only the last 6\d s of the 6:00:00 that", "--keep 21600s"),
    "ahead": (b"80 2592000000", -4 * 86_400_000, r"events [34] days ahead of the clock", "--keep 10"),
    "unreadable": (b"1000", 60_000, "in no known form, so nothing is noted", "--keep 1000"),
}


@pytest.mark.parametrize("planted", HISTORIES)
def test_histories_that_are_of_little_use(fleet: Fleet, planted: str) -> None:
    setting, age_ms, text, command = HISTORIES[planted]
    keys, first_ms = QueueKeys.of("orders"), int(fleet.admin.time()[0]) * 1000 - age_ms
    fleet.admin.hset(keys.settings, "history", setting)
    for number in range(80):
        fleet.admin.xadd(keys.events, dict.fromkeys("ekivwlndr", "x"), id=f"{first_ms}-{number}")
    (finding,) = examined(fleet.url, "orders").findings
    assert finding.check == "history"
    assert re.search(text, finding.text)
    assert finding.commands[-1] == f"redisson-dq history orders {command}"
    assert main(["history", "orders", *command.split(), "--url", fleet.url]) == 0
    fleet.admin.xtrim(keys.events, maxlen=0)
    assert not examined(fleet.url, "orders").findings


def test_a_history_in_one_partition_only(fleet: Fleet) -> None:
    whole = fleet.client.delayed_queue("orders", partitions=3, transfer=False)
    for number in range(30):
        whole.offer("x", 3600, id=f"order-{number}")
    whole.set_history(1000)
    assert not [each for each in examined(fleet.url, "orders").findings if each.check == "history"]
    fleet.client.delayed_queue(whole.partitions[1].name, transfer=False).set_history(None)
    (finding,) = [each for each in examined(fleet.url, "orders").findings if each.check == "history"]
    assert (finding.queue, finding.partition) == ("orders", whole.partitions[1].name)
    assert finding.commands == (
        "redisson-dq history orders --keep 1000",
        "redisson-dq history orders --keep none",
    )


def parsed(line: str) -> dict[str, Any]:
    """The parameters of a redisson-dq command line. Raises click.UsageError if it is not one."""
    _, *words = shlex.split(line)
    command: click.Command = program
    context = click.Context(command)
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
    return dict(command.make_context(name, words).params)


@pytest.mark.parametrize("queue", ["-dash", "it's"])
@pytest.mark.parametrize("illness", ILLNESSES)
def test_each_command_of_ours_that_a_finding_shows_exists_and_names_the_queue(
    fleet: Fleet, illness: str, queue: str
) -> None:
    ILLNESSES[illness](fleet, queue)
    ours = [
        (finding.queue, each)
        for finding in examined(fleet.url).findings
        for each in finding.commands
        if each.startswith("redisson-dq ")
    ]
    for named_queue, line in ours:
        params = parsed(line)
        if named_queue is not None and "queue" in " ".join(params):
            given = params.get("queue") or params.get("queues")
            assert given in (named_queue, (named_queue,)), line


@pytest.mark.parametrize("seed", range(4))
def test_a_mix_of_five(fleet: Fleet, seed: int) -> None:
    chosen = random.Random(seed).sample(sorted(ILLNESSES), 5)
    for illness in sorted(chosen, key=lambda each: (each in GLOBAL, GLOBAL.index(each) * -1 if each in GLOBAL else 0)):
        ILLNESSES[illness](fleet, f"orders-{illness}")
    report = examined(fleet.url)
    assert named(report) == sorted(chosen), told(report)


# First the problems that delete or take the planted items of others, last those that block others.
FIRST = ("recurring", "torn-entries", "undecodable", "leases-stuck", "failing", "dead-letters")
LAST = ("nobody-consumes", "worker", "ready-backlog", "paused", *reversed(GLOBAL))
#: Each symptom of these is also one of the others', and is reported once.
UNTAKEN = {"nobody-consumes", "ready-backlog", "worker"}
#: Illnesses of a queue that a client has open, and of one that no client has open or moves.
OPEN = {
    *(
        "rights",
        "key-types",
        "far-due",
        "nobody-consumes",
        "paused",
        "parked",
        "leases-stuck",
        "failing",
        "dead-letters",
        "quarantine",
    ),
    *("undecodable", "torn-entries", "mixed-envelopes", "codec", "unknown-classes", "name-mapper", "keyspace-events"),
    *("recurring", "history", "slow-scripts", "ready-backlog", "worker"),
}
CLOSED = {"overdue", "nobody-moves", "expired"}
#: Further pairs that no queue can have, because one ends the other.
EXCLUDED = ({"overdue", "nobody-moves"}, {"key-types", "undecodable"}, {"dead-letters", "orphans"})


def rank(illness: str) -> int:
    if illness in FIRST:
        return FIRST.index(illness) - len(FIRST)
    return LAST.index(illness) + 1 if illness in LAST else 0


def is_possible(one: str, two: str) -> bool:
    split = (one in OPEN and two in CLOSED) or (two in OPEN and one in CLOSED)
    return not split and {one, two} not in EXCLUDED and not {one, two} <= CLOSED


PAIRS = [pair for pair in itertools.combinations(ILLNESSES, 2) if is_possible(*pair)]


@pytest.mark.parametrize(
    ("one", "two"),
    [pytest.param(*pair, marks=[] if i % 24 == 0 else pytest.mark.nightly) for i, pair in enumerate(PAIRS)],
)
def test_no_symptom_hides_another_one_on_the_same_queue(fleet: Fleet, one: str, two: str) -> None:
    for illness in sorted((one, two), key=rank):
        ILLNESSES[illness](fleet, "orders")
    found = set(named(examined(fleet.url)))
    for illness in (one, two):
        assert found & (UNTAKEN if illness in UNTAKEN else {illness}), found


# -- further signs ---------------------------------------------------------------------------------------------------


def test_occurrences_that_were_missed(fleet: Fleet) -> None:
    delayed = fleet.listen("orders")

    def found(note: str) -> list[Finding]:
        fleet.admin.hset(QueueKeys.of("orders").settings, "missed", note)
        return [each for each in examined(fleet.url, "orders").findings if each.check == "recurring"]

    for name, every in (("daily", 3600), ("tick", 5)):
        delayed.offer_recurring("report", name, every=every)
    at = int(time.time() * 1000) - 3_600_000
    for text in (f"5 {at} tick", f"5 {at - 86_400_000} daily", "5", "x", "5 - daily"):
        assert found(text) == [], text
    (finding,) = found(f"5 {at} daily")
    assert finding.severity is Severity.WARNING
    assert finding.text.startswith("5 occurrences were missed, as no process moved the queue; the last one at ")
    assert (finding.evidence["missed"], finding.evidence["last_of"]) == (5, "daily")


def test_a_key_with_a_time_to_live(fleet: Fleet) -> None:
    fleet.listen("orders")
    fleet.writer.offer("orders", "a", 3600)
    fleet.admin.expire("redisson_delay_queue_timeout:{orders}", 7200)
    (finding,) = examined(fleet.url).findings
    assert (finding.check, finding.queue) == ("eviction", "orders")


def test_leases_that_ended_and_did_not_come_back(fleet: Fleet) -> None:
    fleet.admin.rpush("orders", b"\x03\x82a")
    keys = QueueKeys.of("orders")
    assert fleet.client.blocking_queue("orders", transfer=False).receive(timeout=PATIENCE, visibility_timeout=3600)
    fleet.frozen("orders")
    fleet.late("orders")
    for lease in fleet.admin.zrange(keys.leases, 0, -1):
        fleet.admin.execute_command("ZADD", keys.leases, 1, lease)
    (finding,) = examined(fleet.url).findings
    assert (finding.check, finding.severity.value, finding.evidence["ended"]) == ("leases-stuck", "problem", 1)


def test_a_time_in_place_of_a_delay(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDISSON_DQ_URL", fleet.url)
    ILLNESSES["far-due"](fleet, "orders")
    (finding,) = examined(fleet.url).findings
    assert finding.text.endswith(": a time was given in place of a delay")
    shown, _, sooner, *_ = finding.commands
    assert main(words_of(shown)[1:]) == 0
    assert main([*words_of(sooner)[1:], "--no-undo"]) == 0
    timeout = QueueKeys.of("orders").timeout
    found: Any = fleet.admin.zrange(timeout, 0, 0, withscores=True)
    ((entry, due_ms),) = found
    # Within a minute, which is the time that was meant.
    assert abs(due_ms - time.time() * 1000 - 60_000) < 60_000
    fleet.admin.zadd(timeout, {entry: "inf"})
    (finding,) = examined(fleet.url).findings
    assert (finding.check, finding.evidence["last_due"], "never" in finding.text) == ("far-due", None, True)
    assert main([*words_of(finding.commands[-2])[1:], "--no-undo"]) == 0
    eventually(lambda: fleet.admin.llen("orders") == 1)


def test_a_value_that_came_to_a_receiver_which_died(
    safe_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redisson's take() does not see it. A client that has the queue open would put it back by itself."""
    monkeypatch.setenv("REDISSON_DQ_URL", safe_server.url)
    with redis.Redis.from_url(safe_server.url) as admin, redisson_dq.connect(safe_server.url) as client:
        admin.flushall()
        admin.rpush(QueueKeys.of("orders").arrivals, b"\x03\x82a", b"\x03\x82b")
        with redisson_dq.connect(safe_server.url) as other, moving(other.delayed_queue("orders")):
            eventually(lambda: any(b"/subscription/" in each["name"].encode() for each in admin.client_list()))
            assert not diagnose(client, only=["leases-stuck"]).findings
        (finding,) = diagnose(client, only=["leases-stuck"]).findings
        assert (finding.severity, finding.evidence) == (Severity.PROBLEM, {"arrivals": 2})
        assert main(words_of(finding.commands[0])[1:]) == 0
        assert admin.lrange("orders", 0, -1) == [b"\x03\x82a", b"\x03\x82b"]
        assert not diagnose(client, only=["leases-stuck"]).findings


def test_a_value_that_ends_its_processes(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDISSON_DQ_URL", fleet.url)
    fleet.listen("orders")
    fleet.writer.offer("orders", "kill", 0.001)
    for _ in range(5):
        assert fleet.client.blocking_queue("orders").receive(timeout=PATIENCE, visibility_timeout=900)
        # As for a process that has died.
        assert main(["release", "orders", "--all", "--yes", "--no-undo"]) == 0
    (finding,) = [each for each in examined(fleet.url).findings if each.check == "failing"]
    assert "up to 5 times so far: the processes that had them died or hung" in finding.text


def test_a_list_of_envelopes_that_is_gone_comes_back_by_one_command(fleet: Fleet) -> None:
    fleet.listen("orders")
    for number in range(30):
        fleet.writer.offer("orders", f"item {number}", 3600 + number)
    fleet.client.blocking_queue("orders").add("held")
    held = fleet.client.blocking_queue("orders").receive(timeout=PATIENCE, visibility_timeout=900)
    fleet.admin.delete(QueueKeys.of("orders").envelopes)
    (finding,) = examined(fleet.url).findings
    assert (finding.check, finding.evidence["in_zset_alone"], len(finding.commands)) == ("torn-entries", 30, 1)
    done = subprocess.run(["bash", "-c", finding.commands[0]], capture_output=True, check=True)
    assert done.stdout.strip() == b"30"
    assert "torn-entries" not in named(examined(fleet.url))
    assert fleet.client.delayed_queue("orders", transfer=False).read_all() == [f"item {number}" for number in range(30)]
    held.ack()


def test_a_key_that_was_evicted_leaves_entries_that_one_command_delivers(fleet: Fleet) -> None:
    fleet.listen("orders")
    for number in range(30):
        fleet.writer.offer("orders", f"item {number}", 3600 + number)
    fleet.admin.delete(QueueKeys.of("orders").timeout)
    (finding,) = examined(fleet.url).findings
    assert (finding.check, finding.evidence["in_list_alone"], len(finding.commands)) == ("torn-entries", 30, 1)
    done = subprocess.run(["bash", "-c", finding.commands[0]], capture_output=True, check=True)
    assert done.stdout.strip() == b"30"
    # The clients are told, so nobody waits for a probe.
    eventually(lambda: fleet.admin.llen("orders") == 30)
    assert "torn-entries" not in named(examined(fleet.url))


def test_dead_letters_of_partitions_in_another_queue(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody consumes that other queue, and that is no problem. The commands name the queue whose letters they are."""
    monkeypatch.setenv("REDISSON_DQ_URL", fleet.url)
    whole = fleet.client.blocking_queue("orders", partitions=2, transfer=False)
    for part in whole.partitions:
        queue = fleet.client.blocking_queue(part.name, dead_letter="graveyard", transfer=False)
        queue.add("bad")
        queue.receive(timeout=PATIENCE).reject("no such order")
    (finding,) = examined(fleet.url).findings
    assert (finding.check, finding.queue) == ("dead-letters", "graveyard"), finding
    assert finding.text == (
        "values of orders were given up, and are kept here, 2 of them within the last hour: 2 x no such order"
    )
    assert finding.evidence["reasons"] == {"no such order": 2}
    shown, again, _ = finding.commands
    assert main(words_of(shown)[1:]) == 0
    assert capsys.readouterr().out.count("no such order") == 2
    assert main([*words_of(again)[1:], "--no-undo"]) == 0
    assert whole.size() == 2


def test_dead_letters_in_another_queue_have_the_reasons_of_each_source(fleet: Fleet) -> None:
    for name, reasons in (
        ("orders", ["timeout after 5 s", "timeout after 9 s", "undecodable: no Kryo5"]),
        ("bills", ["no"]),
    ):
        queue = fleet.client.blocking_queue(name, dead_letter="graveyard", transfer=False)
        for reason in reasons:
            queue.add("bad")
            queue.receive(timeout=PATIENCE).reject(reason)
    found = {each.evidence["of"]: each for each in examined(fleet.url).findings}
    assert {source: each.evidence["reasons"] for source, each in found.items()} == {
        "orders": {"timeout after N s": 2, "undecodable: no KryoN": 1},
        "bills": {"no": 1},
    }
    # Values that would fail again are not given back unchanged.
    assert any(each.startswith("# when that is done: ") for each in found["orders"].commands)
    assert any(each.startswith("redisson-dq dead redrive bills") for each in found["bills"].commands)


def test_a_finding_of_partitions_tells_which_one_its_figures_are_of(fleet: Fleet) -> None:
    parts = redisson_dq.partition_names("orders", 3)
    for number, name in enumerate(parts):
        fleet.writer.offer(name, "alone", 3600 + number)
    (finding,) = examined(fleet.url).findings
    assert (finding.queue, finding.evidence["partitions"]) == ("orders", 3)
    assert finding.text.endswith(f" (in {parts[0]}, and 2 more partitions are like it)")


def test_a_partition_that_is_empty_is_not_gone_while_another_holds_something(fleet: Fleet) -> None:
    empty, full, _ = redisson_dq.partition_names("orders", 3)
    fleet.admin.hset(QueueKeys.of(empty).records, "id", "record")
    fleet.writer.offer(full, "alone", 3600)
    assert named(examined(fleet.url)) == named(examined(fleet.url, "orders")) == ["nobody-moves"]
    fleet.admin.delete(*fleet.admin.keys(f"*{{{full}}}"))
    (finding,) = examined(fleet.url).findings
    assert (finding.check, finding.queue, finding.partition) == ("orphans", "orders", empty)


def test_ids_that_are_remembered_are_no_orphans(fleet: Fleet) -> None:
    with redisson_dq.connect(fleet.url) as client:
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue).offer("a", 0.01, id="order-71")
        delivery = queue.receive(timeout=PATIENCE)
        assert delivery is not None
        delivery.ack()
    keys = QueueKeys.of("orders")
    fleet.admin.delete(keys.alarm)
    assert examined(fleet.url).findings == ()
    fleet.admin.zunionstore(keys.forget, {keys.forget: 0})
    (finding,) = examined(fleet.url).findings
    assert (finding.check, set(finding.evidence["keys"])) == ("orphans", {keys.records, keys.forget})


def test_a_queue_that_is_not_there_is_told_with_the_nearest(fleet: Fleet) -> None:
    with pytest.raises(ArgumentError, match=r'queues are names, such as \["orders"\], not 5'):
        diagnose(fleet.client, [5])  # type: ignore[list-item]
    assert diagnose(fleet.client, "bussy").notes == examined(fleet.url, "bussy").notes
    assert examined(fleet.url, "bussy").notes == ("bussy: it has no keys in Redis; did you mean busy?",)
    assert examined(fleet.url, "other").notes == ("other: it has no keys in Redis",)
    assert examined(fleet.url, "busy", "idle").notes == ()


def test_services_in_two_databases_do_not_meet(fleet: Fleet) -> None:
    """A channel is one for all databases, so somebody seems to have the queue open."""
    there = f"{fleet.url.rpartition('/')[0]}/5"
    with redisson_dq.connect(there) as producer, redis.Redis.from_url(there) as admin:
        fleet.listen("orders")
        producer.delayed_queue("orders", transfer=False).offer("alone", delay=3600)
        keys = QueueKeys.of("orders")
        admin.zadd(keys.timeout, {admin.zrange(keys.timeout, 0, 0)[0]: 1})
        (finding,) = [each for each in examined(there).findings if each.check == "overdue"]
        assert finding.text.endswith("clients listen in database 0, and the items are in 5")
        assert finding.commands[-1] == "# set one database in all services"
        (note,) = examined(fleet.url).notes
        assert note == "idle, orders: database 0 is empty, and the server has keys in db5"
        admin.flushdb()


def test_a_large_queue_is_looked_at_like_a_small_one(fleet: Fleet) -> None:
    counts: list[int] = []
    for size in (1000, 50_000):
        delayed = fleet.listen(f"size-{size}")
        delayed.offer_all([(str(number), 3600.0 + number) for number in range(size)])
        fleet.admin.config_resetstat()
        assert examined(fleet.url, f"size-{size}", only=["torn-entries", "mixed-envelopes", "codec"]).findings == ()
        stats = fleet.admin.info("commandstats")
        counts.append(sum(row["calls"] for name, row in stats.items() if name in _READS))
    assert counts[0] == counts[1] < 1000


def test_the_command_line(fleet: Fleet, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ILLNESSES["unknown-classes"](fleet, "orders")
    url = ["--url", fleet.url]
    assert main(["doctor", *url, "--skip", "unknown-classes", "--strict"]) == 0
    assert main(["doctor", *url, "--only", "codec,unknown-classes"]) == 0
    assert main(["doctor", *url, "--only", "unknown-classes", "--strict"]) == 1
    capsys.readouterr()
    assert main(["doctor", *url, "--codec", "kryo5", "--json"]) == 0
    assert [each["check"] for each in json.loads(capsys.readouterr().out)["findings"]] == ["unknown-classes"]
    assert main(["doctor", *url, "--codec", "JsonJacksonCodec", "--only", "codec"]) == 1
    assert "not in JsonJacksonCodec" in capsys.readouterr().out
    classes = tmp_path / "shop_unseen.py"
    classes.write_text(
        "from dataclasses import dataclass\nfrom redisson_dq.java import java_class\n\n\n"
        '@java_class("com.shop.Unseen")\n@dataclass\nclass Unseen:\n    pass\n'
    )
    # In a process of its own, as a declaration holds for good.
    words = ["doctor", *url, "--classes", str(classes), "--strict"]
    command = [sys.executable, "-m", "redisson_dq", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (["--only", "nobody-move"], ["--codec", "Kryo6"], ["--classes", "no_such_module"]):
        assert main(["doctor", *url, *words]) == 64
    assert "did you mean nobody-moves" in capsys.readouterr().err
    assert main(["doctor", "--list-checks"]) == 0
    assert all(check.id in capsys.readouterr().out for check in CHECKS[:1])


@pytest.mark.parametrize(
    ("value", "codecs", "missing"),
    [
        (UNDECLARED, "Kryo5Codec", "com.shop.Unseen"),
        (b'{"@class":"com.shop.Order","id":4}', "JsonJacksonCodec", "com.shop.Order"),
        (b"\xac\xed\x00\x05t\x00\x01a", "SerializationCodec", None),
        (b"\xff\xff", "CborJacksonCodec or MsgPackJacksonCodec", None),
        (b"\x1c\x1c\x1c", None, None),
    ],
)
def test_what_lets_consumers_read_it_comes_before_it_is_given_back_and_dropped(
    fleet: Fleet, value: bytes, codecs: str | None, missing: str | None
) -> None:
    fleet.admin.rpush(QueueKeys.of("orders").undecodable, value)
    fleet.listen("orders")
    (finding,) = examined(fleet.url).findings
    shown, codec, *others = finding.commands
    assert shown == "redisson-dq undecodable list orders"
    if codecs is None:
        assert codec.startswith("# let producers and consumers use one codec")
    else:
        assert codec == f"# give consumers and producers one codec: these bytes are of {codecs}"
    if missing is not None:  # after the codec, as a class declared for another one is of no use
        declare = others.pop(0)
        assert declare.startswith(
            f"# declare {missing} for the consumers, with the jar of the Java service: redisson-dq gen"
        )
    assert others == [
        "redisson-dq undecodable redrive orders --all --yes",
        "redisson-dq undecodable purge orders --all",
    ]


@pytest.mark.parametrize(("ahead_s", "found"), [(0, []), (60, ["clock"]), (-60, ["clock"])])
def test_the_clock_of_a_redisson(fleet: Fleet, ahead_s: int, found: list[str]) -> None:
    """A transfer of Redisson's has the time of its machine among its arguments, and the slow log keeps them."""
    fleet.configured("slowlog-log-slower-than", 0)
    keys = QueueKeys.of("busy")
    now_ms = int(fleet.admin.time()[0]) * 1000 + ahead_s * 1000
    fleet.admin.execute_command("EVAL", "return 1", 3, keys.ready, keys.timeout, keys.envelopes, now_ms, 100)
    assert named(examined(fleet.url, only=["clock"])) == found


# -- printed commands ------------------------------------------------------------------------------------------------

EVIL = "it's \x1b[31m\u202ered\x07"
#: No answer of these tells anything about the command, or they stay.
_NOT_RUN = ("redisson-dq acl", "df ", "timedatectl", "systemctl")


#: These plant connections, whose names cannot have such characters.
_NAMED_AFTER_IT = ("client-versions", "worker")


def words_of(line: str) -> list[str]:
    """A command line as bash reads it."""
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, text=True, check=True)
    return done.stdout.split("\0")[:-1]


@pytest.mark.parametrize("illness", ILLNESSES)
def test_commands_work_when_they_are_pasted_and_nothing_raw_is_printed(
    fleet: Fleet, illness: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a queue whose name would change a terminal. The commands name the server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REDISSON_DQ_URL", raising=False)
    queue = "orders" if illness in _NAMED_AFTER_IT else EVIL
    ILLNESSES[illness](fleet, queue)
    for words in (
        ["doctor"],
        ["queues"],
        ["stats", queue],
        ["list", queue],
        ["watch", "--count", "1"],
        ["peek", queue],
    ):
        main([*words, "--url", fleet.url])
        told = capsys.readouterr()
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", told.out + told.err), words
    main(["doctor", "--json", "--url", fleet.url])
    findings = json.loads(capsys.readouterr().out)["findings"]
    if illness == "replication":
        # A refused write makes the clients connect again. In that moment nobody listens.
        findings = [each for each in findings if each["check"] != "nobody-moves"]
    (finding,) = findings
    assert finding["queue"] in (None, queue, f"shop:{queue}")
    for number, line in enumerate(each for each in finding["commands"] if not each.startswith(("#", *_NOT_RUN))):
        (tmp_path / str(number)).mkdir()
        monkeypatch.chdir(tmp_path / str(number))
        pasted(line, capsys)
        if finding["commands_are"] == "alternatives":
            # Each of them is for the original problem.
            ILLNESSES[illness](fleet, queue)
    if illness in _ENDED_BY_ITS_COMMANDS:
        assert illness not in named(examined(fleet.url))


#: The remaining remedies of the others are a text or a look.
_ENDED_BY_ITS_COMMANDS = (
    *("eviction", "persistence", "memory", "replication", "key-types", "paused", "dead-letters", "quarantine"),
    *("undecodable", "leases-stuck", "orphans", "slow-scripts"),
)


def pasted(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs a printed command as a shell would. A sidecar is ended, and a question is answered."""
    if not line.startswith("redisson-dq "):
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
        assert "ERR" not in done.stdout, line
        return
    words = words_of(line)[1:]
    if "--follow" in words:
        command = [sys.executable, "-m", "redisson_dq", *words, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as sidecar:
            assert sidecar.stdout is not None
            assert sidecar.stdout.readline(), sidecar.communicate()
            sidecar.send_signal(signal.SIGINT)
            _, told = sidecar.communicate(timeout=PATIENCE)
        assert (sidecar.returncode, b"Traceback" in told) in ((0, False), (130, False)), (line, told)
        return
    answer = [] if "--yes" in words or "purge" not in words else ["--yes"]
    assert main([*words, *answer]) in (0, 1), (line, capsys.readouterr().err)


def test_a_password_stands_in_no_command(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.writer.offer("orders", "alone", 3600)
    fleet.admin.acl_setuser(
        "svc", enabled=True, passwords=["+hidden"], categories=["+@all"], keys=["*"], channels=["*"]
    )
    try:
        assert main(["doctor", "orders", "--url", fleet.url.replace("//", "//svc:hidden@")]) == 1
    finally:
        fleet.admin.acl_deluser("svc")
    told = capsys.readouterr()
    assert "hidden" not in told.out + told.err
    assert "  do        redisson-dq move orders --follow\n  or        redisson-dq move orders\n" in told.out
    assert "--user svc PUBSUB NUMSUB" in told.out
    assert "REDISCLI_AUTH" in told.out
    assert "set the environment variable REDISSON_DQ_URL" in told.err


# -- who receives, whatever is in flight -----------------------------------------------------------------------------


@contextmanager
def consumer_killed_with(url: str, queue: str, values: list[str]) -> Iterator[None]:
    """A process that received the first value for two hours, and was killed."""
    code = (
        "import sys, time, redisson_dq\n"
        f"client = redisson_dq.connect({url!r})\n"
        f"queue = client.blocking_queue({queue!r}, transfer=False)\n"
        f"queue.add_all({values!r})\n"
        "assert queue.receive(timeout=10, visibility_timeout=7200)\n"
        "print('held', flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        process.send_signal(signal.SIGKILL)
    yield


def aged(admin: redis.Redis, queue: str, seconds: int) -> None:
    """Makes all leases of a queue look as if they had been received ``seconds`` ago."""
    key = QueueKeys.of(queue).deliveries
    records: Any = admin.hgetall(key)
    for lease, record in records.items():
        fields = record.split(b" ")
        fields[4] = b"%d" % (int(fields[4]) - 1000 * seconds)
        admin.hset(key, lease, b" ".join(fields))


def test_a_lease_of_a_dead_consumer_hides_nothing(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An undo file is written where the command runs.
    monkeypatch.chdir(tmp_path)
    server_url, queue = fleet.url, "payments"
    fleet.listen(queue)
    with consumer_killed_with(fleet.url, queue, ["held", "a", "b"]):
        # Another client of this library is connected, and takes nothing from the queue.
        report = examined(server_url, queue)
        assert named(report) == ["nobody-consumes"], told(report)
        assert "1 value is held by clients that are gone" in told(report)
        aged(fleet.admin, queue, 120)
        # A value that a living client has is left alone by the remedy for the others.
        held = fleet.client.blocking_queue(queue).receive(timeout=0, visibility_timeout=600)
        report = examined(server_url, queue)
        (finding,) = [each for each in report.findings if each.check == "leases-stuck"]
        (command,) = [each for each in finding.commands if " release " in each]
        assert main([*shlex.split(command)[1:], "--url", server_url]) == 0
        assert held.ack()
        assert sorted(fleet.client.blocking_queue(queue).read_all()) == ["b", "held"]


def test_consumers_that_hold_and_settle_nothing(fleet: Fleet) -> None:
    queue = "bills"
    fleet.listen(queue)
    handle = fleet.client.blocking_queue(queue)
    handle.add_all(["a", "b"])
    held = handle.receive(timeout=0, visibility_timeout=3600)
    assert named(examined(fleet.url, queue)) == []
    aged(fleet.admin, queue, 400)
    report = examined(fleet.url, queue)
    (finding,) = report.findings
    assert (finding.check, finding.severity.value) == ("worker", "warning")
    assert str(os.getpid()) in str(finding.evidence["holders"])
    assert held.ack()


@pytest.mark.parametrize("hangs", [True, False])
def test_a_worker_that_hangs_is_seen_from_elsewhere(fleet: Fleet, hangs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the note that it leaves in Redis, with its process and its stack. One that is slow by design notes that."""
    monkeypatch.setattr("redisson_dq._sync.worker.progress.LONG", 0.2)
    # It looks every 5 s as a rule.
    monkeypatch.setattr("redisson_dq._sync.worker.progress.EVERY", 0.1)
    queue, gate = "hanging", Gate()
    fleet.client.blocking_queue(queue).add_all(["a", "b", "c"])
    worker = Worker(fleet.client, stalled_after=0.4 if hangs else 300)
    worker.handler(queue)(lambda value: gate.wait())
    admin: Any = fleet.admin
    key = QueueKeys.of(queue).alarm
    with running(worker, gate):
        eventually(lambda: any(name.startswith(b"h") for name in admin.hkeys(key)), within=3 * PATIENCE)
        if not hangs:
            aged(fleet.admin, queue, 400)
            assert named(examined(fleet.url, queue)) == []
            return
        report = eventually(lambda: (found := examined(fleet.url, queue)).has_problem and found)
        assert named(report) == ["worker"], told(report)
        (finding,) = report.findings
        assert (finding.evidence["pid"], finding.evidence["host"]) == (os.getpid(), socket.gethostname())
        assert "gate.wait()" in finding.evidence["stack"]
        assert "it hangs" in finding.text
