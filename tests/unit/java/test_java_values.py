"""The wrappers of collections, arrays, times and small values: Python values that know their Java type."""

from __future__ import annotations

import copy
import pickle
from datetime import date, datetime, time, timedelta, timezone
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisson_dq import java
from redisson_dq.errors import ArgumentError
from redisson_dq.java import time_numbers
from redisson_dq.java.arrays import array_of, component_of
from redisson_dq.java.collections import COLLECTIONS, map_of, set_of

UTC = timezone.utc
NOON = datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=UTC)
CET = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    "value",
    [
        java.LinkedList([1, 2]),
        java.PriorityQueue([1], java.Comparator.REVERSE_ORDER),
        java.TreeMap({"a": 1}, java.Comparator.CASE_INSENSITIVE_ORDER),
        java.TreeSet([2, 1]),
        java.LinkedHashSet("ab"),
        java.EnumMap(java.Month, {java.Month.MAY: 1}),
        java.EnumSet(java.Month, [java.Month.MAY]),
        java.Elements("java.util.HashSet", [[1]]),
        java.Entries("java.util.HashMap", [([1], 2)]),
        java.unmodifiable(java.LinkedList([1])),
        java.synchronized({"a": 1}),
        java.unmodifiable({1, 2}),
        java.IntArray([1]),
        java.Array("java.lang.Integer", [1]),
        java.Instant(NOON, nanosecond=7),
        java.ZonedDateTime(NOON.astimezone(ZoneInfo("Europe/Berlin")), nanosecond=7),
        java.JavaDate(NOON),
        java.LocalTime(1, 2, nanosecond=9),
        java.Duration(timedelta(1), nanosecond=9),
        java.BitSet({1, 70}),
        java.Locale("de", "DE"),
        java.Throwable("java.lang.Error", "no"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_wrapper_survives_copy_and_pickle(value: Any, through: Any) -> None:
    made = through(value)
    assert type(made) is type(value)
    for name in ("java_name", "comparator", "element", "component", "nanosecond", "zone", "like", "message"):
        assert getattr(made, name, None) == getattr(value, name, None)
    if not isinstance(value, Exception):
        assert made == value


def test_collections_are_listed_by_their_java_names() -> None:
    assert COLLECTIONS["java.util.ArrayList"] is list
    assert COLLECTIONS["java.util.TreeMap"] is java.TreeMap
    for name, kind in COLLECTIONS.items():
        if "ImmutableCollections" not in name and hasattr(kind, "java_name"):
            assert kind.java_name == name


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (java.ListOf(), "ListN"),
        (java.ListOf([1]), "List12"),
        (java.ListOf([1, 2]), "List12"),
        (java.ListOf([1, 2, 3]), "ListN"),
        (java.SetOf(), "SetN"),
        (java.SetOf([1, 2]), "Set12"),
        (java.MapOf(), "MapN"),
        (java.MapOf({1: 2}), "Map1"),
        (java.MapOf({1: 2, 3: 4}), "MapN"),
    ],
)
def test_the_class_of_an_immutable_collection_depends_on_its_size(made: Any, name: str) -> None:
    assert made.java_name == "java.util.ImmutableCollections$" + name


def test_a_set_keeps_the_order_of_its_elements_and_equals_any_set() -> None:
    made: Any = java.LinkedHashSet([3, 1, 2, 1])
    assert list(made) == [3, 1, 2]
    assert made == {1, 2, 3}
    assert {1, 2, 3} == made
    made.discard(1)
    made.add(9)
    assert list(made) == [3, 2, 9]
    assert type(made | {5}) is java.OrderedSet
    assert repr(java.TreeSet([1])) == "TreeSet([1])"


def test_what_no_set_or_dict_can_hold_comes_as_elements_or_entries() -> None:
    assert set_of("java.util.HashSet", set, [1, 2]) == {1, 2}
    assert type(set_of("java.util.HashSet", set, [[1]])) is java.Elements
    assert list(set_of("java.util.HashSet", set, [1, java.Long(1)])) == [1, 1]
    assert map_of("java.util.HashMap", java.HashMap, [("a", 1)]) == {"a": 1}
    assert map_of("java.util.HashMap", dict, [(1, "a"), (True, "b")]) == [(1, "a"), (True, "b")]
    assert map_of("java.util.HashMap", dict, [([], "a")]).java_name == "java.util.HashMap"


