"""Both envelope formats, byte by byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisson_dq.errors import EnvelopeError
from redisson_dq.wire.envelope import Envelope, Quarantined, unwrap, wrap

ID = bytes(range(1, 9))

# Written by Redisson: 4 and 3.20.0, StringCodec, the value "hi".
CURRENT = bytes.fromhex("08") + ID + bytes.fromhex("0200000000000000") + b"hi"
LEGACY = bytes.fromhex("f0babc3a8a6ee03f") + bytes.fromhex("0200000000000000") + b"hi"
LEAN = bytes.fromhex("09") + ID + b"\0" + bytes.fromhex("0200000000000000") + b"hi"

#: The first byte of the id and the value of the legacy entries that are current ones as well.
BOTH = [(8, b"\0"), (9, b"\0\0")]


def test_both_formats_are_read() -> None:
    assert unwrap(CURRENT) == (ID, b"hi")
    assert unwrap(LEGACY) == (bytes.fromhex("f0babc3a8a6ee03f"), b"hi")


def test_a_lean_entry_is_known_by_an_id_of_nine_bytes() -> None:
    assert wrap(Envelope.CURRENT, ID + b"\0", b"hi") == LEAN
    assert unwrap(LEAN) == (ID + b"\0", b"hi")


def test_both_formats_are_written() -> None:
    assert wrap(Envelope.CURRENT, ID, b"hi") == CURRENT
    assert wrap(Envelope.LEGACY, LEGACY[:8], b"hi") == LEGACY


@given(st.sampled_from(Envelope), st.binary(min_size=8, max_size=8), st.booleans(), st.binary(max_size=300))
def test_what_was_wrapped_is_unwrapped(envelope: Envelope, entry_id: bytes, lean: bool, value: bytes) -> None:
    if lean and envelope is Envelope.CURRENT:
        entry_id += b"\0"
    member = wrap(envelope, entry_id, value)
    if envelope is Envelope.LEGACY and (entry_id[0], value) in BOTH:
        assert unwrap(member)[1] == b"", "a shape that fits both formats is read as the current one"
    else:
        assert unwrap(member) == (entry_id, value)


@pytest.mark.parametrize(("first", "value"), BOTH)
def test_two_shapes_fit_both_formats(first: int, value: bytes) -> None:
    """And no longer ones: the length of a value would have to agree at two places."""
    member = wrap(Envelope.LEGACY, bytes([first]) + ID[1:], value)
    assert unwrap(member) == (member[1 : 1 + first], b"")
    for size in (*range(10), 255, 256, 257, 65534, 65535, 65536, 65537, 65538, 131074):
        for fill in (b"\0", b"\x01", b"\xff"):
            if (first, fill * size) not in BOTH:
                legacy = bytes([first]) + ID[1:]
                assert unwrap(wrap(Envelope.LEGACY, legacy, fill * size)) == (legacy, fill * size)


@pytest.mark.parametrize("whole", [CURRENT, LEGACY, LEAN])
def test_every_truncation_is_refused_with_its_bytes(whole: bytes) -> None:
    for length in range(len(whole)):
        with pytest.raises(EnvelopeError) as caught:
            unwrap(whole[:length])
        assert caught.value.member == whole[:length]


@pytest.mark.parametrize("tail", [b"x", b"\0" * 8])
def test_trailing_bytes_are_refused(tail: bytes) -> None:
    with pytest.raises(EnvelopeError):
        unwrap(CURRENT + tail)


def test_a_length_beyond_what_is_there_is_refused() -> None:
    with pytest.raises(EnvelopeError):
        unwrap(b"\x08" + ID + b"\xff" * 8 + b"hi")


def test_a_quarantined_element_keeps_score_and_bytes() -> None:
    kept = Quarantined.parse(b"1700000000000 \x00 raw")
    assert (kept.score, kept.member) == (1_700_000_000_000, b"\x00 raw")
    assert kept.due is not None
    assert kept.due.isoformat() == "2023-11-14T22:13:20+00:00"
    assert Quarantined.parse(b" raw") == Quarantined(score=None, member=b"raw")
    assert Quarantined.parse(b"inf x").due is None


def test_what_something_else_put_into_the_quarantine_hides_nothing() -> None:
    assert Quarantined.parse(b"no score") == Quarantined(score=None, member=b"no score")
