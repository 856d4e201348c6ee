"""Recurring definitions: what is accepted, how they are stored, and the time that follows from another."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.recurrence import MOST_MISSED, Recurrence
from tests.conftest import as_many

UTC = timezone.utc
BERLIN = "Europe/Berlin"
DAY = 86_400_000


def ms(text: str) -> int:
    """Epoch ms of an ISO time, in UTC unless it says otherwise."""
    moment = datetime.fromisoformat(text)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def occurrences(definition: Recurrence, first: str, until: str) -> list[str]:
    """All occurrences between two times, as the definition's zone shows them."""
    found = []
    due = definition.first_ms(ms(first))
    while due is not None and due < ms(until):
        found.append(due)
        due = definition.next_ms(due, due)
    zone = ZoneInfo(definition.timezone)
    return [datetime.fromtimestamp(due / 1000, zone).strftime("%m-%d %H:%M %z") for due in found]


# -- missed ----------------------------------------------------------------------------------------------------------


def all_between(rule: Recurrence, after: int, until: int) -> list[int]:
    """The times later than one and up to the other, one by one."""
    found = []
    due = rule.next_ms(after, after)
    while due is not None and due <= until:
        found.append(due)
        due = rule.next_ms(due, due)
    return found


@pytest.mark.parametrize(
    ("rule", "now"),
    [
        ({"every": 600}, "2026-03-01 00:00"),
        ({"every": 600}, "2026-03-01 00:10"),
        ({"every": 600}, "2026-03-01 09:59"),
        ({"every": 600, "end": datetime(2026, 3, 1, 0, 30, tzinfo=UTC)}, "2026-03-02 00:00"),
        ({"cron": "0 * * * *"}, "2026-03-01 00:59"),
        ({"cron": "0 * * * *"}, "2026-03-02 00:00"),
        ({"cron": "*/20 9 * * *", "timezone": BERLIN}, "2026-04-01 00:00"),
        ({"cron": "0 * * * *", "end": datetime(2026, 3, 1, 5, tzinfo=UTC)}, "2026-03-02 00:00"),
    ],
)
@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_what_follows_a_time_without_anybody(rule: dict[str, Any], now: str, limit: int) -> None:
    rule_of = Recurrence.checked("q", **rule, missed="all", missed_limit=limit)
    previous = rule_of.first_ms(ms("2026-03-01 00:00"))
    assert previous is not None
    missed = all_between(rule_of, previous, ms(now))
    found = rule_of.following(previous, ms(now))
    assert (found.count, list(found.made_up)) == (len(missed), missed[-limit:])
    assert found.next_ms == rule_of.next_ms(previous, max(previous, ms(now)))
    assert not missed or (found.first_ms, found.last_ms) == (missed[0], missed[-1])
    of_one = Recurrence.checked("q", **rule).following(previous, ms(now))
    assert (of_one.count, of_one.made_up, of_one.next_ms) == (found.count, (), found.next_ms)


@pytest.mark.parametrize(
    ("cron", "last"),
    [
        ("* * * * *", ["2026-12-31 23:58", "2026-12-31 23:59", "2027-01-01 00:00"]),
        ("* * 1-15 feb *", ["2026-02-15 23:57", "2026-02-15 23:58", "2026-02-15 23:59"]),
        ("*/5 3 * jan,jul *", ["2026-07-31 03:45", "2026-07-31 03:50", "2026-07-31 03:55"]),
    ],
)
def test_the_last_of_very_many(monkeypatch: pytest.MonkeyPatch, cron: str, last: list[str]) -> None:
    """They are found without a walk through all the others."""
    asked, next_ms = [], Recurrence.next_ms

    def counted(rule: Recurrence, previous_ms: int, now_ms: int) -> int | None:
        asked.append(previous_ms)
        return next_ms(rule, previous_ms, now_ms)

    monkeypatch.setattr(Recurrence, "next_ms", counted)
    rule = Recurrence.checked("q", cron=cron, missed="all", missed_limit=3)
    found = rule.following(ms("2020-01-01 00:00"), ms("2027-01-01 00:00"))
    assert found.count == MOST_MISSED
    assert list(found.made_up) == [ms(each) for each in last]
    assert len(asked) < 1100