@pytest.mark.parametrize(
    ("collection", "name"),
    [
        ([1], "UnmodifiableRandomAccessList"),
        (java.LinkedList([1]), "UnmodifiableList"),
        ({1}, "UnmodifiableSet"),
        (java.TreeSet([1]), "UnmodifiableSortedSet"),
        ({1: 2}, "UnmodifiableMap"),
        (java.TreeMap({1: 2}, java.Comparator.REVERSE_ORDER), "UnmodifiableSortedMap"),
        (java.unmodifiable([1]), "UnmodifiableRandomAccessList"),
    ],
)
def test_a_view_knows_its_class_and_what_it_wraps(collection: Any, name: str) -> None:
    view = java.unmodifiable(collection)
    assert view.java_name == "java.util.Collections$" + name
    assert view == collection
    assert type(view.inner) is type(collection)
    assert view.inner == collection
    assert getattr(view.inner, "comparator", None) is getattr(collection, "comparator", None)


def test_only_collections_have_views() -> None:
    with pytest.raises(ArgumentError, match="a list, a set or a dict is needed, not str"):
        java.synchronized("text")


@pytest.mark.parametrize(
    ("name", "component"),
    [("[I", "int"), ("[[I", "[I"), ("[Ljava.lang.String;", "java.lang.String"), ("[[La.B;", "[La.B;")],
)
def test_an_array_knows_its_class(name: str, component: str) -> None:
    assert component_of(name) == component
    made = array_of(component, [])
    assert made.java_name == name
    assert made == []


@pytest.mark.parametrize("name", ["", "I", "[", "[X", "[L", "[L;", "[La.B", "[[", "[[X"])
def test_what_names_no_array_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no array class"):
        component_of(name)


def test_array_of_gives_the_class_made_for_the_component() -> None:
    assert type(array_of("int", [1])) is java.IntArray
    assert type(array_of("java.lang.String", ["a"])) is java.StringArray
    assert repr(array_of("a.B", [])) == "Array('a.B', [])"
    with pytest.raises(ArgumentError, match="Java name"):
        java.Array("", [])


# Times


def test_nanoseconds_make_a_wrapper_and_their_absence_a_plain_value() -> None:
    assert type(time_numbers.instant(0, 1000)) is datetime
    made = time_numbers.instant(1, 1001)
    assert isinstance(made, java.Instant)
    assert (made.nanosecond, made.microsecond) == (1, 1)
    assert made != time_numbers.instant(1, 1000)
    assert time_numbers.instant_parts(made) == (1, 1001)
    assert type(time_numbers.duration(5, 2000)) is timedelta
    assert time_numbers.duration_parts(time_numbers.duration(-5, 999_999_999)) == (-5, 999_999_999)
    assert type(time_numbers.local_time(1, 2, 3, 4)) is java.LocalTime
    assert time_numbers.time_parts(time_numbers.local_time(1, 2, 3, 4)) == (1, 2, 3, 4)


def test_calculating_with_a_wrapper_gives_plain_values() -> None:
    made = java.Instant(NOON, nanosecond=5)
    assert type(made + timedelta(1)) is datetime
    assert type(timedelta(1) + made) is datetime
    assert made - NOON == timedelta(0)
    assert NOON - made == timedelta(0)
    assert type(made.replace(year=2000)) is datetime
    assert made.astimezone(CET).tzinfo is CET
    assert type(java.LocalTime(1, nanosecond=3).replace(hour=2)) is time


