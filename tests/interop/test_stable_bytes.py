"""Python writes a value that it read from Java to the same bytes. So a lookup by value finds it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

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


@pytest.mark.parametrize("name", CODECS)
def test_what_java_wrote_is_written_to_the_same_bytes(peers: Callable[[str], JavaPeer], name: str) -> None:
    peer, codec = peers(VERSIONS[0]), CODECS[name]
    same: set[str] = set()
    other: set[str] = set()
    for sample in [*peer.call("samples"), *peer.call("more_samples")]:
        if sample.startswith(("changed/", "message/")):
            continue
        try:
            data = bytes.fromhex(peer.call("encode_sample", codec=name, name=sample))
            if not peer.call("check_sample", codec=name, name=sample, hex=data.hex())["equal"]:
                continue
        except PeerError:
            continue  # Java does not write it, or does not read it back
        try:
            value = codec.decode(data)
            written = codec.encode(value)
        except (DecodeError, EncodeError):
            continue  # an error is no other bytes
        # A constant has no mark of its own: other tests may have read the same one from other bytes.
        assert isinstance(value, (bool, Enum)) or other_bytes(value, codec) == "", sample
        (same if written == data else other).add(sample)
    print(name, len(same), sorted(other))
    assert len(same) > 300
    assert other == set()


@pytest.mark.parametrize("name", READERS)
def test_python_reads_wrappers_and_tables_of_what_has_no_hash(peers: Callable[[str], JavaPeer], name: str) -> None:
    peer, codec = peers(VERSIONS[0]), READERS[name]
    written: dict[str, bytes] = {}
    for sample in peer.call("more_samples"):
        if not sample.startswith(("views/", "equal/", "hashes/", "fields/")):
            continue
        try:
            data = bytes.fromhex(peer.call("encode_sample", codec=name, name=sample))
            if not peer.call("check_sample", codec=name, name=sample, hex=data.hex())["class"]:
                continue
        except PeerError:
            continue  # Java does not write it, or does not read it back
        written[sample] = codec.encode(codec.decode(data))
    assert len(written) > 150
    answers = recoded(peer, name, [*written.values()])
    assert [(sample, answer) for sample, answer in zip(written, answers, strict=True) if "hex" not in answer] == []
