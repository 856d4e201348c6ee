"""Another client ends the leases of a live holder, or gives them back and undoes that: the holder is informed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.mending import MendedQueue, UndoFile, UndoWriter, ack, release, select_held, undo
from redisson_dq.mending.acting import Acting
from redisson_dq.wire.calls.mending import Aside
from tests.conftest import emptied


@pytest.fixture
def url(servers: Callable[[str], EmbeddedServer]) -> str:
    return emptied(servers("redis")).url


@pytest.fixture
def client(url: str) -> Any:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        yield client


def released(client: redisson_dq.Client, file: Path) -> MendedQueue:
    """Gives all leases back, with an undo file."""
    mended = MendedQueue(client, "orders")
    with (
        select_held(mended) as chosen,
        UndoWriter.new(file, mended, "release", "2026-11-25T09:00:00+00:00", "1") as writer,
    ):
        release(chosen, Acting(undo=writer))
    return mended


def test_a_live_holder_of_an_acked_lease_is_told_that_it_is_lost(client: redisson_dq.Client, url: str) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(["a", "b"])
    held, other = queue.receive(2, timeout=0, visibility_timeout=600)
    assert main(["ack", "orders", held.id, "nobody", "--yes", "--url", url]) == 1
    assert held.ack() is redisson_dq.SettleOutcome.LOST
    assert other.extend(600)
    assert other.ack()
    assert (queue.read_all(), client.stats("orders")["orders"].in_flight) == ([], 0)


def test_an_acked_lease_makes_room_and_settles_its_offer(client: redisson_dq.Client) -> None:
    bounded = client.bounded_blocking_queue("orders", transfer=False)
    bounded.try_set_capacity(1)
    delayed = client.delayed_queue("orders", transfer=False)
    assert bounded.offer("a")
    bounded.receive(timeout=0, visibility_timeout=600)
    assert not bounded.offer("b")
    with select_held(MendedQueue(client, "orders")) as chosen:
        assert ack(chosen).done == 1
    assert bounded.offer("b")
    delayed.offer("c", 0, id="c")
    with client.delayed_queue("orders"):
        lease = client.blocking_queue("orders").receive(timeout=10, visibility_timeout=600)
        while lease is not None and lease.offer_id != "c":
            lease = client.blocking_queue("orders").receive(timeout=10, visibility_timeout=600)
    with select_held(MendedQueue(client, "orders"), lambda row: row.id == "c") as chosen:
        assert ack(chosen).done == 1
    assert delayed.cancel("c") == redisson_dq.Outcome.DELIVERED


def test_a_release_is_taken_back_and_the_holder_goes_on(client: redisson_dq.Client, tmp_path: Path) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(["a", "b", "c"])
    first, second, third = queue.receive(3, timeout=0, visibility_timeout=600)
    third.nack()
    [third] = queue.receive(1, timeout=0, visibility_timeout=600)
    mended = released(client, tmp_path / "undo")
    assert not first.extend(600)
    taken = queue.receive(timeout=0, visibility_timeout=600)
    assert taken is not None
    found = UndoFile.read(tmp_path / "undo")
    undone = undo(mended, found)
    assert (undone.wanted, undone.done, dict(undone.left)) == (3, 2, {"gone": 1})
    # It is done once.
    again = undo(mended, UndoFile.read(tmp_path / "undo"))
    assert (again.done, again.before) == (0, 2)
    assert (queue.read_all(), client.stats("orders")["orders"].in_flight) == ([], 3)
    assert taken.value == "a"
    assert [bool(each.ack()) for each in (first, second, third, taken)] == [False, True, True, True]
    assert client.stats("orders")["orders"].in_flight == 0


def test_a_lease_that_was_put_back_ends_by_its_deadline(client: redisson_dq.Client, tmp_path: Path) -> None:
    """And its value counts the crash once, as the lease did end."""
    queue = client.blocking_queue("orders")
    queue.add("a")
    assert queue.receive(timeout=0, visibility_timeout=0.4) is not None
    mended = released(client, tmp_path / "undo")
    assert undo(mended, UndoFile.read(tmp_path / "undo")).done == 1
    again = queue.receive(timeout=20, visibility_timeout=600)
    assert again is not None
    assert (again.value, again.attempt, again.crashes) == ("a", 2, 1)


@pytest.mark.parametrize(("key", "left"), [("turns", "lined"), ("leases", "ended")])
def test_a_value_stays_ready_where_its_lease_cannot_be_held_again(
    client: redisson_dq.Client, url: str, tmp_path: Path, key: str, left: str
) -> None:
    """In a queue with keys or limits, and behind the deadline of the lease."""
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("a")
    lease = queue.receive(timeout=0, visibility_timeout=600)
    assert lease is not None
    mended = released(client, tmp_path / "undo")
    found = UndoFile.read(tmp_path / "undo")
    if key == "turns":
        redis.Redis.from_url(url).hset(mended.parts[0].keys.turns, "key", "x")
        undone = undo(mended, found)
        assert (undone.done, dict(undone.left)) == (0, {left: 1})
    else:
        [held] = found.entries(found.batches[0])
        assert isinstance(held, Aside)
        told = (bytes.fromhex(lease.id), 1, b"", held.element)
        assert mended.parts[0].lease_again(b"u:one", [told]).outcomes == (left,)
    assert queue.read_all() == ["a"]


def test_the_answer_of_a_program(
    client: redisson_dq.Client, url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(["a", "b"])
    queue.receive(2, timeout=0, visibility_timeout=600)
    file = tmp_path / "undo"
    assert main(["release", "orders", "--all", "--yes", "--undo-file", str(file), "--json", "--url", url]) == 0
    assert json.loads(capsys.readouterr().out)["undo_file"] == str(file)
    assert main(["undo", str(file), "--yes", "--json", "--url", url]) == 0
    capsys.readouterr()
    assert main(["ack", "orders", "--all", "--dry-run", "--json", "--url", url]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["action"], told["wanted"], told["done"], told["undo_file"]) == ("ack", 2, 0, None)
    assert main(["ack", "orders", "--all", "--yes", "--json", "--url", url]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 2