def test_java_dates_are_in_utc_and_cut_to_milliseconds() -> None:
    made = java.JavaDate(NOON.astimezone(CET))
    assert made.tzinfo is UTC
    assert made == NOON.replace(microsecond=123000)
    assert time_numbers.millis_of(made) == 1709208000123
    assert time_numbers.java_date(1709208000123) == made
    assert type(time_numbers.java_date(5, java.SqlTime)) is java.SqlTime


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: java.Instant(datetime(2024, 1, 1)), "Instant takes an aware datetime"),
        (lambda: java.JavaDate(datetime(2024, 1, 1)), "JavaDate takes an aware datetime"),
        (lambda: java.LocalDateTime(NOON), "LocalDateTime takes a naive datetime"),
        (lambda: java.LocalTime(time(1, tzinfo=UTC)), "LocalTime takes a naive time"),
        (lambda: java.OffsetTime(time(1)), "OffsetTime takes an aware time"),
        (lambda: java.Duration(cast(Any, 5)), "Duration takes a timedelta"),
        (lambda: java.Instant(NOON, nanosecond=1000), "nanosecond is 0 to 999"),
        (lambda: java.ZoneOffset(70000), "at most 18 hours"),
    ],
)
def test_a_wrapper_refuses_what_it_cannot_hold(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()


def test_a_zone_is_a_zone_info_where_this_machine_has_it() -> None:
    local = datetime(2024, 7, 1, 12)
    berlin = time_numbers.zoned_date_time(local, 7200, "Europe/Berlin")
    assert type(berlin) is datetime
    assert berlin.tzinfo == ZoneInfo("Europe/Berlin")
    assert time_numbers.zone_of(berlin) == "Europe/Berlin"
    # Neither an unknown zone nor one with other rules loses what Java wrote.
    for offset, zone in ((7200, "Nowhere/City"), (3600, "Europe/Berlin"), (7200, "+02:00"), (7200, "../etc"), (0, "Z")):
        found = time_numbers.zoned_date_time(local, offset, zone)
        assert isinstance(found, java.ZonedDateTime)
        assert (time_numbers.zone_of(found), time_numbers.offset_of(found)) == (zone, offset)


def test_the_hour_that_comes_twice_keeps_its_offset() -> None:
    local = datetime(2024, 10, 27, 2, 30)
    for offset in (7200, 3600):
        found = time_numbers.zoned_date_time(local, offset, "Europe/Berlin")
        assert type(found) is datetime
        assert time_numbers.offset_of(found) == offset


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (NOON, "java.time.Instant"),
        (datetime(2024, 1, 1), "java.time.LocalDateTime"),
        (NOON.astimezone(CET), "java.time.OffsetDateTime"),
        (NOON.astimezone(ZoneInfo("Europe/Berlin")), "java.time.ZonedDateTime"),
        (date(2024, 1, 1), "java.time.LocalDate"),
        (time(1), "java.time.LocalTime"),
        (time(1, tzinfo=CET), "java.time.OffsetTime"),
        (timedelta(1), "java.time.Duration"),
        (java.JavaDate(NOON), "java.util.Date"),
        (java.OffsetDateTime(NOON), "java.time.OffsetDateTime"),
    ],
)
def test_the_java_type_of_a_time(value: Any, name: str) -> None:
    assert time_numbers.java_time_name(value) == name


def test_what_python_does_not_reach_is_kept() -> None:
    far = time_numbers.local_date(999_999_999, 12, 31)
    assert far == java.FarTime("java.time.LocalDate", (999_999_999, 12, 31))
    assert time_numbers.local_date_time(far, time(1)) == java.FarTime(
        "java.time.LocalDateTime", (999_999_999, 12, 31, 1, 0, 0, 0)
    )
    assert time_numbers.instant_parts(time_numbers.instant(-31557014167219200, 0)) == (-31557014167219200, 0)
    assert time_numbers.millis_of(time_numbers.java_date(2**63 - 1)) == 2**63 - 1
    assert time_numbers.duration_parts(time_numbers.duration(2**63 - 1, 5)) == (2**63 - 1, 5)


@pytest.mark.parametrize("parts", [(2024, 13, 1), (-5, 2, 30), (2_000_000_000, 1, 1), (2023, 2, 29), (10001, 2, 29)])
def test_a_date_that_is_none_is_a_value_error(parts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"month|day|year"):
        time_numbers.local_date(*parts)


@given(st.integers(-365_243_219_162, 365_241_780_471))
def test_days_and_dates_agree_over_all_of_javas_years(days: int) -> None:
    found = time_numbers.local_date_of_days(days)
    year, month, day = time_numbers.date_parts(found)
    # Java's own definition, over a proleptic year that starts in March.
    y = year - (month <= 2)
    era = y // 400
    of_era = y - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    assert era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468 == days


@given(st.integers(-(10**11), 10**11), st.integers(0, 999_999_999))
def test_instants_and_durations_come_back(seconds: int, nano: int) -> None:
    assert time_numbers.instant_parts(time_numbers.instant(seconds, nano)) == (seconds, nano)
    assert time_numbers.duration_parts(time_numbers.duration(seconds, nano)) == (seconds, nano)


@given(st.sets(st.integers(0, 2000)))
def test_the_bits_of_a_bit_set_come_back(bits: set[int]) -> None:
    words = java.BitSet(bits).to_words()
    assert java.BitSet.from_words(words) == bits
    assert all(-(2**63) <= word < 2**63 for word in words)
    assert not words or words[-1]


def test_a_throwable_can_be_raised() -> None:
    failure = java.Throwable("java.lang.IllegalStateException", "no stock", cause=java.Throwable("java.io.IOException"))
    with pytest.raises(java.Throwable, match=r"java\.lang\.IllegalStateException: no stock"):
        raise failure
    assert str(failure.cause) == "java.io.IOException"
