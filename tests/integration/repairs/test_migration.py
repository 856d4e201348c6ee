"""A queue goes to another name, server, codec or form, item by item, while others work on it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import Kryo5Codec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, DuplicateItemError
from redisson_dq.migrating import STATES, Journal, Migration, QueueSite, Recoding, ToFile
from redisson_dq.wire.envelope import Envelope, unwrap, wrap
from redisson_dq.wire.partitions import partition_names
from tests.integration.full_queue import contents, fill


def moved_to(sources: list[QueueSite], targets: list[QueueSite], **options: Any) -> Any:
    recoding = Recoding(options.pop("old", None), options.pop("new", None), options.pop("form", None), targets)
    return Migration(sources, recoding, **options).run(quiet=0.2)


def ranged(admin: redis.Redis, key: str) -> list[bytes]:
    """The members of a sorted set."""
    members: Any = admin.zrange(key, 0, -1)
    return list(members)


def released(admin: redis.Redis) -> None:
    """Ends all leases, as a migration waits for them."""
    leases = ranged(admin, "redisson_dq_leases:{orders}")
    for member in ranged(admin, "redisson_delay_queue_timeout:{orders}"):
        if member[1:11] in leases:
            admin.zrem("redisson_delay_queue_timeout:{orders}", member)
            admin.hdel("redisson_dq_deliveries:{orders}", member[1:11])
    admin.delete("redisson_dq_leases:{orders}")


def alike(before: dict[str, Any], after: dict[str, Any], old: str = "orders", new: str = "bills") -> None:
    """The contents of all keys are those of before; in lists of entries and hashes in any order."""
    renamed = {key.replace(old, new): value for key, value in before.items()}
    assert after.keys() == renamed.keys()
    for key, value in renamed.items():
        if key.startswith("redisson_dq_dead_info"):
            value = {name: text.replace(b" 6 ", b" 5 ", 1).replace(b"orders", b"bills") for name, text in value.items()}
        assert after[key] == value, key


@pytest.mark.parametrize("where", ["same", "other"])
def test_a_queue_goes_to_another_name_with_everything(
    client: Any, admin: redis.Redis, url: str, second: EmbeddedServer, where: str
) -> None:
    fill(url, admin)
    released(admin)
    before = contents(admin)
    with redisson_dq.connect(url if where == "same" else second.url, codec=StringCodec()) as target:
        site = QueueSite.of(client if where == "same" else target, "bills")
        done = moved_to([QueueSite.of(client, "orders")], [site])
        assert done.left == {}
        assert contents(admin) == {}
        with redis.Redis.from_url(site.client.runtime.connections.where) as there:
            alike(before, contents(there, "bills"))


def usable(client: Any, name: str = "bills", **options: Any) -> None:
    """Items are found by their ids, payloads are duplicates, attempts and contexts are known."""
    delayed, queue = client.delayed_queue(name, transfer=False, **options), client.blocking_queue(name, **options)
    for number in range(5):
        item = delayed.find(f"id {number}")
        assert item is not None
        assert item.value == f"named {number}"
        with pytest.raises(DuplicateItemError):
            delayed.offer(f"payload {number}", 3600, deduplicate_for=7200)
        with pytest.raises(DuplicateItemError):
            delayed.offer("again", 3600, id=f"id {number}")
    assert delayed.cancel("id 3")
    assert sorted(each.value for each in queue_letters(queue)) == [f"dead {number}" for number in range(5)]
    taken = []
    while batch := queue.receive(20, timeout=0.2):
        taken += batch
    assert [(each.value, each.attempt, each.reason) for each in taken if each.value[:5] == "again"] == [
        (f"again {number}", 2, "once more") for number in range(5)
    ] or options
    assert sorted(each.value for each in taken) == sorted(
        [f"{kind} {number}" for number in range(5) for kind in ("again", "ready")] + ["equal"] * 5
    )
    assert all(delayed.run_now(f"id {number}") for number in (0, 1, 2, 4))
    due = client.delayed_queue(name, **options)
    due.start_moving()
    named = queue.receive(4, timeout=5)
    while len(named) < 4:
        named += queue.receive(4 - len(named), timeout=5)
    assert sorted((each.value, each.offer_id) for each in named) == [
        (f"named {number}", f"id {number}") for number in (0, 1, 2, 4)
    ]


def queue_letters(queue: Any) -> list[Any]:
    return [each for part in getattr(queue, "partitions", [queue]) for each in part.dead_letters()]


def test_another_codec_changes_values_and_keeps_all_else(client: Any, admin: redis.Redis, url: str) -> None:
    fill(url, admin)
    released(admin)
    admin.delete("redisson_dq_undecodable:{orders}", "redisson_dq_expired:{orders}", "redisson_dq_newer:{orders}")
    dues = sorted(str(item.due) for item in client.delayed_queue("orders", transfer=False).items())
    with redisson_dq.connect(url, codec=Kryo5Codec()) as other:
        done = moved_to(
            [QueueSite.of(client, "orders")], [QueueSite.of(other, "bills")], old=StringCodec(), new=Kryo5Codec()
        )
        assert (done.left, done.refused) == ({}, {})
        assert sorted(str(item.due) for item in other.delayed_queue("bills", transfer=False).items()) == dues
        values = {item.value for item in other.delayed_queue("bills", transfer=False).items()}
        assert values >= {f"{kind} {number}" for kind in ("plain", "lean", "java", "recurring") for number in range(5)}
        usable(other)


def test_a_value_that_no_codec_converts_stays_and_is_told(client: Any, admin: redis.Redis, url: str) -> None:
    delayed, queue = client.delayed_queue("orders", transfer=False), client.blocking_queue("orders", transfer=False)
    for value in ("\ud7ff", "1", "x", "2"):
        delayed.offer(value, 3600)
        queue.add(value)
    with redisson_dq.connect(url, codec=StringCodec("us-ascii")) as other:
        old, new = StringCodec(), StringCodec("us-ascii")
        done = moved_to([QueueSite.of(client, "orders")], [QueueSite.of(other, "bills")], old=old, new=new)
    assert (done.moved, done.left) == ({"ready": 3, "waiting": 3}, {"ready": 1, "waiting": 1})
    assert sum(done.refused.values()) == 2
    assert all("us-ascii" in reason for reason in done.refused)
    assert admin.lrange("bills", 0, -1) == [b"1", b"x", b"2"]
    assert admin.lrange("orders", 0, -1) == ["\ud7ff".encode()]
    assert [item.value for item in delayed.items()] == ["\ud7ff"]


@pytest.mark.parametrize("form", ["legacy", "current", "lean"])
def test_another_form_of_entries_in_place(client: Any, admin: redis.Redis, url: str, form: Any) -> None:
    fill(url, admin)
    delayed = client.delayed_queue("orders", transfer=False)
    items = sorted((item.due, item.value) for item in delayed.items())
    site = QueueSite.of(client, "orders")
    leases = ranged(admin, "redisson_dq_leases:{orders}")
    done = moved_to([site], [site], form=form)
    assert done.moved.keys() == {"waiting"}
    assert sorted((item.due, item.value) for item in delayed.items()) == items
    members = ranged(admin, "redisson_delay_queue_timeout:{orders}")
    unleased = [member for member in members if member[1:11] not in leases]
    listed = admin.lrange("redisson_delay_queue:{orders}", 0, -1)
    assert len(unleased) == len(members) - 5
    assert set(listed) == (set() if form == "lean" else set(unleased) - {each for each in unleased if each[0] == 10})
    assert len(listed) == len(set(listed))
    sizes = {len(unwrap(member)[0]) for member in unleased}
    assert sizes - {10} == ({9} if form == "lean" else {8})
    if form == "legacy":
        assert all(wrap(Envelope.LEGACY, *unwrap(member)) == member for member in unleased)
    usable(client, "orders")
    assert moved_to([site], [site], form=form).moved == {}


def test_partitions_and_back(client: Any, admin: redis.Redis, url: str) -> None:
    fill(url, admin)
    released(admin)
    items = sorted((item.due, item.value) for item in client.delayed_queue("orders", transfer=False).items())
    parts = [QueueSite.of(client, name) for name in partition_names("bills", 4)]
    done = moved_to([QueueSite.of(client, "orders")], parts)
    assert done.left == {}
    whole = client.delayed_queue("bills", partitions=4, transfer=False)
    assert sorted((item.due, item.value) for item in whole.items()) == items
    assert all(part.size() for part in whole.partitions)
    back = moved_to(parts, [QueueSite.of(client, "orders")])
    assert back.left == {}
    assert sorted((item.due, item.value) for item in client.delayed_queue("orders", transfer=False).items()) == items
    moved_to([QueueSite.of(client, "orders")], parts)
    usable(client, "bills", partitions=4)


def test_more_partitions_and_fewer(client: Any, admin: redis.Redis, url: str) -> None:
    """A partition that stays keeps its items, but those with a name that belongs to another one."""
    before = client.delayed_queue("orders", partitions=2, transfer=False)
    queue = client.blocking_queue("orders", partitions=2, transfer=False)
    for number in range(40):
        before.offer(f"named {number}", 3600, id=f"id {number}")
        before.offer(f"plain {number}", 3600)
        queue.add(f"ready {number}")
    items = sorted((item.due, item.value) for item in before.items(0, 999))
    two, four = ([QueueSite.of(client, name) for name in partition_names("orders", count)] for count in (2, 4))
    assert moved_to(two, four).left == {}
    more = client.delayed_queue("orders", partitions=4, transfer=False)
    assert sorted((item.due, item.value) for item in more.items(0, 999)) == items
    for number in range(40):
        found = more.partition_for(f"id {number}").find(f"id {number}")
        assert found is not None
        assert found.value == f"named {number}"
    done = moved_to(four, two)
    assert done.left == {}
    assert sorted((item.due, item.value) for item in before.items(0, 999)) == items
    assert sum(part.size() for part in queue.partitions) == 40
    assert all(before.partition_for(f"id {number}").find(f"id {number}") for number in range(40))


def test_the_same_queue_by_another_url_is_refused(client: Any, admin: redis.Redis, url: str) -> None:
    client.blocking_queue("orders", transfer=False).add("a")
    with redisson_dq.connect(url.replace("127.0.0.1", "localhost"), codec=StringCodec()) as other:
        with pytest.raises(ArgumentError, match="leads to the same queue"):
            moved_to([QueueSite.of(client, "orders")], [QueueSite.of(other, "orders")])
    assert admin.lrange("orders", 0, -1) == [b"a"]


def test_items_leave_redis_as_json_lines(client: Any, admin: redis.Redis, url: str, tmp_path: Path) -> None:
    delayed, queue = client.delayed_queue("orders", transfer=False), client.blocking_queue("orders", transfer=False)
    items = [delayed.offer(f"value {number}", 3600, id=f"id {number}") for number in range(500)]
    queue.add_all([f"ready {number}" for number in range(300)])
    path = tmp_path / "orders.jsonl"
    site = QueueSite.of(client, "orders")
    done = moved_to([site], [site], to_file=ToFile(path, StringCodec().decode))
    assert (done.moved, done.left) == ({"ready": 300, "waiting": 500}, {})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["value"] for line in lines if line["kind"] == "ready"] == [f"ready {number}" for number in range(300)]
    assert [(line["id"], line["value"], line["due_ms"]) for line in lines if line["kind"] == "waiting"] == [
        (f"id {number}", f"value {number}", round(item.due.timestamp() * 1000)) for number, item in enumerate(items)
    ]
    assert admin.zcard("redisson_delay_queue_timeout:{orders}") == admin.llen("redisson_delay_queue:{orders}") == 0
    assert not admin.exists("redisson_dq_migrating:{orders}")


def test_the_line_of_an_item_tells_when_it_expires(client: Any, tmp_path: Path) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    item = delayed.offer("named", 3600, id="7", expires=60)
    delayed.offer("unnamed", 3600, expires=90)
    delayed.offer("for ever", 3600, id="8")
    path, site = tmp_path / "orders.jsonl", QueueSite.of(client, "orders")
    moved_to([site], [site], to_file=ToFile(path, StringCodec().decode))
    lines = {line["value"]: line for line in map(json.loads, path.read_text().splitlines())}
    assert lines["named"]["expires_ms"] == round(item.due.timestamp() * 1000) + 60_000
    assert lines["unnamed"]["expires_ms"] == lines["unnamed"]["due_ms"] + 90_000
    assert "expires_ms" not in lines["for ever"]


# -- interrupted -----------------------------------------------------------------------------------------------------


class _Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("to", ["queue", "file"])
@pytest.mark.parametrize("at", [1, 3])
def test_a_run_that_ends_at_an_edge_is_resumed(
    client: Any, admin: redis.Redis, url: str, second: EmbeddedServer, tmp_path: Path, state: str, to: str, at: int
) -> None:
    """An item stands in one place at any edge. The next run loses none and doubles none."""
    delayed, queue = client.delayed_queue("orders", transfer=False), client.blocking_queue("orders", transfer=False)
    delayed.offer_all([(f"value {number}", 3600) for number in range(450)])
    delayed.offer("named", 3600, id="a")
    queue.add_all([f"ready {number}" for number in range(250)])
    seen = 0

    def kill(reached: str, number: int) -> None:
        nonlocal seen
        seen += reached == state
        if seen == at:
            raise _Killed

    with redisson_dq.connect(second.url, codec=StringCodec()) as other:
        source = QueueSite.of(client, "orders")
        target = source if to == "file" else QueueSite.of(other, "bills")
        path = tmp_path / "items.jsonl"
        writer = ToFile(path, StringCodec().decode) if to == "file" else None
        recoding = Recoding(None, None, None, [target])
        with Journal.begun(tmp_path / "journal", "abc", {}) as journal, pytest.raises(_Killed):
            Migration([source], recoding, journal=journal, to_file=writer, on_state=kill).run(quiet=0.2)
        with Journal.resumed(tmp_path / "journal") as journal:
            assert journal.last >= at
            Migration([source], recoding, journal=journal, to_file=writer).run(quiet=0.2)
        assert contents(admin) == {}
        if to == "file":
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            ready = [line["value"] for line in lines if line["kind"] == "ready"]
            waiting = [line["value"] for line in lines if line["kind"] == "waiting"]
        else:
            ready = other.blocking_queue("bills", transfer=False).read_all()
            waiting = other.delayed_queue("bills", transfer=False).read_all()
            with redis.Redis.from_url(second.url) as there:
                assert not there.exists("redisson_dq_migrating:{bills}")
        assert ready == [f"ready {number}" for number in range(250)]
        assert waiting == [*(f"value {number}" for number in range(450)), "named"]


def test_a_migration_that_stood_still_writes_nothing_twice(client: Any, url: str, second: EmbeddedServer) -> None:
    """Another one ends the batch that it holds, and moves all the rest, before it goes on."""
    values = [f"ready {number}" for number in range(450)]
    client.blocking_queue("orders", transfer=False).add_all(values)
    ended: list[Any] = []
    with (
        redisson_dq.connect(url, codec=StringCodec()) as same,
        redisson_dq.connect(second.url, codec=StringCodec()) as other,
    ):

        def overtaken(reached: str, number: int) -> None:
            if reached == "held" and not ended:
                ended.append(moved_to([QueueSite.of(same, "orders")], [QueueSite.of(other, "bills")]))

        moved_to([QueueSite.of(client, "orders")], [QueueSite.of(other, "bills")], on_state=overtaken)
        assert ended[0].moved == {"ready": 450}
        assert other.blocking_queue("bills", transfer=False).read_all() == values


def test_a_journal_has_one_process_at_a_time(tmp_path: Path) -> None:
    """Two that go on by one journal would count their batches alike, and drop what was never written."""
    path = tmp_path / "journal"
    path.touch()
    with Journal.begun(path, "abc", {"queue": "orders"}):
        with pytest.raises(ArgumentError, match="still runs"):
            Journal.resumed(path)
        with pytest.raises(ArgumentError, match="still runs"):
            Journal.begun(path, "def", {})
    with pytest.raises(ArgumentError, match="exists"):
        Journal.begun(path, "def", {})
    with Journal.resumed(path) as journal:
        assert journal.migration == "abc"


def test_the_files_last_batch_may_be_cut_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    items = [
        {"queue": "orders", "kind": "ready", "id": None, "due_ms": None, "bytes": base64.b64encode(b"%d" % n).decode()}
        for n in range(5)
    ]
    writer = ToFile(path, bytes.decode)
    writer.write("abc", 1, items)
    first = path.read_bytes()
    writer.write("abc", 2, items)
    whole = path.read_bytes()
    for size in range(len(first), len(whole) + 1):
        path.write_bytes(whole[:size])
        writer.write("abc", 2, items)
        assert path.read_bytes() == whole
