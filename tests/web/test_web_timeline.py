"""The timeline counts what is due when, at any zoom, by one script of few ZCOUNTs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.web.masks import Masks
from redisson_dq.web.paths import Links
from redisson_dq.web.timeline import HEAD, MOST_SHOWN, MOST_SPANS, TimelineView
from redisson_dq.web.timeline import timeline as timeline_of
from redisson_dq.web.times import moment_ms, span_in_words, span_ms
from redisson_dq.wire.envelope import Envelope, wrap
from tests.web.conftest import Open

LINKS = Links("")
DAY = 86_400_000
ZSET = "redisson_delay_queue_timeout:{orders}"


def filled(url: str, *scores: float, name: str = "orders") -> None:
    """Members with these scores, as the script looks at scores alone."""
    with redis.Redis.from_url(url) as admin:
        key = f"redisson_delay_queue_timeout:{{{name}}}"
        admin.zadd(key, {f"{i}": score for i, score in enumerate(scores)})


def now_of(url: str) -> int:
    with redis.Redis.from_url(url) as admin:
        seconds, us = admin.time()
        return int(seconds) * 1000 + int(us) // 1000


def timeline(client: redisson_dq.Client, queue: str, partitions: int | None, *span: str) -> TimelineView:
    return timeline_of(client, queue, partitions, Masks(), *span)


def counted(view: TimelineView) -> int:
    return view.before + sum(each.count for each in view.spans) + view.later


MIN = 60_000


@pytest.mark.parametrize(
    ("dues", "before"),
    [
        # All of them are overdue, by minutes or by months.
        ((-5 * MIN, -4 * MIN), 0),
        ((-90 * DAY, -60 * DAY), 0),
        # As much time is shown of what is overdue as of what is ahead, and an hour at least.
        ((-50 * MIN, 2 * MIN), 0),
        ((-2 * DAY, 3 * DAY), 0),
        ((-90 * DAY, -30 * MIN, 2 * MIN), 1),
        ((5 * MIN, 2 * DAY), 0),
    ],
)
def test_without_a_choice_the_range_has_what_is_overdue_too(
    redis_url: str, client: redisson_dq.Client, dues: tuple[int, ...], before: int
) -> None:
    now = now_of(redis_url)
    filled(redis_url, *(now + each for each in dues))
    view = timeline(client, "orders", None)
    assert (view.before, view.later) == (before, 0)
    assert sum(each.count for each in view.spans) == len(dues) - before
    assert sum(each.overdue for each in view.spans) == sum(each < 0 for each in dues) - before


@pytest.mark.parametrize(
    ("from_", "to"),
    [
        ("", ""),
        ("now", "+60s"),
        ("now", "+3650d"),
        ("-1h", "+1h"),
        ("2001-01-01", "2500-01-01"),
        ("+30d", ""),
        ("0", "253402300799999"),
        ("now", "+1500ms"),
    ],
)
def test_every_item_is_in_one_span_at_any_zoom(redis_url: str, client: redisson_dq.Client, from_: str, to: str) -> None:
    now = now_of(redis_url)
    scores = (now - 3_600_000, now - 5, now + 500, now + 59_000, now + DAY, now + 31 * DAY, now + 400 * DAY, 0)
    filled(redis_url, *scores)
    view = timeline(client, "orders", None, from_, to)
    assert counted(view) == view.total == len(scores)
    assert view.overdue == 3
    assert 1 <= len(view.spans) <= MOST_SPANS
    assert all(a.to_ms == b.from_ms for a, b in zip(view.spans, view.spans[1:], strict=False))
    assert {each.to_ms - each.from_ms for each in view.spans} == {view.step_ms}
    for span in view.spans:
        inside = [score for score in scores if span.from_ms <= score < span.to_ms]
        assert span.count == len(inside)
        assert span.overdue == sum(score <= view.now_ms for score in inside)
        assert span.is_now == (span.from_ms <= view.now_ms < span.to_ms)
    if not to:
        assert view.later == 0
    if not from_:
        assert view.spans[0].from_ms <= view.now_ms


def test_values_that_receivers_hold_are_not_counted(redis_url: str, client: redisson_dq.Client) -> None:
    ready = client.blocking_queue("orders", transfer=False)
    ready.add_all(["a", "b"])
    held = ready.receive(timeout=1, visibility_timeout=600)
    assert held is not None
    client.delayed_queue("orders", transfer=False).offer("c", 600)
    for range_ in (("", ""), ("now", "+1h"), ("now", "+1d"), ("+1h", "+1d")):
        view = timeline(client, "orders", None, *range_)
        assert (view.total, counted(view)) == (1, 1)


def test_one_script_counts_and_looks_by_few_commands(redis_url: str, client: redisson_dq.Client) -> None:
    now = now_of(redis_url)
    with redis.Redis.from_url(redis_url) as admin:
        # Leases in every span are the worst case.
        scores = {wrap(Envelope.CURRENT, i.to_bytes(10, "big"), b"value"): now + i * 1000 for i in range(3600)}
        admin.zadd(ZSET, scores)
        leases = {i.to_bytes(10, "big"): now + i * 1000 + 0.5 for i in range(3600)}
        admin.zadd("redisson_dq_leases:{orders}", leases)
        timeline(client, "orders", None, "now", "+55m")
        admin.config_resetstat()
        timeline(client, "orders", None, str(now), str(now + 55 * 60_000))
        stats: Any = admin.info("commandstats")
        calls = {name.removeprefix("cmdstat_"): told["calls"] for name, told in stats.items()}
        assert calls["evalsha"] == 1
        assert 100 < calls["zcount"] <= 120
        # The ends of both zsets, and the entries that are shown.
        assert 3 <= calls["zrange"] <= 3 + MOST_SHOWN
        assert calls.get("zscore", 0) <= MOST_SHOWN
        sent = {"evalsha", "zcount", "zcard", "zrange", "zscore", "time", "config|resetstat", "info"}
        assert set(calls) <= sent


@pytest.mark.parametrize(("sizes", "most"), [([20_000_000], 1), ([100_000] * 60, 3), ([HEAD] * 200, MOST_SHOWN)])
def test_large_values_end_the_look_at_classes(
    redis_url: str, client: redisson_dq.Client, sizes: list[int], most: int
) -> None:
    """No more than 250,000 bytes and one entry are read, and of each value some 256 bytes leave Redis."""
    with redisson_dq.connect(redis_url, codec=StringCodec()) as producer:
        producer.delayed_queue("orders", transfer=False).offer_all([("x" * size, 60) for size in sizes])
    timeline(client, "orders", None)
    with redis.Redis.from_url(redis_url) as admin:
        admin.config_resetstat()
        timeline(client, "orders", None)
        stats: Any = admin.info("commandstats")
        # Two scripts look at three ends each.
        assert stats["cmdstat_zrange"]["calls"] - 6 <= most
        assert admin.info("stats")["total_net_output_bytes"] < 60_000


@pytest.mark.nightly
def test_ten_million_entries_are_counted_within_5_ms(redis_url: str, client: redisson_dq.Client) -> None:
    fill = """
      local base, first, last = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
      for i = first, last do
        local value = '{"@class":"com.acme.Order","id":' .. i .. '}'
        redis.call('ZADD', KEYS[1], base + i, struct.pack('>I8', i) .. struct.pack('<I8', #value) .. value)
      end"""
    now = now_of(redis_url)
    took = []
    with redis.Redis.from_url(redis_url) as admin:
        for first in range(0, 10_000_000, 50_000):
            admin.eval(fill, 1, ZSET, now, first, first + 49_999)
        # Redis learns the script.
        timeline(client, "orders", None, str(now), str(now + 10_000_000))
        for _ in range(5):
            admin.config_resetstat()
            view = timeline(client, "orders", None, str(now), str(now + 10_000_000))
            stats: Any = admin.info("commandstats")
            took.append(stats["cmdstat_evalsha"]["usec"] / 1000)
    print("ms of the script:", took)
    assert counted(view) == view.total == 10_000_000
    assert 100 < view.sampled <= MOST_SHOWN
    assert sorted(took)[2] <= 5


def test_partitions_are_one_line(client: redisson_dq.Client) -> None:
    whole = client.delayed_queue("orders", transfer=False, partitions=4)
    for i in range(20):
        whole.offer(i, 60 + i)
    view = timeline(client, "orders", 4)
    assert (view.total, counted(view)) == (20, 20)


def test_a_span_lists_its_items(browse: Open, client: redisson_dq.Client) -> None:
    queue = client.delayed_queue("orders", transfer=False)
    for i in range(120):
        queue.offer(i, 60 + i, id=f"{i:03}")
    pages = browse()
    view = pages.get(LINKS.timeline("orders", format="json")).json()
    listed = []
    for span in view["spans"]:
        cursor, found = "", []
        while True:
            address = LINKS.items("orders", from_=span["from_ms"], to=span["to_ms"], cursor=cursor, format="json")
            page = pages.get(address).json()
            found += [row["id"] for row in page["rows"]]
            cursor = page["next"]
            if not cursor:
                break
        assert len(found) == span["count"]
        listed += found
    assert listed == [f"{i:03}" for i in range(120)]


@pytest.mark.parametrize("wrong", [("soon", ""), ("now", "now"), ("+1h", "now"), ("now", "1e5"), ("", "9" * 30)])
def test_a_range_that_is_none(client: redisson_dq.Client, wrong: tuple[str, str]) -> None:
    with pytest.raises(ArgumentError):
        timeline(client, "orders", None, *wrong)


def test_times_in_words() -> None:
    assert [span_ms(each) for each in ("90", "-5m", "+1.5h", "1d", "250ms")] == [90_000, -300_000, 5_400_000, DAY, 250]
    assert moment_ms("2026-01-01T01:00:00+01:00", 0) == moment_ms("2026-01-01", 0) == 1767225600000
    assert moment_ms("-1s", 5000) == 4000
    told = [span_in_words(timedelta(seconds=each)) for each in (0.25, 2.5, 70, 3600, 90061, 400 * 86400)]
    assert told == ["250ms", "2.5s", "1m 10s", "1h", "1d 1h", "1y 35d"]
