"""The values that describe items: ids that contain what finds an item, and elements of lists that other software may
write to.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisson_dq.errors import RedisReplyError
from redisson_dq.items import ExpiredItem, Outcome, entry_id, item_id
from redisson_dq.wire import commands


@given(due_ms=st.integers(0, 2**53), entry=st.binary(min_size=8, max_size=9))
def test_an_id_that_is_made_tells_due_time_and_entry(due_ms: int, entry: bytes) -> None:
    assert entry_id(item_id(due_ms, entry)) == (due_ms, entry)


@pytest.mark.parametrize(
    "given_id",
    [
        "",
        "order-42",
        "-0123456789abcdef",
        "1-0123456789abcde",
        "1-0123456789abcdef0",
        "1-0123456789abcdef000",
        "1-0123456789abcdeg",
        "1-0123456789ABCDEF",
        "1-01 23 456789abcd",
        "x-0123456789abcdef",
        "+1-0123456789abcdef",
        "\u0661-0123456789abcdef",
        "12345678901234567-0123456789abcdef",
    ],
)
def test_any_other_text_is_an_id_of_the_callers(given_id: str) -> None:
    assert entry_id(given_id) is None


def test_an_outcome_is_true_when_the_call_did_it() -> None:
    assert {outcome for outcome in Outcome if outcome} == {Outcome.CANCELLED, Outcome.RESCHEDULED}


def test_an_expired_element_keeps_due_time_and_bytes() -> None:
    kept = ExpiredItem.parse(b"1700000000000 a b")
    assert kept.due is not None
    assert (kept.due.isoformat(), kept.data) == ("2023-11-14T22:13:20+00:00", b"a b")


@pytest.mark.parametrize("element", [b"", b"junk", b"soon order", b"1700000000000", b"9" * 30 + b" x"])
def test_what_something_else_put_among_the_expired_hides_nothing(element: bytes) -> None:
    assert ExpiredItem.parse(element) == ExpiredItem(due=None, data=element)


@pytest.mark.parametrize(
    "request_for_number", [commands.get_number("room"), commands.get_field("settings", "max_size")]
)
def test_a_number_that_is_none_is_named(request_for_number: object) -> None:
    with pytest.raises(RedisReplyError, match=r"holds b'many', which is not a number; something else wrote it"):
        request_for_number.parse(b"many")  # type: ignore[attr-defined]