def test_how_late_an_occurrence_may_be() -> None:
    due = ms("2026-03-01 00:00")
    assert Recurrence.checked("q", every=3600).late_ms(due) is None
    assert Recurrence.checked("q", every=3600, missed="all").late_ms(due) is None
    for rule, late in (({"every": 3600}, 60_000), ({"every": 5}, 5000), ({"cron": "* * * * *"}, 60_000)):
        assert Recurrence.checked("q", **rule, missed="skip").late_ms(due) == late
    assert Recurrence(every_ms=1000, end_ms=due, missed="skip").late_ms(due) == 60_000


# -- every -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("every", "every_ms"),
    [
        (60, 60_000),
        (0.001, 1),
        (0.333, 333),
        (0.3331, 334),
        (timedelta(microseconds=999), 1),
        (timedelta(days=30), 30 * DAY),
        (timedelta(days=36_500), 36_500 * DAY),
    ],
)
def test_an_interval_is_whole_milliseconds_rounded_up(every: Any, every_ms: int) -> None:
    assert Recurrence.checked("q", every=every) == Recurrence(every_ms=every_ms)


@pytest.mark.parametrize(
    ("every_ms", "previous", "now", "expected"),
    [
        (1000, 0, 0, 1000),
        (1000, 0, 999, 1000),
        (1000, 0, 1000, 2000),  # due now is missed: the next one is later than now
        (1000, 0, 1001, 2000),
        (1000, 0, 86_400_250, 86_401_000),
        (1000, 5000, 0, 6000),  # asked for early
        (1, 1_700_000_000_000, 1_700_000_000_003, 1_700_000_000_004),
        (333, 1_700_000_000_001, 1_700_000_000_001 + 333 * 10**9, 1_700_000_000_001 + 333 * (10**9 + 1)),
        (30 * DAY, 1_700_000_000_123, 1_700_000_000_123 + 30 * DAY, 1_700_000_000_123 + 60 * DAY),
        (333, ms("9899-12-31T23:59:59.500"), 0, ms("9899-12-31T23:59:59.833")),
        (36_500 * DAY, ms("9899-12-31"), 0, ms("9899-12-31") + 36_500 * DAY),
        (1, ms("9900-01-02"), 0, None),
    ],
)
def test_the_next_of_an_interval(every_ms: int, previous: int, now: int, expected: int | None) -> None:
    assert Recurrence(every_ms=every_ms).next_ms(previous, now) == expected


@pytest.mark.parametrize(
    ("start_ms", "end_ms", "now", "expected"),
    [
        (None, None, 500, 1500),
        (None, 1500, 500, 1500),
        (None, 1499, 500, None),
        (7000, None, 500, 7000),
        (7000, 7000, 7000, 7000),
        (7000, None, 7001, 8000),
        (7000, None, 8000, 8000),
        (7000, 7999, 7001, None),
        (-300, None, 500, 700),
    ],
)
def test_the_first_of_an_interval(start_ms: int | None, end_ms: int | None, now: int, expected: int | None) -> None:
    assert Recurrence(every_ms=1000, start_ms=start_ms, end_ms=end_ms).first_ms(now) == expected


def test_an_end_is_the_last_occurrence_when_it_is_on_the_grid() -> None:
    definition = Recurrence(every_ms=1000, end_ms=5000)
    assert definition.next_ms(4000, 4000) == 5000
    assert definition.next_ms(5000, 5000) is None
    assert definition.next_ms(1000, 5000) is None


def test_an_interval_is_absolute_time_in_any_zone() -> None:
    daily = Recurrence(every_ms=DAY, timezone=BERLIN)
    assert daily.next_ms(ms("2026-03-28T12:00"), 0) == ms("2026-03-29T12:00")
    assert occurrences(daily, "2026-10-23T12:00", "2026-10-27T00:00") == [
        "10-24 14:00 +0200",
        "10-25 13:00 +0100",
        "10-26 13:00 +0100",
    ]


@given(
    every_ms=st.one_of(st.integers(1, 5000), st.integers(1, 36_500 * DAY)),
    start=st.integers(ms("2000-01-01"), ms("2200-01-01")),
    gaps=st.lists(st.integers(-1000, 400 * DAY), min_size=1, max_size=6),
)
def test_an_interval_never_leaves_its_grid(every_ms: int, start: int, gaps: list[int]) -> None:
    definition = Recurrence(every_ms=every_ms, start_ms=start)
    previous = start
    for gap in gaps:
        now = previous + gap
        due = definition.next_ms(previous, now)
        assert due is not None
        assert due > max(previous, now)
        assert due - every_ms <= max(previous, now)
        assert (due - start) % every_ms == 0
        assert definition.first_ms(max(previous, now) + 1) == due
        previous = due


