"""Python writes a value that it read from Java to the same bytes. So a lookup by value finds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    SerializationCodec,
    SmileJacksonCodec,
)
from redisson_dq.codecs.marks import other_bytes
from redisson_dq.errors import DecodeError, EncodeError
from tests.interop import changed
from tests.interop.sides import recoded
from tests.peer import VERSIONS, JavaPeer, PeerError
from tests.unit.codecs import test_codec_serialization_golden

CODECS: dict[str, Codec] = {codec.name: codec for codec in (Kryo5Codec(), JsonJacksonCodec(), SerializationCodec())}
READERS: dict[str, Codec] = {
    **CODECS,
    **{
        codec.name: codec
        for codec in (
            *(JsonJackson3Codec(), MsgPackJacksonCodec(), CborJacksonCodec()),
            *(SmileJacksonCodec(), IonJacksonCodec()),
        )
    },
}
# Importing these declares their classes.
assert changed.CHANGED
assert test_codec_serialization_golden.ROWS


def _written_and_read(peer: JavaPeer, codec: str, samples: list[str]) -> list[tuple[str, bytes, Any]]:
    """Of the samples that Java writes and reads back, the bytes and what it said of these."""
    encoded = peer.call_many("encode_sample", [{"name": sample} for sample in samples], codec=codec)
    items = [
        {"name": sample, "hex": data}
        for sample, data in zip(samples, encoded, strict=True)
        if not isinstance(data, PeerError)
    ]
    answers = peer.call_many("check_sample", items, codec=codec)
    return [
        (item["name"], bytes.fromhex(item["hex"]), answer)
        for item, answer in zip(items, answers, strict=True)
        if not isinstance(answer, PeerError)
    ]


@pytest.mark.parametrize("name", CODECS)
def test_what_java_wrote_is_written_to_the_same_bytes(peers: Callable[[str], JavaPeer], name: str) -> None:
    peer, codec = peers(VERSIONS[0]), CODECS[name]
    same: set[str] = set()
    other: set[str] = set()
    samples = [*peer.call("samples"), *peer.call("more_samples")]
    samples = [sample for sample in samples if not sample.startswith(("changed/", "message/"))]
    for sample, data, answer in _written_and_read(peer, name, samples):
        if not answer["equal"]:
            continue
        try:
            value = codec.decode(data)
            written = codec.encode(value)
        except (DecodeError, EncodeError):
            continue  # an error is no other bytes
        assert other_bytes(value) == "", sample
        (same if written == data else other).add(sample)
    print(name, len(same), sorted(other))
    assert len(same) > 300
    assert other == set()


@pytest.mark.parametrize("name", READERS)
def test_python_reads_wrappers_and_tables_of_what_has_no_hash(peers: Callable[[str], JavaPeer], name: str) -> None:
    peer, codec = peers(VERSIONS[0]), READERS[name]
    samples = [
        sample for sample in peer.call("more_samples") if sample.startswith(("views/", "equal/", "hashes/", "fields/"))
    ]
    written = {
        sample: codec.encode(codec.decode(data))
        for sample, data, answer in _written_and_read(peer, name, samples)
        if answer["class"]
    }
    assert len(written) > 150
    answers = recoded(peer, name, [*written.values()])
    assert [(sample, answer) for sample, answer in zip(written, answers, strict=True) if "hex" not in answer] == []
