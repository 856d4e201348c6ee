"""Which of the values that were seen are let past the limit of a busy handler, decided without a server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from redisson_dq.codecs import EncryptedCodec, JsonCodec
from redisson_dq.wire.leases import Leased
from redisson_dq.working.admission import AdmitArguments, Admitting
from redisson_dq.working.handlers import declared
from redisson_dq.working.keys import BadKey
from redisson_dq.working.limits import Limit, Rate


def leased(data: bytes, number: int) -> Leased:
    return Leased(data=data, key="orders", id=bytes([number]), deadline_ms=0, now_us=0, read_us=0, text=b"")


def read(found: list[bytes]) -> tuple[list[Any], Exception | None]:
    return [each.decode() for each in found], None


def test_values_of_two_looks_at_a_time_are_let_past_each() -> None:
    """One fetcher follows the other, and both look for a moment."""
    admitting = Admitting(lambda handler: True)
    handlers = [declared(print, "orders", rate=Rate(1))]
    first = admitting.words("orders", handlers, [b"a"], read, None)
    second = admitting.words("orders", handlers, [b"b"], read, None)
    admitting.leased([leased(b"a", 1)], first.passed)
    admitting.leased([leased(b"b", 2)], second.passed)
    assert [admitting.admits(id) for id in ("01", "02", "03")] == [False, False, True]
    # Each is asked for once.
    assert admitting.admits("01")


class Reads:
    """Reads values, and notes which."""

    def __init__(self) -> None:
        self.read: list[bytes] = []

    def __call__(self, found: list[bytes]) -> tuple[list[Any], Exception | None]:
        self.read += found
        return ([], ValueError("bad")) if b"unreadable" in found else read(found)


def test_a_value_that_the_last_look_has_seen_is_not_read_again() -> None:
    admitting, reads = Admitting(lambda handler: False), Reads()
    handlers = [declared(print, "orders", limit=Limit(1, by=lambda value: value[0]), key=lambda value: value[0])]

    def look(*seen: bytes, key: str = "orders") -> AdmitArguments:
        reads.read = []
        return admitting.words(key, handlers, seen, reads, None)

    first = look(b"a1", b"b1", b"a2")
    assert reads.read == [b"a1", b"b1", b"a2"]
    second = look(b"b1", b"a2", b"c1")
    assert reads.read == [b"c1"]
    # The number of a limit is that of the look.
    assert [each.limit for each in first.seen] == [2, 3, 2]
    assert [each.limit for each in second.seen] == [2, 3, 4]
    assert second.limits[2] == first.limits[1]
    assert [each.key for each in second.seen[:2]] == [each.key for each in first.seen[1:]]
    # Only the last look is remembered, and each list has its own.
    look(b"b1", key="others")
    assert reads.read == [b"b1"]
    look(b"a1", b"b1")
    assert reads.read == [b"a1"]
    # Other handlers may have other keys.
    handlers = [declared(print, "orders", key=lambda value: value[1])]
    look(b"a1", b"b1")
    assert reads.read == [b"a1", b"b1"]


@pytest.mark.parametrize(
    ("data", "options"),
    [
        pytest.param(b"unreadable", {"limit": Limit(1)}, id="unreadable"),
        pytest.param(b"keyless", {"limit": Limit(1, by="customer")}, id="keyless"),
        pytest.param(b"chosen", {"limit": Limit(1), "when": lambda value: True}, id="when"),
    ],
)
def test_a_value_whose_answer_may_change_is_read_again(data: bytes, options: dict[str, Any]) -> None:
    admitting, reads = Admitting(lambda handler: False), Reads()
    handlers = [declared(print, "orders", **options)]
    for _ in range(2):
        admitting.words("orders", handlers, [data], reads, None)
    assert reads.read == [data] * 2


def labels(data: bytes, value: Any, by: Any) -> list[str]:
    """What a value would wait for, as Redis is told."""
    handlers = [declared(print, "orders", limit=Limit(1, by=by), rate=Rate(1, by=by, name="mails"))]
    found = Admitting(lambda handler: False).words("orders", handlers, [data], lambda _: ([value], None), None)
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
