"""Pages of items in every state: ordered, complete, bounded, and with only read rights."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import Client
from redisson_dq.browsing import STATES, SeenItem, SeenPage, browse, find_row, overview, partitions_of
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from redisson_dq.wire.partitions import partition_names
from tests.conftest import emptied

NAME = "orders"
KEYS = QueueKeys.of(NAME)


@pytest.fixture
def redis_server(servers: Any) -> EmbeddedServer:
    server: EmbeddedServer = emptied(servers("redis"))
    return server


@pytest.fixture
def client(redis_server: EmbeddedServer) -> Iterator[Client]:
    with redisson_dq.connect(redis_server.url, codec=StringCodec()) as client:
        yield client


@pytest.fixture
def admin(redis_server: EmbeddedServer) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_server.url) as admin:
        yield admin


def pages(client: Client, state: Any, **options: Any) -> list[SeenPage]:
    """All pages of the items in a state."""
    found = [browse(client, NAME, state, **options)]
    while found[-1].next is not None:
        found.append(browse(client, NAME, state, after=found[-1].next, **options))
    return found


def rows(client: Client, state: Any, **options: Any) -> list[SeenItem]:
    return [row for page in pages(client, state, **options) for row in page.rows]


def data_of(found: list[SeenItem]) -> list[bytes]:
    return [row.data for row in found]


class TestWaiting:
    def test_by_due_time_page_by_page(self, client: Client) -> None:
        delayed = client.delayed_queue(NAME, transfer=False)
        for i in range(25):
            delayed.offer(f"v{i}", delay=3600 - i)
        found = pages(client, "waiting", limit=10)
        assert [len(page.rows) for page in found] == [10, 10, 5]
        assert {page.count for page in found} == {25}
        assert data_of([row for page in found for row in page.rows]) == [f"v{i}".encode() for i in reversed(range(25))]

    def test_every_kind_of_entry(self, client: Client, admin: redis.Redis) -> None:
        client.delayed_queue(NAME, transfer=False).offer("mirrored", delay=10)
        client.delayed_queue(NAME, transfer=False, lean=True).offer("lean", delay=20, id="own")
        due = datetime(2100, 1, 1, tzinfo=timezone.utc)
        admin.zadd(KEYS.timeout, {wrap(Envelope.LEGACY, b"12345678", b"legacy"): due.timestamp() * 1000})
        admin.zadd(KEYS.timeout, {b"torn": "inf"})
        found = rows(client, "waiting")
        assert [(row.data, row.envelope) for row in found] == [
            (b"mirrored", "current"),
            (b"lean", "lean"),
            (b"legacy", "legacy"),
            (b"torn", "unknown"),
        ]
        assert found[1].id == "own"
        assert found[2].due == due
        assert found[3].due is None

    def test_ties_of_many_are_met_once_each(self, client: Client, admin: redis.Redis) -> None:
        members = {wrap(Envelope.CURRENT, i.to_bytes(8, "big"), b"%d" % i): 5000 for i in range(2500)}
        admin.zadd(KEYS.timeout, members)
        found = rows(client, "waiting", limit=99)
        assert data_of(found) == [b"%d" % i for i in range(2500)]

    def test_a_cursor_goes_on_behind_what_was_taken_out(self, client: Client, admin: redis.Redis) -> None:
        members = [wrap(Envelope.CURRENT, i.to_bytes(8, "big"), b"%d" % i) for i in range(20)]
        admin.zadd(KEYS.timeout, {member: i // 4 for i, member in enumerate(members)})
        first = browse(client, NAME, "waiting", limit=10)
        admin.zrem(KEYS.timeout, *members[:12])
        following = browse(client, NAME, "waiting", after=first.next, limit=10)
        assert data_of(list(following.rows)) == [b"%d" % i for i in range(12, 20)]
        assert following.next is None

    def test_large_values_come_in_part_and_end_a_page(self, client: Client) -> None:
        delayed = client.delayed_queue(NAME, transfer=False)
        for i in range(5):
            delayed.offer(str(i) * 600_000, delay=100 + i)
        found = pages(client, "waiting", limit=50, head=8)
        assert [len(page.rows) for page in found] == [2, 2, 1]
        first = found[0].rows[0]
        assert (first.data, first.size, first.is_whole) == (b"0" * 8, 600_000, False)

    def test_overdue_items_are_late(self, client: Client, admin: redis.Redis) -> None:
        admin.zadd(KEYS.timeout, {wrap(Envelope.CURRENT, b"12345678", b"a"): 1_000_000})
        (row,) = rows(client, "waiting")
        assert row.late is not None
        assert row.late > timedelta(days=10_000)


class TestOtherStates:
    def test_ready(self, client: Client) -> None:
        client.blocking_queue(NAME).add_all([f"v{i}" for i in range(7)])
        found = rows(client, "ready", limit=3)
        assert data_of(found) == [b"v%d" % i for i in range(7)]
        assert [row.id for row in found[:2]] == ["ready@0", "ready@1"]

    def test_in_flight_and_dead(self, client: Client) -> None:
        queue = client.blocking_queue(NAME, delivery_limit=1)
        client.delayed_queue(NAME).offer("own", delay=0.001, id="order-1")
        queue.add_all(["a", "b"])
        held = [queue.receive(timeout=5) for _ in range(3)]
        assert browse(client, NAME, "waiting").rows == ()
        found = rows(client, "in-flight", limit=2)
        assert sorted(data_of(found)) == [b"a", b"b", b"own"]
        assert {row.attempts for row in found} == {1}
        for each in held:
            assert each is not None
            each.nack(reason="broken")
        dead = rows(client, "dead", limit=2)
        assert sorted(data_of(dead)) == [b"a", b"b", b"own"]
        assert {(row.reason, row.attempts, row.source) for row in dead} == {("broken", 1, NAME)}
        assert all(row.at is not None for row in dead)
        row = find_row(client, NAME, dead[0].id)
        assert row is not None
        assert (row.state, row.data) == ("dead", dead[0].data)

    def test_a_retry_waits_with_its_attempts_and_its_reason(self, client: Client) -> None:
        queue = client.blocking_queue(NAME)
        queue.put("poison")
        for i in range(3):
            held = queue.receive(timeout=5)
            assert held is not None
            held.nack(delay=0.001 if i < 2 else 60, reason=f"failure {i}")
        (row,) = rows(client, "waiting")
        assert (row.attempts, row.reason) == (3, "failure 2")

    def test_lists_that_are_set_aside(self, client: Client, admin: redis.Redis) -> None:
        admin.rpush(KEYS.undecodable, b"\xff\x00")
        admin.rpush(KEYS.quarantine, b"1700000000000 torn", b" " + wrap(Envelope.CURRENT, b"12345678", b"x"), b"other")
        admin.rpush(KEYS.expired, b"1700000000000 late", b"foreign")
        assert data_of(rows(client, "undecodable")) == [b"\xff\x00"]
        moment = datetime.fromtimestamp(1_700_000_000, timezone.utc)
        assert [(row.data, row.due) for row in rows(client, "expired")] == [(b"late", moment), (b"foreign", None)]
        kept = rows(client, "quarantined")
        assert [(row.envelope, row.due) for row in kept] == [("unknown", moment), ("torn", None), ("unknown", None)]
        assert kept[2].data == b"other"

    def test_recurring(self, client: Client) -> None:
        delayed = client.delayed_queue(NAME, transfer=False)
        for i in range(3):
            delayed.offer_recurring(f"r{i}", every=60 + i, id=f"id{i}", missed="all" if i else "one")
        found = rows(client, "recurring", limit=2)
        assert [(row.id, row.data) for row in found] == [(f"id{i}", b"r%d" % i) for i in range(3)]
        assert found[0].every
        assert [row.missed for row in found] == ["one"] + ["all, 100 at most"] * 2

    @pytest.mark.parametrize("state", STATES)
    def test_an_empty_queue(self, client: Client, state: Any) -> None:
        page = browse(client, NAME, state)
        assert (page.rows, page.count, page.next) == ((), 0, None)


class TestPartitions:
    def test_they_are_shown_as_one_by_due_time(self, client: Client) -> None:
        delayed = client.delayed_queue(NAME, transfer=False, partitions=4)
        for i in range(40):
            delayed.offer(f"v{i}", delay=100 + i, key=str(i))
        found = pages(client, "waiting", partitions=4, limit=7)
        assert data_of([row for page in found for row in page.rows]) == [b"v%d" % i for i in range(40)]
        assert {page.count for page in found} == {40}
        assert partitions_of(client, NAME) == 4
        assert partitions_of(client, delayed.partitions[1].name) is None
        assert partitions_of(client, "others") is None

    def test_a_partition_with_dead_letters_alone_is_found(
        self, client: Client, admin: redis.Redis, redis_server: EmbeddedServer
    ) -> None:
        names = partition_names(NAME, 40)
        admin.rpush(DeadKeys.belonging_to(names[20]).dead, "given up")
        assert partitions_of(client, NAME) == 21
        # Rights on the keys of the queue alone are enough for a queue without partitions.
        admin.acl_setuser("own", enabled=True, nopass=True, keys=["other", "*{other}"], commands=["+@all"])
        try:
            with redisson_dq.connect(redis_server.url.replace("//", "//own:any@")) as own:
                assert partitions_of(own, "other") is None
        finally:
            admin.acl_deluser("own")

    def test_ready_values_come_one_partition_after_the_other(self, client: Client) -> None:
        queue = client.blocking_queue(NAME, partitions=3)
        for i in range(20):
            queue.add(f"v{i}", key=str(i))
        found = rows(client, "ready", partitions=3, limit=6)
        assert sorted(data_of(found)) == sorted(b"v%d" % i for i in range(20))

    def test_the_overview_has_one_row_for_all_of_them(self, client: Client) -> None:
        delayed = client.delayed_queue(NAME, transfer=False, partitions=4)
        for i in range(40):
            delayed.offer(f"v{i}", delay=100 + i, key=str(i))
        client.delayed_queue("bills", transfer=False).offer("a", delay=50)
        found = list(overview(client))
        assert [(each.name, each.partitions) for each in found] == [("bills", None), (NAME, 4)]
        assert [each.stats.waiting for each in found if each.stats] == [1, 40]
        assert [each.name for each in overview(client, "b*")] == ["bills"]


class TestFinding:
    def test_by_every_id(self, client: Client) -> None:
        delayed = client.delayed_queue(NAME, transfer=False)
        made = delayed.offer("a", delay=100)
        delayed.offer("b", delay=100, id="own")
        (first, second) = rows(client, "waiting")
        assert (first.id, second.id) == (made.id, "own")
        for id in (made.id, made.id.partition("-")[2]):
            row = find_row(client, NAME, id)
            assert row is not None
            assert (row.state, row.data) == ("waiting", b"a")
        row = find_row(client, NAME, "own")
        assert row is not None
        assert row.data == b"b"
        assert find_row(client, NAME, "nothing") is None

    def test_an_id_in_hex_that_an_index_knows_takes_no_walk(self, client: Client, admin: redis.Redis) -> None:
        queue = client.blocking_queue(NAME)
        queue.add_all([f"v{i}" for i in range(30)])
        held = [queue.receive(timeout=5, visibility_timeout=3600 + i) for i in range(30)]
        delayed = client.delayed_queue(NAME, transfer=False)
        delayed.offer("given", delay=3600, id="own")
        legacy = {wrap(Envelope.LEGACY, b"%08d" % i, b"java"): 4e12 + i for i in range(1200)}
        admin.zadd(KEYS.timeout, legacy)
        assert held[0] is not None
        held[0].nack(delay=3600)
        (retry,) = [row.id for row in rows(client, "waiting") if row.data == b"v0"]
        leases = [row.id for row in rows(client, "in-flight")]
        assert len(leases) == 29
        walks: list[tuple[int, int]] = []
        for id, state in ((leases[15], "in-flight"), (leases[-1], "in-flight"), (retry.rpartition("-")[2], "waiting")):
            row = find_row(client, NAME, id, told=lambda *told: walks.append(told))
            assert row is not None
            assert (row.state, walks) == (state, [])
        # Only the entry of a Redisson has to be looked for. Each call looks at 500 at most, 29 leases among the first.
        row = find_row(client, NAME, b"00001100".hex(), told=lambda *told: walks.append(told))
        assert row is not None
        assert row.data == b"java"
        assert walks == [(471, 1202), (971, 1202)]

    def test_by_place(self, client: Client) -> None:
        client.blocking_queue(NAME).add_all(["a", "b"])
        row = find_row(client, NAME, "ready@1")
        assert row is not None
        assert row.data == b"b"
        assert find_row(client, NAME, "ready@2") is None
        with pytest.raises(ArgumentError, match="has no place in a list"):
            find_row(client, NAME, "waiting@0")


@pytest.mark.parametrize(
    "cursor", ["", "x", "W10=", "WyJyZWFkeSIsMF0=", "WyJ3YWl0aW5nIixbMSwyXV0=", "WyJ3YWl0aW5nIiwwLDBd"]
)
def test_a_bad_cursor(client: Client, cursor: str) -> None:
    with pytest.raises(ArgumentError, match="cursor"):
        browse(client, NAME, "waiting", after=cursor)


def test_bad_arguments(client: Client) -> None:
    with pytest.raises(ArgumentError, match="did you mean waiting"):
        browse(client, NAME, "waitin")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="1 to 1000 rows"):
        browse(client, NAME, limit=0)
