"""The scripts themselves: ids after a step of the server's clock, all or nothing, envelopes as Python reads them."""

from __future__ import annotations

import struct
import threading
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import EnvelopeError
from redisson_dq.scripts.script import load
from redisson_dq.wire.envelope import Envelope, unwrap, wrap
from tests.integration.conftest import KEYS


def run(admin: Any, name: str, *args: Any, source: str | None = None) -> Any:
    script = load(name)
    keys = [getattr(KEYS, key) for key in script.keys]
    last = ["process"] if script.notes else []
    return admin.eval(source or script.source, len(keys), *keys, *args, *last)


def delays(seconds: float, count: int) -> bytes:
    """The word of ``offer_all.lua`` for so many values with the same delay."""
    return struct.pack(f"<{count}d", *[seconds] * count)


@pytest.mark.parametrize("envelope", list(Envelope))
@pytest.mark.parametrize("count", [1, 1000])
def test_ids_grow_from_value_to_value(admin: Any, envelope: Envelope, count: int) -> None:
    values = [f"v{i}" for i in range(count)]
    assert run(admin, "offer_all", envelope.value, delays(100.0, count), *values)[3][0] == count
    members = admin.zrange(KEYS.timeout, 0, -1)
    assert members == admin.lrange(KEYS.envelopes, 0, -1)
    assert [unwrap(member)[1] for member in members] == [f"v{i}".encode() for i in range(count)]
    assert len({unwrap(member)[0] for member in members}) == count


def test_equal_values_stay_apart_when_the_clock_stands_still(admin: Any) -> None:
    """As after a step back of the server's clock, when times and ids are repeated: in the last microsecond before the
    upper half of an id grows, with more values than the lower half has room for.
    """
    frozen = load("offer_all").source.replace("redis.call('TIME')", "{'1700000000', '114687'}")
    assert frozen != load("offer_all").source
    for _ in range(5):
        run(admin, "offer_all", "current", delays(1.0, 1000), *[b"same"] * 1000, source=frozen)
    members = admin.zrange(KEYS.timeout, 0, -1)
    assert len(members) == 5000
    assert members == admin.lrange(KEYS.envelopes, 0, -1)
    assert len({unwrap(member)[0][:4] for member in members}) == 2


def test_an_offer_is_all_or_nothing(admin: Any) -> None:
    with pytest.raises(redis.ResponseError, match="data string too short"):
        run(admin, "offer_all", "current", delays(1.0, 1), b"a", b"b")
    assert admin.keys() == []


def _framed(prefix: bytes, length: int, value: bytes) -> bytes:
    return prefix + length.to_bytes(8, "little") + value


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    member=st.one_of(
        st.binary(max_size=40),
        st.builds(
            lambda n, v: b"\x08" + b"i" * 8 + n.to_bytes(8, "little") + v, st.integers(0, 9), st.binary(max_size=8)
        ),
        st.builds(
            lambda head, n, v: head + b"dentity" + n.to_bytes(8, "little") + v,
            st.sampled_from([b"\x08", b"\x09", b"\x0a"]),
            st.integers(0, 9),
            st.one_of(st.binary(max_size=8), st.sampled_from([b"\0", b"\0\0", b"\0\0\0"])),
        ),
        st.builds(
            lambda n, v: b"\x09" + b"i" * 8 + b"\0" + n.to_bytes(8, "little") + v,
            st.integers(0, 9),
            st.binary(max_size=8),
        ),
        st.builds(
            lambda n, v: b"\x0a" + b"i" * 10 + n.to_bytes(8, "little") + v, st.integers(0, 9), st.binary(max_size=8)
        ),
    )
)
def test_lua_and_python_read_the_same_envelopes(server: EmbeddedServer, admin: Any, member: bytes) -> None:
    admin.flushall()
    admin.zadd(KEYS.timeout, {member: 5})
    run(admin, "transfer", 10, 1000, "me", "one", 1, "deliver", "")
    try:
        _, value = unwrap(member)
    except EnvelopeError:
        assert admin.lrange(KEYS.quarantine, 0, -1) == [b"5 " + member]
    else:
        assert admin.lrange(KEYS.ready, 0, -1) == [value]


@pytest.mark.parametrize(("first", "value"), [(b"\x08", b"\0"), (b"\x09", b"\0\0")])
def test_shapes_that_fit_both_formats_are_read_as_the_current_one(admin: Any, first: bytes, value: bytes) -> None:
    member = wrap(Envelope.LEGACY, first + b"dentity", value)
    admin.zadd(KEYS.timeout, {member: 5})
    run(admin, "transfer", 10, 1000, "me", "one", 1, "deliver", "")
    assert admin.lrange(KEYS.ready, 0, -1) == [unwrap(member)[1]] == [b""]


def test_a_transfer_of_several_clients_at_once_moves_each_item_once(admin: Any) -> None:
    for first in (0, 1000):
        run(admin, "offer_all", "current", delays(0.0, 1000), *[f"v{i:04}" for i in range(first, first + 1000)])
    workers = [
        threading.Thread(
            target=lambda: [run(admin, "transfer", 37, 1000, "me", "one", 1, "deliver", "") for _ in range(30)]
        )
        for _ in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert admin.lrange(KEYS.ready, 0, -1) == [f"v{i:04}".encode() for i in range(2000)]
    assert admin.keys() == [KEYS.ready.encode()]


@pytest.mark.parametrize("name", ["offer", "transfer", "receive", "ack"])
def test_a_server_with_longs_of_four_bytes_is_refused_before_anything_is_done(admin: Any, name: str) -> None:
    """As a 32-bit Redis packs them."""
    admin.zadd(KEYS.timeout, {b"\x0812345678\x05\0\0\0value": 5})
    before = admin.dump(KEYS.timeout)
    shim = "local struct = {pack = function(form, ...) return ('\\0'):rep(4) end, unpack = error}\n"
    keys = [getattr(KEYS, key, "dead") for key in load(name).keys]
    with pytest.raises(redis.ResponseError, match="LONGSIZE the longs of this server have 4 bytes"):
        admin.eval(shim + load(name).source, len(keys), *keys, *["1"] * 7)
    assert admin.keys() == [KEYS.timeout.encode()]
    assert admin.dump(KEYS.timeout) == before
