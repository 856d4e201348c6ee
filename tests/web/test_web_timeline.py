"""The timeline counts what is due when, at any zoom, by one script of few ZCOUNTs."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.web.masks import Masks
from redisson_dq.web.paths import Links
from redisson_dq.web.ticks import MOST_TICKS, ticks
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


@pytest.mark.parametrize("scores", [("inf",), ("-inf",), ("-inf", "inf"), ("1e300", "-1e300", "0", "9007199254740993")])
def test_times_that_no_calendar_has_are_shown_too(
    browse: Open, redis_url: str, client: redisson_dq.Client, scores: tuple[str, ...]
) -> None:
    with redis.Redis.from_url(redis_url) as admin:
        for i, score in enumerate(scores):
            admin.zadd(ZSET, {wrap(Envelope.CURRENT, b"1234567%d" % i, b"\x03\x82v"): float(score)})
    view = timeline(client, "orders", None)
    assert (view.total, counted(view)) == (len(scores), len(scores))
    pages = browse()
    for address in ("/", LINKS.queue("orders"), LINKS.items("orders"), LINKS.timeline("orders"), LINKS.doctor(again=1)):
        assert pages.get(address).status_code == 200, address


def ms_of(text: str) -> int:
    return moment_ms(text, 0)


@pytest.mark.parametrize(
    ("start", "end", "labels"),
    [
        (
            "2026-11-27T10:00:07",
            "2026-11-27T10:00:21",
            "10:00:08 10:00:10 10:00:12 10:00:14 10:00:16 10:00:18 10:00:20",
        ),
        ("2026-11-27T10:02", "2026-11-27T11:38", "10:15 10:30 10:45 11:00 11:15 11:30"),
        ("2026-11-27T16:00", "2026-11-28T14:00", "18:00 21:00 28 Nov 03:00 06:00 09:00 12:00"),
        ("2026-11-26T22:00", "2026-11-30T02:00", "27 Nov 12:00 28 Nov 12:00 29 Nov 12:00 30 Nov"),
        # Mondays, and the first days of months and years.
        ("2026-11-27", "2027-01-10", "30 Nov 07 Dec 14 Dec 21 Dec 28 Dec 04 Jan"),
        ("2026-11-20", "2027-04-11", "Dec 2026 Jan 2027 Feb 2027 Mar 2027 Apr 2027"),
        ("2026-06-15", "2029-08-01", "Jul 2026 Jan 2027 Jul 2027 Jan 2028 Jul 2028 Jan 2029 Jul 2029"),
        ("2023-06-15", "2029-08-01", "2024 2025 2026 2027 2028 2029"),
        ("1970-01-01", "9999-12-31T23:59:59.999", "2000 3000 4000 5000 6000 7000 8000 9000"),
    ],
)
def test_ticks_stand_at_whole_times(start: str, end: str, labels: str) -> None:
    found = ticks(ms_of(start), ms_of(end))
    assert " ".join(each.label for each in found) == labels
    size = ms_of(end) - ms_of(start)
    for each in found:
        assert each.share == pytest.approx((each.at.timestamp() * 1000 - ms_of(start)) / size * 100, abs=0.001)


def test_a_range_of_any_length_has_some_ticks() -> None:
    for start, step in itertools.product((0, ms_of("2026-11-27T10:17:31"), ms_of("9998-06-01")), range(100)):
        end = min(start + round(1000 * 1.35**step), ms_of("9999-12-31"))
        found = ticks(start, end)
        assert 1 <= len(found) <= MOST_TICKS or end - start < 2000, (start, end)
        assert all(0 <= each.share < 100 for each in found)


def test_the_line_of_now_is_not_there_where_now_is_not(browse: Open, client: redisson_dq.Client) -> None:
    """A page without a script has it too."""
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    pages = browse()
    for span, is_out in ((("now", "+1h"), False), (("+1h", "+2h"), True), (("-2h", "-1h"), True)):
        text = pages.get(LINKS.timeline("orders", from_=span[0], to=span[1])).text
        assert ('class="now is-out"' in text, 'class="now-text is-out"' in text) == (is_out, is_out)


def test_times_in_words() -> None:
    assert [span_ms(each) for each in ("90", "-5m", "+1.5h", "1d", "250ms")] == [90_000, -300_000, 5_400_000, DAY, 250]
    assert moment_ms("2026-01-01T01:00:00+01:00", 0) == moment_ms("2026-01-01", 0) == 1767225600000
    assert moment_ms("-1s", 5000) == 4000
    told = [span_in_words(timedelta(seconds=each)) for each in (0.25, 2.5, 70, 3600, 90061, 400 * 86400)]
    assert told == ["250ms", "2.5s", "1m 10s", "1h", "1d 1h", "1y 35d"]