# -- cron ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cron", "previous", "now", "expected"),
    [
        ("0 9 * * *", "2026-05-01T09:00", "2026-05-01T09:00", "2026-05-02T09:00"),
        ("0 9 * * *", "2026-05-01T09:00", "2026-05-01T09:00:00.001", "2026-05-02T09:00"),
        ("0 9 * * *", "2026-05-01T09:00", "2026-05-08T08:59:59.999", "2026-05-08T09:00"),
        ("0 9 * * *", "2026-05-01T09:00", "2026-04-01T00:00", "2026-05-02T09:00"),
        ("*/20 8-10/2 * * *", "2026-05-01T08:40", "2026-05-01T08:40", "2026-05-01T10:00"),
        ("5/25 * * * *", "2026-05-01T08:05", "2026-05-01T08:31", "2026-05-01T08:55"),
        ("0 0 last feb *", "2026-05-01T00:00", "2026-05-01T00:00", "2027-02-28T00:00"),
        ("0 0 29 2 *", "2096-02-29T00:00", "2096-02-29T00:00", "2104-02-29T00:00"),
        ("0 0 1 JAN-MAR,jul *", "2026-03-01T00:00", "2026-03-01T00:00", "2026-07-01T00:00"),
        ("0 0 13 * fri", "2026-05-01T00:00", "2026-05-01T00:00", "2026-05-08T00:00"),  # either: a Friday
        ("0 0 13 * fri", "2026-05-08T00:00", "2026-05-08T00:00", "2026-05-13T00:00"),  # or the 13th
        ("0 0 */10 * mon", "2026-05-01T00:00", "2026-05-01T00:00", "2026-05-11T00:00"),  # begins with *: both
        ("@hourly", "2026-05-01T00:00", "2026-05-01T00:00", "2026-05-01T01:00"),
        ("@daily", "2026-05-01T00:00", "2026-05-01T00:00", "2026-05-02T00:00"),
        ("@weekly", "2026-05-01T00:00", "2026-05-01T00:00", "2026-05-03T00:00"),
        ("@monthly", "2026-05-01T00:00", "2026-05-01T00:00", "2026-06-01T00:00"),
        ("@yearly", "2026-05-01T00:00", "2026-05-01T00:00", "2027-01-01T00:00"),
    ],
)
def test_the_next_of_a_cron_expression(cron: str, previous: str, now: str, expected: str) -> None:
    assert Recurrence.checked("q", cron=cron).next_ms(ms(previous), ms(now)) == ms(expected)


def test_the_first_of_a_cron_expression_may_be_now() -> None:
    definition = Recurrence.checked("q", cron="0 9 * * *", timezone=BERLIN)
    nine = ms("2026-05-01T09:00+02:00")
    assert definition.first_ms(nine) == nine
    assert definition.first_ms(nine - 1) == nine
    assert definition.first_ms(nine + 1) == nine + DAY


def test_the_start_and_end_of_a_cron_expression_are_inclusive() -> None:
    start = datetime(2026, 5, 2, 9, tzinfo=UTC)
    definition = Recurrence.checked("q", cron="0 9 * * *", start=start, end=start + timedelta(days=1))
    assert definition.first_ms(ms("2026-01-01")) == ms("2026-05-02T09:00")
    assert definition.next_ms(ms("2026-05-02T09:00"), 0) == ms("2026-05-03T09:00")
    assert definition.next_ms(ms("2026-05-03T09:00"), 0) is None
    assert definition.first_ms(ms("2026-05-03T09:00:00.001")) is None


