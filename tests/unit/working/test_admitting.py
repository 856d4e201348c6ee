"""Which of the values that were seen are let past the limit of a busy handler, decided without a server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from redisson_dq.codecs import EncryptedCodec, JsonCodec
from redisson_dq.wire.leases import Leased
from redisson_dq.working.admission import Admitting
from redisson_dq.working.handlers import declared
from redisson_dq.working.keys import BadKey
from redisson_dq.working.limits import Limit, Rate


def leased(data: bytes, number: int) -> Leased:
    return Leased(data=data, key="orders", id=bytes([number]), deadline_ms=0, now_us=0, read_us=0, text=b"")


def test_values_of_two_looks_at_a_time_are_let_past_each() -> None:
    """One fetcher follows the other, and both look for a moment."""
    admitting = Admitting(lambda handler: True)
    handlers = [declared(print, "orders", rate=Rate(1))]
    first = admitting.words(handlers, [(b"a", "a", True)], None)
    second = admitting.words(handlers, [(b"b", "b", True)], None)
    admitting.leased([leased(b"a", 1)], first.passed)
    admitting.leased([leased(b"b", 2)], second.passed)
    assert [admitting.admits(id) for id in ("01", "02", "03")] == [False, False, True]
    # Each is asked for once.
    assert admitting.admits("01")


def labels(data: bytes, value: Any, by: Any) -> list[str]:
    """What a value would wait for, as Redis is told."""
    handlers = [declared(print, "orders", limit=Limit(1, by=by), rate=Rate(1, by=by, name="mails"))]
    found = Admitting(lambda handler: False).words(handlers, [(data, value, True)], None)
    by = found.limits[found.seen[0].limit - 1].by
    return (by if isinstance(by, str) else by.decode()).split("\0")[:2]


def test_no_word_of_an_encrypted_value_is_in_redis() -> None:
    value, codec = {"card": {"number": "4111"}}, EncryptedCodec(JsonCodec(), {"k": b"k" * 32}, queue="orders")
    secret = ["limit card.number", "rate mails, card.number"]
    assert labels(codec.encode(value), value, "card.number") == secret
    assert labels(codec.encode(value), value, lambda found: found["card"]["number"]) == ["limit key", "rate mails, key"]
    plain = [f"{each}=4111" for each in secret]
    assert labels(JsonCodec().encode(value), value, "card.number") == plain


@pytest.mark.parametrize("key", ["\ud800", "a\0b", "x" * 900_000, "\x1b[31m\n", "KEYS[1]", "\U0001f600" * 200])
def test_any_text_may_be_a_key(key: str) -> None:
    for label in labels(b"data", json.dumps({"of": key}), "of"):
        assert len(label.encode()) <= 480
        assert label.partition("=")[2][:3] == key[:3].replace("\0", " ").replace("\ud800", "?")


def test_an_error_about_a_key_has_nothing_of_the_value() -> None:
    admission = declared(print, "orders", limit=Limit(1, by="card")).admission
    assert admission is not None
    with pytest.raises(BadKey, match="not dict") as raised:
        admission.words_of({"card": {"number": "4111"}}, None)
    assert "4111" not in str(raised.value)
