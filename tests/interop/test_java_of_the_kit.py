"""Java's side without Java, beside a live Redisson: the same keys, scores, bytes and messages, and the same reading."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    IonJacksonCodec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    SerializationCodec,
    SmileJacksonCodec,
    StringCodec,
)
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.testing import java as kit
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.interop.sides import HOUR, server_ms
from tests.unit.codecs.golden_rows import UNORDERED, same
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.test_codec_vectors import ROWS, codec_of, is_written_otherwise
from tests.versions import NEWEST, OLDEST

VALUES = ("order-42", "", "Auftr\u00e4ge", "same", "same")
CODINGS: dict[str, Codec] = {
    codec.name: codec
    for codec in (
        Kryo5Codec(),
        StringCodec(),
        JsonJacksonCodec(),
        SerializationCodec(),
        MsgPackJacksonCodec(),
        CborJacksonCodec(),
        SmileJacksonCodec(),
        IonJacksonCodec(),
    )
}
_BY_DAY = [
    (NEWEST, "", "Kryo5Codec"),
    (NEWEST, "shop:", "StringCodec"),
    (OLDEST, "", "Kryo5Codec"),
    (OLDEST, "", "JsonJacksonCodec"),
]
_KINDS_BY_DAY = [(NEWEST, "Kryo5Codec"), (OLDEST, "JsonJacksonCodec")]
_KINDS = sorted({(row.redisson, row.codec) for row in ROWS if row.redisson in (NEWEST, OLDEST)})
_CASES = [(version, prefix, name) for version in (NEWEST, OLDEST) for prefix in ("", "shop:") for name in CODINGS]


@pytest.mark.parametrize(
    ("version", "prefix", "coding"),
    [case if case in _BY_DAY else pytest.param(*case, marks=pytest.mark.nightly) for case in _CASES],
)
@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_an_offer_of_the_kit_is_one_of_redisson(
    redis7: EmbeddedServer,
    look: Any,
    flavour: Flavour,
    java: OpenJava,
    queue: str,
    version: str,
    prefix: str,
    coding: str,
) -> None:
    codec = CODINGS[coding]
    live = java(redis7.url, version=version, codec=coding, prefix=prefix)
    head = 9 if version == NEWEST else 8
    messages = look.pubsub()
    with flavour.connect(redis7.url, codec=codec, name_mapper=prefix or None) as client:
        delayed, ready = client.delayed_queue(queue, transfer=False), client.blocking_queue(queue)
        keys = delayed.keys
        messages.subscribe(keys.channel)
        assert messages.get_message(timeout=PATIENCE)["type"] == "subscribe"

        def offered(offer: Any) -> tuple[Any, ...]:
            before = server_ms(look)
            for number, value in enumerate(VALUES):
                # Each but the last is the new head, and is told of.
                offer(value, HOUR - min(number, 3) * 60)
            entries = look.lrange(keys.envelopes, 0, -1)
            scores = dict(look.zrange(keys.timeout, 0, -1, withscores=True))
            told = [messages.get_message(timeout=PATIENCE)["data"] for _ in VALUES[:4]]
            assert told == [b"%d" % scores[entry] for entry in entries[:4]]
            due = [round((scores[entry] - before) / 60_000) for entry in entries]
            is_number = [head == 9 or struct.unpack("<d", entry[:8])[0].is_integer() for entry in entries]
            return [entry[:1] for entry in entries if head == 9], [entry[head:] for entry in entries], due, is_number

        theirs = offered(lambda value, delay: live.offer(value, int(delay * 1000)))
        assert kit.reads(delayed, version=version) == live.delayed("read_all") == list(VALUES)
        assert live.delayed("poll_limit", limit=9) == list(VALUES)
        # The last two are equal, and either may be the head. So a fifth message may be there.
        while messages.get_message(timeout=0.1) is not None:
            pass
        ours = offered(lambda value, delay: kit.offered_by(version, delayed, value, delay))
        assert ours == theirs
        assert kit.reads(delayed, version=version) == live.delayed("read_all") == list(VALUES)
        assert live.delayed("poll_limit", limit=9) == list(VALUES)

        kit.offered_by(version, delayed, "due", 0)
        live.call("open_delayed")
        eventually(lambda: ready.size() == 1)
        assert kit.reads(ready, version=version) == live.ready("read_all") == ["due"]
        assert live.call("take") == "due"
    messages.close()


@pytest.mark.parametrize(
    ("version", "coding"),
    [case if case in _KINDS_BY_DAY else pytest.param(*case, marks=pytest.mark.nightly) for case in _KINDS],
)
@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_values_of_every_class_are_offered_and_read_as_by_redisson(
    redis7: EmbeddedServer, look: Any, flavour: Flavour, java: OpenJava, queue: str, version: str, coding: str
) -> None:
    """Generic fields, enums, decimals, maps of numbers, times, the ends of numbers, fields of null, and all others."""
    codec, head = codec_of(coding, version), 17 if version == NEWEST else 16
    # Java's order of hashes is its own.
    wanted = [
        row
        for row in ROWS
        if (row.codec, row.redisson) == (coding, version)
        and row.deterministic
        and not (is_written_otherwise(row) or isinstance(SAMPLES[row.name], UNORDERED))
    ]
    assert len(wanted) > 150
    live = java(redis7.url, version=version, codec=coding)
    with flavour.connect(redis7.url, codec=codec) as client:
        delayed, ready = client.delayed_queue(queue, transfer=False), client.blocking_queue(queue, transfer=False)
        for row in wanted:
            kit.offered_by(version, delayed, SAMPLES[row.name], HOUR)
        entries = look.lrange(delayed.keys.envelopes, 0, -1)
        assert [entry[head:] for entry in entries] == [row.data for row in wanted]
        assert len(live.delayed("read_all")) == len(wanted)
        # Redisson takes them, and Python reads those that it puts elsewhere.
        for row, value in zip(wanted, kit.reads(delayed, version=version), strict=True):
            assert same(value, SAMPLES[row.name]), row.name
        look.rpush(delayed.keys.ready, *(entry[head:] for entry in entries))
        assert len(live.ready("read_all")) == len(kit.reads(ready)) == len(wanted)