@pytest.mark.parametrize("cron", ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *"])
def test_an_expression_that_never_matches_has_no_occurrence(cron: str) -> None:
    definition = Recurrence.checked("q", cron=cron, timezone=BERLIN)
    assert definition.first_ms(ms("2026-01-01")) is None
    assert definition.next_ms(0, ms("2026-01-01")) is None


def test_nothing_is_due_after_the_year_9900() -> None:
    definition = Recurrence(cron="0 9 * * *", timezone=BERLIN)
    assert definition.next_ms(0, ms("9899-12-30T12:00")) == ms("9899-12-31T09:00+01:00")
    assert definition.next_ms(0, ms("9900-01-02")) is None


@pytest.mark.parametrize(
    ("field", "days"),
    [
        ("0", "Su"),
        ("7", "Su"),
        ("sun", "Su"),
        ("1", "Mo"),
        ("6", "Sa"),
        ("1-5", "Mo Tu We Th Fr"),
        ("MON-Fri", "Mo Tu We Th Fr"),
        ("0-6", "Su Mo Tu We Th Fr Sa"),
        ("0-7", "Su Mo Tu We Th Fr Sa"),
        ("*", "Su Mo Tu We Th Fr Sa"),
        ("5-7", "Fr Sa Su"),
        ("fri-sun", "Fr Sa Su"),
        ("fri-mon", "Fr Sa Su Mo"),
        ("6-1", "Sa Su Mo"),
        ("*/2", "Su Tu Th Sa"),
        ("1/2", "Mo We Fr"),
        ("1-5/2", "Mo We Fr"),
        ("tue-sun/3", "Tu Fr"),
        ("0,3,sat", "Su We Sa"),
        ("1-2,4-5", "Mo Tu Th Fr"),
    ],
)
def test_weekdays_are_those_of_cron(field: str, days: str) -> None:
    definition = Recurrence.checked("q", cron=f"0 0 * * {field}")
    # 2026-05-03 is a Sunday.
    shown = {
        f"{datetime(2026, 5, day, tzinfo=UTC):%a}"[:2]
        for day in range(3, 10)
        if definition.first_ms(ms(f"2026-05-0{day}")) == ms(f"2026-05-0{day}")
    }
    assert shown == set(days.split())


NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 6), st.integers(1, 3), st.booleans()), min_size=1, max_size=3)
)
def test_weekday_ranges_with_steps_walk_through_the_week(items: list[tuple[int, int, int, bool]]) -> None:
    texts, expected = [], set()
    for first, length, step, named in items:
        walked = [(first + offset) % 7 for offset in range(length + 1)]
        expected.update(walked[::step])
        first_text, last_text = (NAMES[walked[0]], NAMES[walked[-1]]) if named else (str(first), str(walked[-1]))
        texts.append(f"{first_text}-{last_text}/{step}" if length else first_text)
    definition = Recurrence.checked("q", cron=f"0 0 * * {','.join(texts)}")
    dues = {ms(f"2026-05-0{3 + day}"): day for day in range(7)}
    assert {day for due, day in dues.items() if definition.first_ms(due) == due} == expected


# -- clock changes ---------------------------------------------------------------------------------------------------


def test_a_skipped_time_is_due_when_the_clock_changes() -> None:
    nightly = Recurrence(cron="30 2 * * *", timezone=BERLIN)
    spring = ["03-28 02:30 +0100", "03-29 03:00 +0200", "03-30 02:30 +0200"]
    assert occurrences(nightly, "2026-03-28T00:00", "2026-03-31T00:00") == spring
    change = ms("2026-03-29T01:00")
    assert nightly.first_ms(change) == change
    assert nightly.next_ms(0, change - 1) == change
    assert nightly.first_ms(change + 1) == ms("2026-03-30T02:30+02:00")


def test_a_repeated_time_is_due_once() -> None:
    nightly = Recurrence(cron="30 2 * * *", timezone=BERLIN)
    autumn = ["10-24 02:30 +0200", "10-25 02:30 +0200", "10-26 02:30 +0100"]
    assert occurrences(nightly, "2026-10-24T00:00", "2026-10-27T00:00") == autumn
    # Asked for late, between the first 2:30 and the second.
    assert nightly.next_ms(ms("2026-10-25T00:30"), ms("2026-10-25T01:10")) == ms("2026-10-26T01:30")


def test_an_hourly_time_is_each_hour_of_real_time() -> None:
    hourly = Recurrence(cron="30 * * * *", timezone=BERLIN)
    assert occurrences(hourly, "2026-10-24T23:00", "2026-10-25T02:00") == [
        "10-25 01:30 +0200",
        "10-25 02:30 +0200",
        "10-25 02:30 +0100",
    ]
    assert occurrences(hourly, "2026-03-29T00:00", "2026-03-29T02:00") == ["03-29 01:30 +0100", "03-29 03:30 +0200"]


def test_times_of_a_skipped_day_are_due_when_the_next_day_begins() -> None:
    daily = Recurrence(cron="0 9 * * *", timezone="Pacific/Apia")  # which had no 30 December
    assert occurrences(daily, "2011-12-29T12:00", "2012-01-01T00:00") == [
        "12-29 09:00 -1000",
        "12-31 00:00 +1400",
        "12-31 09:00 +1400",
        "01-01 09:00 +1400",
    ]


