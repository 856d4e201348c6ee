"""Actions on the items of a queue, and what takes them back, with entries of every kind."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

import redisson_dq
from redisson_dq.browsing import Filter
from redisson_dq.codecs import JsonJacksonCodec, StringCodec
from redisson_dq.mending import (
    Acting,
    MendedQueue,
    UndoFile,
    UndoFileError,
    UndoWriter,
    filtered,
    found_by_id,
    mend_aside,
    mend_waiting,
    pause,
    resume,
    select_aside,
    select_waiting,
    undo,
)
from redisson_dq.mending.walking import all_waiting
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from tests.benchmarks import entries

KEYS = QueueKeys.of("orders")
DEAD = DeadKeys.belonging_to("orders")
HOUR = 3600


@pytest.fixture
def mended(client: Any) -> MendedQueue:
    return MendedQueue(client, "orders")


def state_of(server: Any) -> dict[str, Any]:
    """All that Redis has but for notes of calls, and times to live. The order of the list of envelopes is left out."""
    found: dict[str, Any] = {}
    readers = {
        b"zset": lambda key: sorted(server.zrange(key, 0, -1, withscores=True)),
        b"list": lambda key: sorted(server.lrange(key, 0, -1)),
        b"hash": lambda key: sorted(server.hgetall(key).items()),
        b"string": server.get,
    }
    for key in server.scan_iter(count=1000):
        name = key.decode()
        if not name.startswith(("redisson_dq_returned", "redisson_dq_alarm", "redisson_dq_mover")):
            found[name] = readers[server.type(key)](key)
    return found


def writer(mended: MendedQueue, path: Path, action: str = "cancel") -> UndoWriter:
    return UndoWriter.new(path, mended, action, "2026-11-24T12:00:00+00:00", "1.0")


def offered_kinds(client: Any, url: str) -> None:
    """One item of each kind of entry, each due in an hour."""
    with redisson_dq.connect(url, codec=StringCodec(), envelope="legacy") as legacy:
        legacy.delayed_queue("orders", transfer=False).offer("legacy", HOUR)
    mirrored = client.delayed_queue("orders", transfer=False)
    mirrored.offer("mirrored", HOUR)
    mirrored.offer("named", HOUR, id="order-42")
    mirrored.offer("told", HOUR, context={"trace": "00-4bf92f"})
    mirrored.offer("late", HOUR, expires=2 * HOUR)
    client.delayed_queue("orders", lean=True, transfer=False).offer("lean", HOUR)
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("retried")
    queue.receive(timeout=1, visibility_timeout=60).nack(delay=HOUR, reason="why")


# -- cancel and undo -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("action", "ms"), [("cancel", 0), ("by", 60_000), ("to", 2_000_000_000_000), ("to", 1_000_000_000_000)]
)
def test_every_kind_is_changed_and_put_back_as_it_was(
    client: Any, url: str, admin: Any, mended: MendedQueue, tmp_path: Path, action: Any, ms: int
) -> None:
    offered_kinds(client, url)
    before = state_of(admin)
    path = tmp_path / "undo.jsonl"
    with select_waiting(mended) as chosen, writer(mended, path) as file:
        assert (chosen.met, chosen.count) == (7, 7)
        counts = mend_waiting(chosen, action, ms, Acting(undo=file))
    assert (counts.done, dict(counts.left)) == (7, {})
    if action == "cancel":
        assert admin.zcard(KEYS.timeout) == admin.llen(KEYS.envelopes) == 0
    else:
        old = dict(before[KEYS.timeout])
        expected = {member: ms if action == "to" else old[member] + ms for member in old}
        assert dict(admin.zrange(KEYS.timeout, 0, -1, withscores=True)) == expected
    undone = undo(mended, UndoFile.read(path))
    assert (undone.done, dict(undone.left)) == (7, {})
    assert state_of(admin) == before
    again = undo(mended, UndoFile.read(path))
    assert (again.done, again.before) == (0, 7)
    assert state_of(admin) == before


def test_what_was_moved_or_put_off_meanwhile_is_left(
    delayed: Any, admin: Any, mended: MendedQueue, tmp_path: Path
) -> None:
    delayed.offer_all([(f"item-{i}", HOUR) for i in range(5)])
    moved = delayed.offer("moved", HOUR, id="moved")
    delayed.offer("put off", HOUR, id="put-off")
    path = tmp_path / "undo.jsonl"
    with select_waiting(mended) as chosen, writer(mended, path) as file:
        delayed.reschedule("put-off", 2 * HOUR)
        assert delayed.cancel(moved.id)
        delayed.offer("moved", HOUR, id="moved")
        counts = mend_waiting(chosen, "cancel", 0, Acting(undo=file))
    assert (counts.wanted, counts.done, dict(counts.left)) == (7, 5, {"gone": 2})
    assert sorted(item.id for item in delayed.items()) == ["moved", "put-off"]
    undone = undo(mended, UndoFile.read(path))
    assert (undone.wanted, undone.done) == (5, 5)


def test_an_id_that_was_offered_again_is_told_and_not_doubled(
    delayed: Any, mended: MendedQueue, tmp_path: Path
) -> None:
    delayed.offer("first", HOUR, id="order-42")
    path = tmp_path / "undo.jsonl"
    with select_waiting(mended) as chosen, writer(mended, path) as file:
        mend_waiting(chosen, "cancel", 0, Acting(undo=file))
    delayed.offer("second", HOUR, id="order-42")
    undone = undo(mended, UndoFile.read(path))
    assert (undone.done, dict(undone.left)) == (0, {"again": 1})
    assert [item.value for item in delayed.items()] == ["second"]


def test_an_item_that_is_delivered_since_is_not_put_back_twice(
    client: Any, delayed: Any, mended: MendedQueue, tmp_path: Path
) -> None:
    delayed.offer_all([(f"item-{i}", HOUR) for i in range(3)])
    path = tmp_path / "undo.jsonl"
    with select_waiting(mended) as chosen, writer(mended, path) as file:
        mend_waiting(chosen, "cancel", 0, Acting(undo=file))
    undo(mended, UndoFile.read(path))
    assert delayed.poll(3) == [f"item-{i}" for i in range(3)]
    # The lines of the undo were lost, as after a kill. Redis remembers the batch.
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if b'"undone"' not in line))
    undone = undo(mended, UndoFile.read(path))
    assert undone.done == 3
    assert delayed.size() == 0


@pytest.mark.parametrize("lean", [True, False])
def test_a_filter_chooses_and_the_rest_stays(client: Any, admin: Any, mended: MendedQueue, lean: bool) -> None:
    delayed = client.delayed_queue("orders", lean=lean, transfer=False)
    delayed.offer_all([(f"item-{i}", HOUR + i) for i in range(2000)])
    with select_waiting(mended, lambda row: row.data.endswith(b"7")) as chosen:
        assert (chosen.met, chosen.count) == (2000, 200)
        counts = mend_waiting(chosen, "cancel", 0)
    assert counts.done == 200
    assert delayed.read_all() == [f"item-{i}" for i in range(2000) if i % 10 != 7]
    assert admin.zcard(KEYS.timeout) == 1800


def test_entries_are_found_in_the_list_though_others_left_before_them(
    client: Any, admin: Any, mended: MendedQueue
) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    delayed.offer_all([(f"item-{i}", HOUR) for i in range(3000)])
    with select_waiting(mended, lambda row: row.data[-1:] in b"05") as chosen:
        delayed.poll(700)
        counts = mend_waiting(chosen, "cancel", 0)
    assert (counts.done, counts.left["gone"]) == (460, 140)
    assert delayed.read_all() == [f"item-{i}" for i in range(700, 3000) if i % 5]
    assert admin.zcard(KEYS.timeout) == 1840


def test_without_an_undo_file_and_with_a_rate_batches_are_small(client: Any, delayed: Any, mended: MendedQueue) -> None:
    delayed.offer_all([(f"item-{i}", HOUR) for i in range(30)])
    told: list[int] = []
    with select_waiting(mended) as chosen:
        counts = mend_waiting(chosen, "cancel", 0, Acting(rate=100, told=told.append))
    assert counts.done == 30
    assert told == [10, 20, 30]


def test_it_stops_between_batches_and_the_rest_stays(delayed: Any, mended: MendedQueue, tmp_path: Path) -> None:
    delayed.offer_all([(f"item-{i}", HOUR) for i in range(1200)])
    path = tmp_path / "undo.jsonl"
    dealt: list[int] = []
    with select_waiting(mended) as chosen, writer(mended, path) as file:
        acting = Acting(undo=file, told=dealt.append, stop=lambda: bool(dealt))
        counts = mend_waiting(chosen, "cancel", 0, acting)
    assert counts.stopped
    assert delayed.size() == 1200 - counts.done > 0
    found = UndoFile.read(path)
    assert not found.ended
    assert undo(mended, found).done == counts.done
    assert delayed.size() == 1200


# -- ids -------------------------------------------------------------------------------------------------------------
def test_items_are_found_by_every_kind_of_id(client: Any, url: str, admin: Any, mended: MendedQueue) -> None:
    offered_kinds(client, url)
    delayed = client.delayed_queue("orders", transfer=False)
    items = {item.value: item for item in delayed.items()}
    ids = ["order-42", items["lean"].id, items["mirrored"].id.partition("-")[2], items["legacy"].id, "order-42"]
    selection, problems = found_by_id(mended, ids)
    with selection:
        assert problems == []
        assert selection.count == 4
        assert mend_waiting(selection, "cancel", 0).done == 4
    assert sorted(item.value for item in delayed.items()) == ["late", "retried", "told"]
    assert admin.llen(KEYS.envelopes) == 2


def test_an_id_in_another_state_is_told_with_the_command_that_helps(
    client: Any, delayed: Any, mended: MendedQueue
) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    for id in ("held", "dead", "ready"):
        delayed.offer(id, 0, id=id)
        assert delayed.run_now(id)
    for id in ("held", "dead", "ready"):
        assert client.delayed_queue("orders").find(id) is not None
    client.delayed_queue("orders").start_moving()
    held = queue.receive(timeout=10, visibility_timeout=60)
    queue.receive(timeout=10, visibility_timeout=60).reject("why")
    while delayed.find("ready").state is not redisson_dq.ItemState.READY:
        pass
    selection, problems = found_by_id(mended, ["held", "dead", "ready", "nowhere", "00ff00ff00ff00ff"])
    with selection:
        assert selection.count == 0
    told = {problem.id: str(problem) for problem in problems}
    assert "redisson-dq release orders" in told["held"]
    assert "redisson-dq dead redrive orders dead" in told["dead"]
    assert "cancel('ready')" in told["ready"]
    assert "redisson-dq list orders" in told["nowhere"]
    assert "redisson-dq list orders" in told["00ff00ff00ff00ff"]
    assert held.ack()


# -- what is set aside -----------------------------------------------------------------------------------------------
def dead_letters(client: Any, count: int) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    for i in range(count):
        queue.add(f"value-{i % 3}")
        queue.receive(timeout=1, visibility_timeout=60).reject(f"reason-{i}")


@pytest.mark.parametrize("action", ["purge", "redrive"])
def test_dead_letters_go_and_come_back_with_their_records(
    client: Any, admin: Any, mended: MendedQueue, tmp_path: Path, action: Any
) -> None:
    dead_letters(client, 7)
    # Java has put one there, of which nothing is known.
    admin.rpush(DEAD.dead, b"java")
    before = state_of(admin)
    path = tmp_path / "undo.jsonl"
    with select_aside(mended, "dead") as chosen, writer(mended, path, action) as file:
        assert chosen.count == 8
        assert mend_aside(chosen, action, Acting(undo=file)).done == 8
    assert admin.exists(DEAD.dead, DEAD.dead_info, DEAD.dead_index) == 0
    ready = admin.lrange(KEYS.ready, 0, -1)
    assert ready == (
        [] if action == "purge" else before[DEAD.dead] and [b"value-%d" % (i % 3) for i in range(7)] + [b"java"]
    )
    undone = undo(mended, UndoFile.read(path))
    assert (undone.done, dict(undone.left)) == (8, {})
    after = state_of(admin)
    assert after[DEAD.dead] == before[DEAD.dead]
    assert after[DEAD.dead_info] == before[DEAD.dead_info]
    assert after.keys() == before.keys()


def test_dead_letters_are_chosen_by_what_is_known_of_them(client: Any, admin: Any, mended: MendedQueue) -> None:
    dead_letters(client, 6)
    with select_aside(mended, "dead", lambda row: row.reason == "reason-4") as chosen:
        assert chosen.count == 1
        assert mend_aside(chosen, "redrive").done == 1
    assert admin.lrange(KEYS.ready, 0, -1) == [b"value-1"]
    queue = client.blocking_queue("orders", transfer=False)
    assert sorted(letter.reason for letter in queue.dead_letters()) == [f"reason-{i}" for i in (0, 1, 2, 3, 5)]


def test_undecodable_values_are_redriven_purged_and_put_back(admin: Any, mended: MendedQueue, tmp_path: Path) -> None:
    admin.rpush(KEYS.undecodable, b"one", b"two", b"one")
    path = tmp_path / "undo.jsonl"
    with select_aside(mended, "undecodable", lambda row: row.data == b"one") as chosen, writer(mended, path) as file:
        assert mend_aside(chosen, "redrive", Acting(undo=file)).done == 2
    assert admin.lrange(KEYS.ready, 0, -1) == [b"one", b"one"]
    assert admin.lrange(KEYS.undecodable, 0, -1) == [b"two"]
    admin.lpop(KEYS.ready)
    undone = undo(mended, UndoFile.read(path))
    assert (undone.done, dict(undone.left)) == (1, {"gone": 1})
    assert admin.lrange(KEYS.undecodable, 0, -1) == [b"one", b"two"]


def test_quarantined_entries_are_delivered_as_values_or_put_back_as_entries(
    client: Any, admin: Any, mended: MendedQueue, tmp_path: Path
) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    delayed.offer("good", HOUR)
    ((member, score),) = admin.zrange(KEYS.timeout, 0, -1, withscores=True)
    admin.delete(KEYS.timeout, KEYS.envelopes)
    admin.rpush(KEYS.quarantine, b"%d " % score + member, b"1000 plain")
    path, other = tmp_path / "undo.jsonl", tmp_path / "other.jsonl"
    with select_aside(mended, "quarantine") as chosen, writer(mended, path) as file:
        counts = mend_aside(chosen, "redrive", Acting(undo=file))
    assert (counts.done, dict(counts.left)) == (1, {"unreadable": 1})
    assert delayed.read_all() == ["good"]
    with select_aside(mended, "quarantine") as chosen, writer(mended, other) as file:
        assert mend_aside(chosen, "values", Acting(undo=file)).done == 1
    assert admin.lrange(KEYS.ready, 0, -1) == [b"plain"]
    assert undo(mended, UndoFile.read(other)).done == undo(mended, UndoFile.read(path)).done == 1
    assert sorted(admin.lrange(KEYS.quarantine, 0, -1)) == sorted([b"%d " % score + member, b"1000 plain"])
    assert admin.exists(KEYS.ready, KEYS.timeout, KEYS.envelopes) == 0


# -- pause and resume ------------------------------------------------------------------------------------------------
def test_a_pause_of_all_partitions_is_undone(client: Any, tmp_path: Path) -> None:
    whole = MendedQueue(client, "orders", partitions=3)
    one = client.delayed_queue(whole.parts[1].name, transfer=False)
    one.pause()
    path = tmp_path / "undo.jsonl"
    with writer(whole, path, "pause") as file:
        assert pause(whole, file) == 2
    assert undo(whole, UndoFile.read(path)).done == 2
    assert [client.delayed_queue(part.name, transfer=False).is_paused() for part in whole.parts] == [False, True, False]
    assert resume(whole) == 1


# -- undo files ------------------------------------------------------------------------------------------------------
def cancelled(delayed: Any, mended: MendedQueue, path: Path, count: int = 4) -> None:
    delayed.offer_all([(f"item-{i}", HOUR) for i in range(count)])
    with select_waiting(mended) as chosen, writer(mended, path) as file:
        mend_waiting(chosen, "cancel", 0, Acting(undo=file))


def test_a_file_that_was_cut_before_the_batch_was_done_gives_nothing_back(
    delayed: Any, mended: MendedQueue, tmp_path: Path
) -> None:
    path = tmp_path / "undo.jsonl"
    cancelled(delayed, mended, path)
    lines = path.read_bytes().splitlines(keepends=True)
    for size in range(len(lines[0]), len(lines[0] + lines[1]) + 1):
        path.write_bytes((lines[0] + lines[1])[:size])
        found = UndoFile.read(path)
        assert found.is_cut == (len(lines[0]) < size < len(lines[0] + lines[1]))
        assert len(found.batches) == (size == len(lines[0] + lines[1]))
    # Without the line that tells of the outcome, Redis does.
    assert undo(mended, UndoFile.read(path)).done == 4
    assert delayed.size() == 4


def test_a_batch_that_was_noted_and_never_sent_gives_nothing_back(
    delayed: Any, mended: MendedQueue, admin: Any, tmp_path: Path
) -> None:
    path = tmp_path / "undo.jsonl"
    cancelled(delayed, mended, path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1])
    admin.delete(KEYS.returned)
    undone = undo(mended, UndoFile.read(path))
    assert (undone.wanted, undone.done) == (0, 0)
    assert delayed.size() == 0


@pytest.mark.parametrize(
    "change", [lambda text: text.replace(b'"place":2', b'"place":3'), lambda text: text[9:], bytes.upper]
)
def test_a_broken_file_is_refused_and_changes_nothing(
    delayed: Any, mended: MendedQueue, tmp_path: Path, change: Any
) -> None:
    path = tmp_path / "undo.jsonl"
    cancelled(delayed, mended, path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + change(lines[1]) + b"".join(lines[2:]))
    with pytest.raises(UndoFileError, match="broken at line 2"):
        UndoFile.read(path)
    path.write_bytes(b"hello\n")
    with pytest.raises(UndoFileError, match="is not an undo file"):
        UndoFile.read(path)
    with pytest.raises(UndoFileError, match="cannot be read"):
        UndoFile.read(tmp_path / "nowhere")


def test_an_undo_file_is_its_owners_alone_and_never_overwritten(mended: MendedQueue, tmp_path: Path) -> None:
    path = tmp_path / "undo.jsonl"
    writer(mended, path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UndoFileError, match="exists already"):
        writer(mended, path)


# -- filters ---------------------------------------------------------------------------------------------------------
def test_a_filter_in_words_asks_for_the_value_and_for_the_item(client: Any, url: str, mended: MendedQueue) -> None:
    with redisson_dq.connect(url, codec=JsonJacksonCodec()) as other:
        orders = other.delayed_queue("orders", transfer=False)
        for i in range(6):
            orders.offer({"order": {"id": i, "city": "Bern" if i % 2 else "Basel"}}, HOUR * (i + 1), id=f"o{i}")
    with select_waiting(mended, filtered(Filter("order.city = Bern and due > 3h"))) as chosen:
        assert mend_waiting(chosen, "cancel", 0).done == 2
    assert sorted(item.id for item in client.delayed_queue("orders", transfer=False).items()) == [
        "o0",
        "o1",
        "o2",
        "o4",
    ]


# -- a list of dead letters that queues share ------------------------------------------------------------------------
def test_letters_of_a_shared_list_go_back_to_the_queues_that_they_came_from(client: Any, admin: Any) -> None:
    whole = client.blocking_queue("orders", partitions=2, transfer=False, dead_letter="graveyard")
    bills = client.blocking_queue("bills", transfer=False, dead_letter="graveyard")
    for i, queue in enumerate([*whole.partitions, bills, *whole.partitions]):
        queue.add(f"value-{i}")
        queue.receive(timeout=5, visibility_timeout=60).reject("why")
    assert admin.llen("graveyard") == 5
    mended = MendedQueue(client, "orders", partitions=2, dead_letter="graveyard")
    with select_aside(mended, "dead") as chosen:
        assert (chosen.met, chosen.count) == (4, 4)
        assert mend_aside(chosen, "redrive").done == 4
    assert [part.read_all() for part in whole.partitions] == [["value-0", "value-3"], ["value-1", "value-4"]]
    assert admin.lrange("graveyard", 0, -1) == [b"value-2"]


def test_an_undo_waits_for_the_end_of_the_action(delayed: Any, mended: MendedQueue, tmp_path: Path) -> None:
    """An action that still writes its file loses no line to an undo, and two undos do not meet."""
    delayed.offer_all([(f"value {number}", HOUR) for number in range(9)])
    with select_waiting(mended) as selection, writer(mended, tmp_path / "undo") as file:
        early = UndoFile.read(tmp_path / "undo")
        mend_waiting(selection, "cancel", 0, Acting(undo=file))
        with pytest.raises(UndoFileError, match="by a process that still runs"):
            undo(mended, UndoFile.read(tmp_path / "undo"))
    with pytest.raises(UndoFileError, match="was changed since it was read"):
        undo(mended, early)
    assert undo(mended, UndoFile.read(tmp_path / "undo")).done == 9
    assert delayed.size() == 9


# -- a queue that changes while it is counted ------------------------------------------------------------------------
@pytest.mark.parametrize("kind", [entries.mirrored, entries.lean])
@pytest.mark.parametrize(
    ("moved", "behind"), [(0, 3000), (0, 4999), (-1, 0), (-1, 5), (499, 510), (499, 4999), (600, 3)]
)
def test_items_that_keep_their_due_times_are_met_once_where_others_change_theirs(
    url: str, admin: Any, mended: MendedQueue, kind: Any, moved: int, behind: int
) -> None:
    kind(url, "orders", 5000)
    waiting = admin.zrange(KEYS.timeout, 0, -1, withscores=True)
    calls, run = itertools.count(), mended.admin.run

    def between(request: Any, node: Any = None) -> Any:
        if next(calls) == 1:
            admin.execute_command("ZADD", KEYS.timeout, repr(waiting[behind][1]), waiting[moved][0])
        return run(request)

    mended.admin.run = between  # type: ignore[method-assign]
    met = [met.member for part in mended.parts for _, met in all_waiting(part)]
    assert next(calls) > 2
    changed = waiting[moved][0]
    assert sorted(member for member in met if member != changed) == sorted(
        member for member, _ in waiting if member != changed
    )
    assert met.count(changed) == 1 or kind is entries.lean


@pytest.mark.parametrize("seed", range(4))
def test_items_with_equal_due_times_are_met_once_while_others_come_and_go(
    url: str, admin: Any, mended: MendedQueue, seed: int
) -> None:
    chance = random.Random(seed)
    entries.lean(url, "orders", 4000)
    due = admin.zscore(KEYS.timeout, admin.zrange(KEYS.timeout, 0, 0)[0])
    members = admin.zrange(KEYS.timeout, 0, -1)
    admin.zadd(KEYS.timeout, {member: due + chance.randrange(5) for member in members})
    stay, go = set(members[::2]), members[1::2]
    run = mended.admin.run

    def between(request: Any, node: Any = None) -> Any:
        for member in chance.sample(go, 100):
            if chance.random() < 0.5:
                admin.zrem(KEYS.timeout, member)
            else:
                admin.zadd(KEYS.timeout, {member: due + chance.randrange(-1, 6)})
        return run(request)

    mended.admin.run = between  # type: ignore[method-assign]
    met = [met.member for part in mended.parts for _, met in all_waiting(part)]
    assert sorted(member for member in met if member in stay) == sorted(stay)
