"""The history of a queue: the events that scripts write, its limit, its reading, and that it makes nothing fail."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from redisson_dq.cli import main
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError, DuplicateItemError
from redisson_dq.items import ItemEvent
from tests.conftest import by_night, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS

PATIENCE = 20


def words(events: list[ItemEvent]) -> list[str]:
    return [event.what for event in events]


@pytest.fixture
def kept(delayed: Any) -> Any:
    delayed.set_history(1000)
    return delayed


def receive(queue: Any) -> Any:
    delivery = queue.receive(timeout=PATIENCE, visibility_timeout=60)
    assert delivery is not None
    return delivery


def test_what_happened_to_an_item_with_an_id(kept: Any, queue: Any) -> None:
    before = datetime.now(timezone.utc) - timedelta(seconds=5)
    kept.offer("secret", 3600, id="order-71")
    kept.offer("other", 3600, id="order-7")
    kept.reschedule("order-71", 0.01)
    receive(queue).nack(delay=0.01, reason="no paper")
    receive(queue).reject("out of order")
    queue.redrive()
    receive(queue).ack()
    events = kept.history("order-71")
    assert words(events) == [
        *("offered", "rescheduled", "moved", "delivered", "failed", "moved", "delivered", "dead", "redriven"),
        *("delivered", "done"),
    ]
    assert {event.id for event in events} == {"order-71"}
    assert {event.pid for event in events} == {os.getpid()}
    assert all(event.host for event in events)
    offered, again, _, first, failed, _, second, dead, *_ = events
    assert offered.due - offered.time > timedelta(minutes=59)
    assert again.due - again.time < timedelta(seconds=5)
    assert (first.attempt, failed.attempt, failed.reason, second.attempt, dead.reason) == (
        *(1, 1, "no paper", 2),
        "out of order",
    )
    assert failed.lease == first.lease != second.lease
    assert all(before < event.time < before + timedelta(minutes=5) for event in events)
    assert events == sorted(events, key=lambda event: event.time)


def test_an_item_without_an_id_is_known_by_its_value_once_it_is_ready(kept: Any, queue: Any) -> None:
    item = kept.offer("plain", 0.01)
    kept.offer("other", 0.01)
    for _ in range(2):
        receive(queue).ack()
    events = kept.history(item.id)
    assert [(event.what, event.certain) for event in events] == [
        *(("offered", True), ("moved", True)),
        *(("delivered", False), ("done", False)),
    ]


def test_it_is_found_by_time_and_by_what_happened(kept: Any, queue: Any) -> None:
    for number in range(3):
        kept.offer(f"v{number}", 0.01, id=f"order-{number}")
        delivery = receive(queue)
        if number == 1:
            delivery.reject("broken")
        else:
            delivery.ack()
    (dead,) = kept.history(what="dead")
    assert (dead.id, dead.reason) == ("order-1", "broken")
    since = kept.history("order-1")[0].time
    between = kept.history(since=since, until=dead.time)
    assert [event for event in between if event.id == "order-1"] == kept.history("order-1")
    assert all(since <= event.time <= dead.time for event in between)
    assert words(kept.history(limit=2)) == ["delivered", "done"]
    assert kept.history(until=since - timedelta(hours=1)) == []


def test_an_item_that_nobody_delivered_was_taken(kept: Any, queue: Any, admin: Any) -> None:
    kept.offer("a", 0.01, id="order-71")
    eventually(lambda: admin.llen("orders") == 1)
    assert words(kept.history("order-71")) == ["offered", "moved"]
    admin.lpop("orders")
    assert words(kept.history("order-71")) == ["offered", "moved", "gone"]
    assert words(kept.history("order-71", what="gone")) == ["gone"]


def test_what_was_cleared_at_once(kept: Any, queue: Any) -> None:
    kept.offer_all([("held", 0), ("ready", 0)])
    held = receive(queue)
    kept.offer("a", 0.01, id="ready")
    eventually(lambda: words(kept.history("ready")) == ["offered", "moved"])
    item = kept.offer("b", 3600, id="waiting")
    other = kept.offer("c", 3600)
    kept.clear()
    queue.clear()
    held.ack()
    assert words(kept.history("ready")) == ["offered", "moved", "cleared"]
    assert words(kept.history(item.id)) == words(kept.history(other.id)) == ["offered", "cleared"]
    assert [(event.what, event.reason, event.id) for event in kept.history(what="cleared")] == [
        ("cleared", "waiting", None),
        ("cleared", "ready", None),
    ]
    assert words(kept.history())[-1] == "done"
    # An id that comes again has a new life.
    kept.offer("b", 3600, id="waiting")
    assert words(kept.history("waiting")) == ["offered", "cleared", "offered"]


@pytest.mark.parametrize("bounded", [False, True])
def test_what_was_taken_away(client: Any, bounded: bool) -> None:
    queue = client.bounded_blocking_queue("orders") if bounded else client.blocking_queue("orders")
    if bounded:
        queue.try_set_capacity(10)
    delayed = client.delayed_queue("orders")
    delayed.set_history(10)
    for name in ("a", "b", "c"):
        delayed.offer(name, 0, id=name)
    eventually(lambda: queue.size() == 3)
    queue.remove("a")
    queue.retain_all(["c"])
    queue.clear()
    delayed.offer("d", 3600, id="d")
    assert delayed.poll() == "d"
    delayed.offer("e", 3600, id="e")
    assert delayed.poll_last_and_offer_first_to("other") == "e"
    told = {name: words(delayed.history(name))[-1] for name in ("a", "b", "c", "d", "e")}
    assert told == {"a": "removed", "b": "removed", "c": "cleared", "d": "taken", "e": "taken"}
    item = delayed.offer("no name", 0)
    eventually(lambda: queue.size() == 1)
    queue.remove("no name")
    assert words(delayed.history(item.id))[-1] == "removed"
    delayed.offer_recurring("f", "hourly", every=3600)
    delayed.cancel_recurring("hourly")
    assert words(delayed.history())[-2:] == ["offered", "cancelled"]


@pytest.mark.parametrize("options", [{}, {"visibility_timeout": 30}])
def test_a_taker_of_what_is_due_notes_what_is_too_late(kept: Any, options: dict[str, Any]) -> None:
    kept.offer("late", at=datetime.fromtimestamp(1, timezone.utc), id="order-71", expires=0.001)
    kept.take_due(**options)
    assert words(kept.history("order-71")) == ["offered", "expired"]


@pytest.mark.parametrize("how", ["cancel", "replace", "expire", "take_due", "remove"])
def test_other_ends(kept: Any, how: str) -> None:
    if how == "expire":
        kept.pause()
        kept.offer("a", 0, id="order-71", expires=0.001)
        eventually(lambda: kept.overdue().late_by > timedelta(milliseconds=20))
        kept.resume()
        eventually(lambda: words(kept.history("order-71")) == ["offered", "expired"])
        return
    kept.offer("a", 3600, id="order-71")
    if how == "cancel":
        kept.cancel("order-71")
        assert words(kept.history("order-71")) == ["offered", "cancelled"]
    elif how == "replace":
        kept.offer("b", 3600, id="order-71", on_duplicate="replace")
        assert words(kept.history("order-71")) == ["offered", "replaced", "offered"]
        with pytest.raises(DuplicateItemError):
            kept.offer("b", 3600, id="order-71")
        assert len(kept.history("order-71")) == 3
    elif how == "remove":
        kept.remove("a")
        assert words(kept.history("order-71")) == ["offered", "removed"]
    else:
        assert kept.take_due(until=datetime.now(timezone.utc) + timedelta(hours=2)) == ["a"]
        assert words(kept.history("order-71")) == ["offered", "taken"]


def test_a_lease_that_ends_by_its_deadline(kept: Any, queue: Any) -> None:
    kept.offer("a", 0.01, id="order-71")
    assert queue.receive(timeout=PATIENCE, visibility_timeout=0.05)
    receive(queue).ack()
    events = kept.history("order-71")
    assert words(events) == ["offered", "moved", "delivered", "lost", "delivered", "done"]
    assert events[3].lease == events[2].lease


def test_a_worker_notes_the_same(kept: Any, worker: Any) -> None:
    kept.offer("a", 0.01, id="order-71")

    @worker.handler("orders", retry=None)
    def handle(value: str) -> None:
        raise ValueError("no paper")

    with worker:
        eventually(lambda: "dead" in words(kept.history("order-71")))
    events = kept.history("order-71")
    assert words(events)[:3] == ["offered", "moved", "delivered"]
    assert "no paper" in events[-1].reason


def test_a_busy_worker_notes_what_it_acks_along(kept: Any, worker: Any) -> None:
    handled: list[str] = []
    worker.handler("orders", concurrency=2)(handled.append)
    kept.offer_all([(f"v{number}", 0.01) for number in range(40)])
    with worker:
        eventually(lambda: len(handled) == 40)
    counts = {what: words(kept.history()).count(what) for what in ("offered", "moved", "delivered", "done")}
    assert counts == {"offered": 40, "moved": 40, "delivered": 40, "done": 40}


# -- its bounds ------------------------------------------------------------------------------------------------------


def test_without_it_nothing_is_noted(delayed: Any, queue: Any, admin: Any) -> None:
    delayed.offer("a", 0.01, id="order-71")
    receive(queue).ack()
    assert delayed.history("order-71") == []
    assert not admin.exists(KEYS.events)


def test_it_ends_with_all_that_was_noted(kept: Any, admin: Any) -> None:
    kept.offer("a", 3600)
    assert admin.xlen(KEYS.events) == 1
    kept.set_history(None)
    assert not admin.exists(KEYS.events)
    kept.offer("b", 3600)
    assert not admin.exists(KEYS.events)
    assert kept.history() == []


def test_it_keeps_so_many_items_at_most(kept: Any, admin: Any) -> None:
    kept.set_history(2)
    kept.offer_all([(f"v{number}", 3600) for number in range(1500)])
    assert admin.xlen(KEYS.events) == 16
    assert admin.memory_usage(KEYS.events) < 16_000
    kept.set_history(1)
    assert admin.xlen(KEYS.events) == 8


def test_events_that_are_too_old_are_dropped(kept: Any, admin: Any) -> None:
    kept.set_history(timedelta(minutes=1))
    seconds, micros = admin.time()
    now_ms = seconds * 1000 + micros // 1000
    admin.xadd(KEYS.events, {"e": "offered", "k": "iold"}, id=f"{now_ms - 61_000}-0")
    assert kept.history("old") == []
    assert admin.xlen(KEYS.events) == 1
    kept.offer("a", 3600, id="new")
    assert words(kept.history()) == ["offered"]
    assert admin.xlen(KEYS.events) == 1
    kept.offer("a", 3600)
    assert 0 < admin.pttl(KEYS.events) <= 60_000


def test_a_reason_is_noted_in_part(kept: Any, queue: Any) -> None:
    kept.offer("a", 0.01, id="order-71")
    receive(queue).nack(reason="x" * 10_000, delay=3600)
    assert kept.history(what="failed")[0].reason == "x" * 200


@pytest.mark.parametrize("keep", [0, -1, True, 1.5, "1000", timedelta(0), timedelta(-1)])
def test_what_cannot_be_kept_is_refused(delayed: Any, keep: Any) -> None:
    with pytest.raises(ArgumentError, match="orders"):
        delayed.set_history(keep)


def test_arguments_that_cannot_be_sought_are_refused(kept: Any) -> None:
    for wrong in ({"id": ""}, {"id": 5}, {"since": datetime(2026, 1, 1)}, {"what": 5}, {"limit": 0}):
        with pytest.raises(ArgumentError, match="orders"):
            kept.history(**wrong)


# -- never a reason to fail ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("foreign", ["string", "list", "hash", "setting"])
def test_without_a_history_of_its_own_nothing_is_noted(kept: Any, queue: Any, admin: Any, foreign: str) -> None:
    if foreign == "string":
        admin.set(KEYS.events, "text")
    elif foreign == "list":
        admin.rpush(KEYS.events, "text")
    elif foreign == "hash":
        admin.hset(KEYS.events, "e", "offered")
    else:
        admin.hset(KEYS.settings, "history", "9" * 400 + " nan")
    kept.offer("a", 0.01, id="order-71")
    receive(queue).nack(delay=0.01, reason="again")
    receive(queue).ack()
    assert admin.pttl(KEYS.events) == (-1 if foreign != "setting" else -2)


_LAST = 2**64 - 1
# The id of an event that another program has written, from the server's time in ms; its fields, and how many there are.
FOREIGN: dict[str, tuple[Callable[[int], str], dict[Any, Any], int]] = {
    "the last id of all": (lambda _: f"{_LAST}-{_LAST}", {"e": "offered"}, 1),
    "the last millisecond": (lambda _: f"{_LAST}-5", {"e": "offered"}, 1),
    "years ahead": (lambda now: f"{now + 10**11}-5", {"e": "offered"}, 150),
    "two days ahead": (lambda now: f"{now + 2 * 86_400_000}-5", {"e": "offered", "r": "x" * 400_000}, 5),
    "the last sequence": (lambda now: f"{now + 3_600_000}-{_LAST}", {"e": "offered"}, 1),
    "no fields of ours": (lambda now: f"{now}-0", {"": "", b"\xff": b"\xff"}, 3),
    "bytes": (lambda now: f"{now}-0", {"e": b"\xff\xfe", "d": "9" * 400, "n": "-1", "w": "::", "k": b"i\xff"}, 1),
    "numbers": (lambda now: f"{now}-0", {"e": "moved", "d": "9" * 16, "n": "9" * 16, "w": "a:" + "9" * 16}, 1),
    "large fields": (lambda now: f"{now}-0", dict.fromkeys("ekivwldr", b"1" * 500_000), 8),
    "thousands of fields": (lambda now: f"{now}-0", {f"e{number}": "x" * 100 for number in range(4000)}, 3),
}


_BY_DAY = ("the last id of all", "years ahead", "the last sequence", "thousands of fields")


@pytest.mark.parametrize("foreign", [name if name in _BY_DAY else by_night(name) for name in FOREIGN])
def test_events_of_others_neither_stop_nor_fill_it(kept: Any, queue: Any, admin: Any, foreign: str) -> None:
    first_id, fields, count = FOREIGN[foreign]
    kept.offer("a", 3600, id="before")
    seconds, _ = admin.time()
    first, _, sequence = first_id(seconds * 1000 + 1000).partition("-")
    for number in range(count):
        admin.xadd(KEYS.events, fields, id=f"{int(first) + number}-{sequence}")
    assert words(kept.history("before")) == ["offered"]
    kept.offer("b", 3600, id="next")
    kept.offer("c", 0.01, id="order-71")
    receive(queue).ack()
    kept.offer("d", 3600, id="after")
    assert words(kept.history("before")) == ["offered"]
    assert words(kept.history("order-71"))[-2:] == ["delivered", "done"]
    (after,) = kept.history("after")
    assert after.time.timestamp() < admin.time()[0] + 86_400
    events = kept.history()
    assert [event.id for event in events if event.what == "offered"][-1] == "after"
    assert max(len(part) for event in events for part in (event.what, event.reason, event.host, event.lease)) <= 2048


def test_a_page_of_large_events_is_read_in_parts(kept: Any, admin: Any) -> None:
    for _ in range(40):
        admin.xadd(KEYS.events, {"e": "offered", "k": "ibig", "r": "x" * 200_000, "more": "x" * 200_000})
    # It is gone once the millisecond of its last event is over.
    eventually(lambda: words(kept.history("big"))[-1] == "gone")
    admin.config_resetstat()
    assert words(kept.history("big")) == ["offered"] * 40 + ["gone"]
    # 16 events more than 1 MB at most.
    assert admin.info("commandstats")["cmdstat_evalsha"]["calls"] >= 4


@pytest.mark.parametrize(
    "setting", [b"9" * 5000 + b" 5", b"5 " + b"9" * 5000, b"9" * 14 + b" " + b"9" * 14, b"-1 5", b"\xd9\xa1 5"]
)
def test_a_foreign_setting_stops_nothing(kept: Any, admin: Any, setting: bytes) -> None:
    admin.hset(KEYS.settings, "history", setting)
    assert kept.history() == []
    assert kept.history_kept() is None or not setting.startswith(b"9" * 15)
    kept.offer("a", 3600)
    kept.set_history(10)
    kept.offer("b", 3600, id="b")
    assert words(kept.history("b")) == ["offered"]


def test_events_of_others_are_not_read_for_ever(kept: Any, admin: Any) -> None:
    kept.set_history(1)
    pipeline = admin.pipeline()
    for _ in range(2000):
        pipeline.xadd(KEYS.events, {"e": "x"})
    pipeline.execute()
    assert len(kept.history()) == 8


def test_a_user_without_the_right_to_a_stream_works_without_a_history(
    kept: Any, admin: Any, flavour: Flavour, server: EmbeddedServer
) -> None:
    admin.execute_command("ACL", "SETUSER", "few", "on", ">secret", "~*", "&*", "+@all", "-xadd", "-xrevrange")
    try:
        with flavour.connect(server.url.replace("://", "://few:secret@"), codec=StringCodec()) as other:
            other.delayed_queue("orders").offer("a", 0.01, id="order-71")
            receive(other.blocking_queue("orders")).ack()
    finally:
        admin.execute_command("ACL", "DELUSER", "few")


def test_a_set_back_clock_keeps_the_order(kept: Any, admin: Any) -> None:
    kept.offer("a", 3600, id="first")
    seconds, _ = admin.time()
    admin.xadd(KEYS.events, {"e": "moved", "k": "ifirst"}, id=f"{(seconds + 3600) * 1000}-5")
    kept.offer("b", 3600, id="second")
    assert [(event.what, event.id) for event in kept.history()] == [
        *(("offered", "first"), ("moved", "first")),
        ("offered", "second"),
    ]


def test_it_is_renamed_and_deleted_with_the_queue(kept: Any, admin: Any) -> None:
    kept.offer("a", 3600, id="order-71")
    kept.rename("bills")
    assert words(kept.history("order-71")) == ["offered"]
    assert not admin.exists(KEYS.events)
    kept.delete()
    assert admin.keys("*events*") == []


def test_a_queue_in_partitions(client: Any) -> None:
    whole = client.delayed_queue("orders", partitions=4)
    whole.set_history(100)
    for number in range(8):
        whole.offer("a", 3600, id=f"order-{number}")
    assert words(whole.history("order-3")) == ["offered"]
    assert sorted(event.id for event in whole.history()) == [f"order-{number}" for number in range(8)]
    assert len(whole.history(limit=3)) == 3


# -- the command -----------------------------------------------------------------------------------------------------


def test_the_command(
    kept: Any, queue: Any, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    kept.offer("secret", 0.01, id="order-71")
    receive(queue).nack(delay=3600, reason="no paper\nat line 5")

    def run(*words: str) -> tuple[int, str]:
        code = main(["history", "orders", *words, "--url", url])
        told = capsys.readouterr()
        return code, told.out + told.err

    code, text = run("order-71")
    assert code == 0
    assert [line.split()[2] for line in text.splitlines()[1:]] == ["offered", "moved", "delivered", "failed"]
    assert f":{os.getpid()}" in text
    assert "no paper" in text
    assert "line 5" not in text
    assert "secret" not in text
    assert len(run("--since", "10m", "--what", "failed")[1].splitlines()) == 2
    assert run("--until", "2026-01-01T03:00:00Z") == (0, "no events\n")
    assert run("--since", "3:00", "--limit", "1")[1].count("failed") == 1
    assert run("none") == (0, "nothing is known of none\n")
    assert run("--keep", "none") == (0, "orders keeps no history any more\n")
    code, text = run("order-71")
    assert code == 1
    assert "redisson-dq history orders --keep 1000" in text
    assert run("--keep", "6h")[0] == 0
    assert kept.history_kept() == (50_000, timedelta(hours=6))
