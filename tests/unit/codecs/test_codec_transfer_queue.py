"""A LinkedTransferQueue, in the bytes that Redisson 4.3.1 writes of one."""

from __future__ import annotations

import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec, MsgPackJacksonCodec, SerializationCodec
from redisson_dq.errors import EncodeError

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