CHANGES = [
    (BERLIN, "2026-03-28T12:00"),
    (BERLIN, "2026-10-24T12:00"),
    ("America/Santiago", "2026-09-05T16:00"),  # at midnight
    ("America/Santiago", "2026-04-04T15:00"),
    ("Australia/Lord_Howe", "2026-04-04T03:00"),  # half an hour
    ("Australia/Lord_Howe", "2026-10-03T03:00"),
    ("Asia/Kolkata", "2026-01-01T00:00"),  # no change
]


@given(
    change=st.sampled_from(CHANGES),
    minutes=st.sets(st.integers(0, 59), min_size=1, max_size=3),
    hours=st.one_of(st.none(), st.sets(st.sampled_from([0, 1, 2, 3, 12, 23]), min_size=1, max_size=4)),
)
@settings(deadline=None, max_examples=as_many(20, 60))
def test_clock_changes_against_a_walk_minute_by_minute(
    change: tuple[str, str], minutes: set[int], hours: set[int] | None
) -> None:
    name, first = change
    zone, begin = ZoneInfo(name), ms(first)
    expected = []
    before = datetime.fromtimestamp(begin / 1000 - 60, zone).replace(tzinfo=None)
    for due in range(begin, begin + DAY, 60_000):
        shown = datetime.fromtimestamp(due / 1000, zone)
        wall = shown.replace(tzinfo=None)
        jump = max(1, (wall - before) // timedelta(minutes=1))
        if hours is None:
            matches = wall.minute in minutes
        else:
            passed = [wall - timedelta(minutes=back) for back in range(jump)]
            matches = not shown.fold and any(time.minute in minutes and time.hour in hours for time in passed)
        if matches:
            expected.append(due)
        before = wall

    fields = (minutes, hours or ["*"])
    cron = " ".join(",".join(map(str, field)) for field in fields) + " * * *"
    definition = Recurrence(cron=cron, timezone=name)
    found = []
    due_ms = definition.first_ms(begin)
    while due_ms is not None and due_ms < begin + DAY:
        found.append(due_ms)
        due_ms = definition.next_ms(due_ms, due_ms)
    assert found == expected
    # Whoever asks in between gets the same times.
    for earlier, later in pairwise(expected):
        assert definition.first_ms(earlier + 1) == definition.first_ms(later) == later


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of them"),
        ({"every": 1, "cron": "* * * * *"}, "exactly one of them"),
        ({"every": 0}, "between 1 ms and 36,500 days"),
        ({"every": -1}, "every= must be finite, not negative"),
        ({"every": timedelta(days=36_501)}, "between 1 ms and 36,500 days"),
        ({"every": math.nan}, "every= must be finite, not negative"),
        ({"every": math.inf}, "every= must be finite, not negative"),
        ({"every": 10**400}, "every= must be finite, not negative"),
        ({"every": "60"}, "number of seconds or a timedelta"),
        ({"every": True}, "number of seconds or a timedelta"),
        ({"cron": 5}, "string of five fields"),
        ({"cron": ""}, "it has 0 fields, not 5"),
        ({"cron": "0 9 * *"}, "it has 4 fields, not 5"),
        ({"cron": "0 0 9 * * *"}, "it has 6 fields, not 5"),
        ({"cron": "@reboot"}, "it has 1 fields, not 5.*@daily"),
        ({"cron": "60 9 * * *"}, "60"),
        ({"cron": "*/0 9 * * *"}, "Increment must be higher than 0"),
        ({"cron": "0 24 * * *"}, "24"),
        ({"cron": "0 22-2 * * *"}, "must not be higher"),
        ({"cron": "0 9 0 * *"}, "minimum value"),
        ({"cron": "0 9 L * *"}, "Unrecognized expression"),
        ({"cron": "0 9 last-1 * *"}, "'last-1' is not a day of the month"),
        ({"cron": "0 9 * 13 *"}, "13"),
        ({"cron": "0 9 * jam *"}, "'jam' is not a month"),
        ({"cron": "0 9 * jan- *"}, "Unrecognized expression"),
        ({"cron": "0 9 * * 8"}, "'8' is not a weekday"),
        ({"cron": "0 9 * * 12"}, "'12' is not a weekday"),
        ({"cron": "0 9 * * monday"}, "'monday' is not a weekday"),
        ({"cron": "0 9 * * mon-"}, "'mon-' is not a weekday"),
        ({"cron": "0 9 * * 1,"}, "'' is not a weekday"),
        ({"cron": "0 9 * * */0"}, r"'\*/0' is not a weekday"),
        ({"cron": "0 9 * * *", "timezone": "Mars/Olympus"}, "no time zone is called 'Mars/Olympus'"),
        ({"cron": "0 9 * * *", "timezone": "Europe"}, "no time zone is called 'Europe'"),
        ({"cron": "0 9 * * *", "timezone": "../etc"}, "no time zone is called"),
        ({"cron": "0 9 * * *", "timezone": ""}, "no time zone is called"),
        ({"cron": "0 9 * * *", "timezone": ZoneInfo(BERLIN)}, "IANA name as a string"),
        ({"cron": "0 9 * * *", "timezone": None}, "IANA name as a string"),
        ({"every": 1, "start": datetime(2030, 1, 1)}, "start= must be a datetime with a time zone"),
        ({"every": 1, "end": datetime(2030, 1, 1)}, "end= must be a datetime with a time zone"),
        ({"every": 1, "end": "2030-01-01"}, "end= must be a datetime with a time zone"),
        (
            {"every": 1, "start": datetime(2030, 1, 2, tzinfo=UTC), "end": datetime(2030, 1, 1, tzinfo=UTC)},
            "end= is before start=",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_queue_s_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=rf"^queue 'orders': .*{message}"):
        Recurrence.checked("orders", **arguments)


# -- what is stored --------------------------------------------------------------------------------------------------


def test_the_stored_form() -> None:
    definition = Recurrence.checked(
        "q",
        cron=" 30  9 * *  MON-FRI",
        timezone=BERLIN,
        start=datetime(2023, 11, 14, 22, 13, 20, 1, tzinfo=UTC),
        end=datetime(2030, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
    )
    stored = (
        '{"cron":"30 9 * * mon-fri","end_ms":1893456000000,"every_ms":null,'
        '"start_ms":1700000000001,"timezone":"Europe/Berlin","v":1}'
    )
    assert definition.to_json() == stored
    assert Recurrence.from_json(stored) == definition
    other = Recurrence.checked("q", every=1, missed="all")
    assert json.loads(other.to_json()) == json.loads(Recurrence.checked("q", every=1).to_json()) | {
        "v": 2,
        "missed": "all",
        "missed_limit": 100,
    }
    assert Recurrence.from_json(other.to_json()) == other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"every": 60}, {"every": timedelta(minutes=1)}),
        ({"cron": "@daily"}, {"cron": "0 0 * * *"}),
        ({"cron": "0 9 * * MON"}, {"cron": "0  9 * * mon "}),
        (
            {"every": 1, "start": datetime(2030, 1, 1, tzinfo=UTC)},
            {"every": 1.0, "start": datetime(2030, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))},
        ),
    ],
)
def test_equal_definitions_are_stored_alike(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert Recurrence.checked("q", **one).to_json() == Recurrence.checked("q", **other).to_json()


STORED = json.loads(Recurrence(every_ms=60_000).to_json())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"text"',
        pytest.param("[" * 100_000, id="too deep"),
        "{}",
        '{"v":1}',
        json.dumps({**STORED, "color": "red"}),
        json.dumps({**STORED, "every_ms": "60000"}),
        json.dumps({**STORED, "every_ms": 0}),
        json.dumps({**STORED, "every_ms": 10**15}),
        json.dumps({**STORED, "every_ms": 1.5}),
        json.dumps({**STORED, "cron": "* * * * *"}),
        json.dumps({**STORED, "every_ms": None, "cron": "* * *"}),
        json.dumps({**STORED, "every_ms": None, "cron": 5}),
        json.dumps({**STORED, "timezone": None}),
        json.dumps({**STORED, "timezone": "Mars/Olympus"}),
        json.dumps({**STORED, "start_ms": "now"}),
        json.dumps({**STORED, "start_ms": 2, "end_ms": 1}),
    ],
)
def test_a_stored_form_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="a stored recurrence cannot be read"):
        Recurrence.from_json(text)


def test_a_later_version_is_refused() -> None:
    with pytest.raises(ArgumentError, match="form 3, and this version of redisson-dq reads forms up to 2; upgrade"):
        Recurrence.from_json('{"v":3,"every":"PT1M"}')
