"""Filters: their grammar, their comparisons, and errors that say where."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisson_dq.browsing import DecodedValue, Filter, FilterError, SeenItem
from redisson_dq.browsing.holders import LeaseHolder
from redisson_dq.errors import ArgumentError

NOW = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)
VALUE: Any = {
    "@class": "com.acme.Job",
    "order": {"id": 42, "paid": False, "lines": [{"sku": "a-1"}, {"sku": "b"}], "total": "19.99"},
    "id": "x",
    "a.b": 1,
    "tags": ["new", 7],
    "when": "2026-01-01T00:00:00Z",
    "none": None,
}


def row(**fields: Any) -> SeenItem:
    given_fields: dict[str, Any] = {
        "queue": "orders",
        "state": "waiting",
        "id": "order-42",
        "now": NOW,
        "due": NOW - timedelta(minutes=10),
        "size": 120,
        "data": b"",
        "attempts": 3,
        "reason": "timed out",
        **fields,
    }
    return SeenItem(**given_fields)


def holds(text: str, value: Any = VALUE, **fields: Any) -> bool:
    decoded = DecodedValue(codec="JsonJacksonCodec", sure="certain", value=value, java_class="com.acme.Job")
    return Filter(text)(row(**fields), decoded)


@pytest.mark.parametrize("part", ["pid = 4242", "host = vm", "name ~ mails", "client = 3bdebc69", "connected = true"])
def test_values_in_flight_are_found_by_their_holder(part: str) -> None:
    holder = LeaseHolder(client="3bdebc69", process="vm:4242", title="mails", address="127.0.0.1:5")
    assert holds(f"holder.{part}", holder=holder)
    assert not holds(f"holder.{part}", holder=LeaseHolder(client="00000000"))
    assert not holds(f"holder.{part}")


@pytest.mark.parametrize(
    "text",
    [
        "order.id = 42 and late > 5m",
        "order.id=42",
        "order.id == 42.0",
        "order.total = 19.99",
        "order.id = '42'",
        "order.lines[0].sku = a-1",
        "order.lines[1].sku in (a, b)",
        "order.lines[1].sku not in (a, c)",
        "order.paid = false",
        "not order.paid",
        "order",
        "none = null",
        "tags ~ new and tags ~ 7",
        "order ~ lines",
        "id ~ ORDER",
        "value.id = x",
        "a.b = 1",
        "when < 2026-01-01T00:00:01Z and when >= 2026-01-01",
        "due < 2026-01-03",
        "due < 0s",
        "late >= 600 and late < 1h",
        "attempts >= 3 and size <= 120",
        "state = waiting and queue = orders and class = com.acme.Job",
        "reason ~ 'timed'",
        "(id = a or id = order-42) and not (size = 1)",
        "id = a or id = b or size > 1 and size < 1000",
        "NOT id = a AND size IN (120)",
        'id != "a \\" b"',
    ],
)
def test_it_holds(text: str) -> None:
    assert holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "order.id = 43",
        "order.id > text",
        "gone = 1",
        "gone != 1",
        "gone",
        "order.lines[2].sku = a",
        "order.id.deeper = 1",
        "order = 42",
        "late > 11m",
        "none",
        "none > 1",
        "order.paid = 0",
        "when > soon and when < 5m",
        "due > 1h",
        "due < 2026-01-02",
        "tags[0].x = 1",
    ],
)
def test_it_does_not_hold(text: str) -> None:
    assert not holds(text)


@pytest.mark.parametrize(
    ("text", "value", "is_wanted"),
    [
        ("order.id = 42", '{"order": {"id": 42}}', True),
        ("order.id = 43", '{"order": {"id": 42}}', False),
        ("order.id", '{"order": {"id": 42}', False),
        ("order.id", "order.id", False),
    ],
)
def test_a_text_that_is_json_is_looked_into(text: str, value: str, is_wanted: bool) -> None:
    assert holds(text, value) is is_wanted


def test_without_a_value_only_the_item_counts() -> None:
    assert not Filter("size > 1 and state = waiting").needs_value
    assert Filter("order.id = 1").needs_value
    assert Filter("class = x").needs_value
    assert Filter("size = 120 and not order.id = 1")(row(), None)
    broken = DecodedValue(codec="", sure="", value="00", error="no codec")
    assert not Filter("order.id = 42")(row(), broken)


def test_nothing_is_late_before_its_time_or_elsewhere() -> None:
    assert not holds("late > 0s", due=NOW + timedelta(seconds=1))
    assert not holds("late > 0s", state="dead")
    assert not holds("late > 0s", due=None)
    assert holds("due < 1h and due > 5m", due=NOW + timedelta(minutes=10))


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", 0, "expected the name of a field at the end"),
        ("id =", 4, "expected a value at the end, after 'id ='"),
        ("id = 1 size = 2", 7, "expected 'and' or 'or' at 7, before 'size = 2'"),
        ("(id = 1", 7, "expected a closing parenthesis"),
        ("id in 1", 6, "expected an opening parenthesis after 'in'"),
        ("id in (1", 8, "a comma or expected a closing parenthesis"),
        ("id not 1", 7, "expected 'in' after 'not'"),
        ("= 1", 0, "expected the name of a field at 0, before '= 1'"),
        ("id = 'open", 5, "expected a field, a comparison or a value at 5"),
        ("id = 1 & size", 7, "expected a field, a comparison or a value at 7"),
        ("due > 2026-13-45", 6, "expected a date that exists at 6"),
        ("late > 5x", 7, "late is compared with a duration such as 5m: expected one at 7, before '5x'"),
        ("due < soon", 6, "due is compared with a duration such as 1h, or a time"),
        ("held in (1h, x)", 13, "held is compared with a duration"),
        ("attempts = two", 11, "attempts is compared with a number"),
        ("state = wating", 8, "expected a state (waiting, parked, ready,"),
        ("not " * 60 + "id", 204, "at most 50 levels are read"),
        ("(" * 60, 51, "at most 50 levels are read"),
        ("id = -" + "9" * 4001, 5, "a number of at most 4,000 digits was expected at 5"),
        ("a" * 10_001, 10_000, "at most 10000 characters are read"),
    ],
)
def test_an_error_says_where(text: str, position: int, words: str) -> None:
    with pytest.raises(FilterError) as caught:
        Filter(text)
    assert isinstance(caught.value, ArgumentError)
    assert caught.value.position == position
    assert words in str(caught.value)


def test_numbers_of_more_digits_than_python_writes() -> None:
    large = 10**5000
    assert holds('n = "' + hex(large) + '"', {"n": large})
    assert holds("n > 1 and n != 2 and not n ~ 1", {"n": large})
    assert not holds(f"n[{'9' * 5000}] = 1", {"n": [1]})
    assert holds(f"n = {'9' * 3999}", {"n": int("9" * 3999)})


@given(st.text(alphabet="abid.[]()'\"=<>!~,0159mhd- \\\n_", max_size=40) | st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        wanted = Filter(text)
    except FilterError:
        return
    assert wanted(row(), None) in (True, False)
