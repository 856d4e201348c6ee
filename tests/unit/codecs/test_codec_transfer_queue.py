"""A LinkedTransferQueue, in the bytes that Redisson 4 writes of one."""

from __future__ import annotations

from typing import Annotated, Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    ProtobufCodec,
    SerializationCodec,
)
from redisson_dq.errors import EncodeError
from redisson_dq.java import java_class

NAME = "6a6176612e7574696c2e636f6e63757272656e742e4c696e6b65645472616e736665725175657565"
BYTES = [
    (Kryo5Codec(), f"0100{NAME[:-2]}e58203008261"),
    (SerializationCodec(), f"aced000573720028{NAME}d345336e1f5c3e9a0300007870740001617078"),
    (JsonJacksonCodec(), f"5b22{NAME}222c5b2261225d5d"),
    (MsgPackJacksonCodec(), f"92d928{NAME}91a161"),
]


@pytest.mark.parametrize(("codec", "data"), BYTES, ids=[codec.name for codec, _ in BYTES])
def test_it_is_read_and_written_as_java_does(codec: Codec, data: str) -> None:
    read = codec.decode(bytes.fromhex(data))
    assert type(read) is java.LinkedTransferQueue
    assert read == ["a"]
    assert codec.encode(read).hex() == data
    assert codec.encode(java.LinkedTransferQueue(["a"])).hex() == data
    with pytest.raises(EncodeError):
        codec.encode(java.LinkedTransferQueue([None]))


@java_class("com.acme.transfer.Hands")
@attrs.define
class Hands:
    q: java.LinkedTransferQueue[str] | None = None
    o: Any = None
    t: Annotated[Any, java.JavaType("java.util.concurrent.TransferQueue<java.lang.String>")] = None


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Hands(q=java.LinkedTransferQueue(["a", "b"])), "0a01610a0162"),
        (Hands(o=java.LinkedTransferQueue(["a"])), f"13ca0128{NAME}0b4a01610c14"),
    ],
)
def test_protobuf_has_it_in_a_field_of_its_class_or_of_any(value: Hands, data: str) -> None:
    codec = ProtobufCodec(Hands)
    assert codec.encode(value).hex() == data
    read = codec.decode(bytes.fromhex(data))
    assert read == value
    assert type(read.q if read.q is not None else read.o) is java.LinkedTransferQueue


def test_protobuf_refuses_a_field_whose_class_java_cannot_make() -> None:
    with pytest.raises(EncodeError, match="TransferQueue"):
        ProtobufCodec(Hands).encode(Hands(t=java.LinkedTransferQueue(["a"])))
