"""What is said about codecs that have no counterpart, and about bytes that another codec has written."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, LongCodec, StringCodec, unsupported
from redisson_dq.codecs.unsupported import hint, looks_like
from redisson_dq.errors import ArgumentError, DecodeError
from tests.unit.codecs.golden_rows import caught_from
from tests.vector_files import FOLDER

#: What the bytes of a codec may look like, besides nothing in particular.
RIGHT = {
    "CborJackson3Codec": {"CborJacksonCodec"},
    "CompositeCodec": {"JsonJacksonCodec", "text"},  # its value codec writes JSON
    "DoubleCodec": {"text"},
    "FuryCodec": {"ForyCodec"},
    "IntegerCodec": {"text"},
    "IonJacksonCodec": {"IonJacksonCodec", "text"},
    "JsonJackson3Codec": {"JsonJacksonCodec", "text"},
    "JsonJacksonCodec": {"JsonJacksonCodec", "text"},
    "JsonJacksonCodec+KotlinModule": {"JsonJacksonCodec", "text"},
    "KryoCodec": {"Kryo5Codec"},
    "LongCodec": {"text"},
    "ProtobufCodec": {"JsonJacksonCodec", "text"},  # JSON where a class is no message
    "SmileJackson3Codec": {"SmileJacksonCodec"},
    "StringCodec": {"JsonJacksonCodec", "text"},
    "TypedJsonJacksonCodec": {"JsonJacksonCodec", "text"},
    "TypedJsonJacksonCodec+KotlinModule": {"JsonJacksonCodec", "text"},
}


def golden() -> Iterator[tuple[str, bytes]]:
    """The codec and the bytes of all that Java has written."""
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            if "hex" in row and "codec" in row:
                yield row["codec"], bytes.fromhex(row["hex"])


GOLDEN = sorted(set(golden()))


def test_nothing_wrong_is_said_about_what_java_writes() -> None:
    wrong = [
        (codec, look, data)
        for codec, data in GOLDEN
        if (look := looks_like(data)) is not None and look not in RIGHT.get(codec, {codec})
    ]
    assert wrong == []
    assert len(GOLDEN) > 4000


@pytest.mark.parametrize("codec", sorted({codec for codec, _ in GOLDEN} - {"CompositeCodec", "FuryCodec", "KryoCodec"}))
def test_no_codec_is_told_that_its_bytes_are_its_own(codec: str) -> None:
    own = RIGHT.get(codec, {codec})
    assert {hint(codec, data) for name, data in GOLDEN if name == codec and looks_like(data) in own} <= {""}


# Written by Redisson 3.50.0 and 4.
@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("aced0005737200116a6176612e6c616e672e496e7465676572", "SerializationCodec"),
        ("043e0c68656c6c6f2c20776f726c64", "MarshallingCodec"),
        ("00ff153068656c6c6f2c20776f726c64", "ForyCodec"),  # of Fory 1
        ("00ff0101", "ForyCodec"),
        ("044b00000001", "MarshallingCodec"),
        ("0450", "MarshallingCodec"),
        ("f701", "FstCodec"),
        ("f781ffffff7f", "FstCodec"),
        ("f682ffffffffffffff7f", "FstCodec"),
        ("00093d0ad7a370fd3340", "FstCodec"),
        ("044d0061", "MarshallingCodec"),
        ("043e07e697a5e69cace8aa9e20e282ac20d096", "MarshallingCodec"),
        ("044205210001ff7f80", "MarshallingCodec"),
        ("04cdcc8c3f", None),  # a Float of Kryo5
        ("043e0041c2", None),
        ("0442012061", None),
        ("044f4033fd70a3d70a3d", "MarshallingCodec"),
        ("0453035a3e01613e01623e0163", "MarshallingCodec"),
        ("0404383e0e6a6176612e7574696c2e44617465686a81014b597419000000001632080000018df4d8085335", "MarshallingCodec"),
        ("04040c0000000e636f6d2e61636d652e436f6c6f7200000005475245454e", "MarshallingCodec"),
        ("fc0c68656c6c6f2c20776f726c64", "FstCodec"),
        ("fb24050001ff7f80", "FstCodec"),
        ("001003fc0161fc0162fc0163", "FstCodec"),
        ("fa010e636f6d2e61636d652e436f6c6f7201", "FstCodec"),
        ("00010e6a6176612e7574696c2e555549448200401714664256a482d3429be867453e1200", "FstCodec"),
        ("02ff2c3068656c6c6f2c20776f726c64", "ForyCodec"),
        ("02ff4203042c046104620463", "ForyCodec"),
        ("d4620601ff0c0461", "ForyCodec"),
        ("d46206011100000000000000ff0d000161", "ForyCodec"),
        ("3a290a0121", "SmileJacksonCodec"),
        ("0000000128b52ffd005808000000010000", "ZStdCodec"),
        ("01006a6176612e7574696c2e41727261794c6973f4040202", "Kryo5Codec"),
        ("01005bc204010203", "Kryo5Codec"),
        ("0368656c6c6f2c20776f726ce4", "Kryo5Codec"),
        ("68656c6c6f2c20776f726c64", "text"),
        ("e697a5e69cace8aa9e20e282ac20d096", "text"),
        ("0401", None),
        ("02ff2402", "ForyCodec"),
        ("02ffffff", None),  # a Kryo5 int that is cut off
        ("04cdcc8c", None),
        ("6568656c6c6f", None),  # CBOR's "hello"
        ("", None),
    ],
)
def test_what_bytes_look_like(data: str, name: str | None) -> None:
    assert looks_like(bytes.fromhex(data)) == name


def test_the_most_of_what_the_removed_codecs_write_is_known() -> None:
    for codec, least in (("MarshallingCodec", 0.85), ("FstCodec", 0.6), ("FuryCodec", 0.8), ("ForyCodec", 0.8)):
        looks = [looks_like(data) is not None for name, data in GOLDEN if name == codec]
        assert sum(looks) >= least * len(looks)


@pytest.mark.parametrize(
    ("codec", "data", "text"),
    [
        (
            Kryo5Codec(),
            "00010e6a6176612e7574696c2e55554944020100",
            "bytes look like those of Java's FstCodec. FstCodec has",
        ),
        (
            Kryo5Codec(),
            "0453035a3e01613e01623e0163",
            "bytes look like those of MarshallingCodec: give the queue the same codec",
        ),
        (JsonJacksonCodec(), "02ff2c0461", "bytes look like those of Java's ForyCodec. ForyCodec has no counterpart"),
        (
            StringCodec(),
            "aced000574000161",
            r"; the bytes look like those of SerializationCodec: give the queue the same",
        ),
        (JsonJacksonCodec(), "01006a6176612e7574696c2e41727261794c6973f40402020c", "look like those of Kryo5Codec"),
        (
            Kryo5Codec(),
            "7b2240636c617373223a226a6176612e7574696c2e486173684d6170227d",
            "like those of JsonJacksonCodec",
        ),
        (Kryo5Codec(), "68656c6c6f", r"; the bytes look like text, which StringCodec\(\) or one of"),
    ],
)
def test_the_error_says_what_the_bytes_look_like(codec: Kryo5Codec, data: str, text: str) -> None:
    raw = bytes.fromhex(data)
    with pytest.raises(DecodeError, match=text) as caught:
        codec.decode(raw)
    assert (caught.value.codec, caught.value.data) == (codec.name, raw)


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        (Kryo5Codec(), b"\x01\x00com.acme.Nobod\xf9\x01"),
        (Kryo5Codec(), b"\x02\xff\xff"),
        (JsonJacksonCodec(), b'{"@class":"com.acme.Nobody","id":5}'),
        (JsonJacksonCodec(), b'["java.util.ArrayList",[1,'),
        (LongCodec(), b"hello"),
        (StringCodec("utf-16"), b"abc"),
        (Kryo5Codec(), b""),
    ],
)
def test_there_is_no_advice_where_there_is_nothing_to_advise(codec: Kryo5Codec, data: bytes) -> None:
    error = caught_from(lambda: codec.decode(data))
    assert isinstance(error, DecodeError)
    assert "look like" not in str(error)


@pytest.mark.parametrize("name", ["FstCodec", "ForyCodec", "FuryCodec", "KryoCodec"])
@pytest.mark.parametrize("arguments", [(), ("com.acme.Order",)])
def test_a_codec_without_a_counterpart_says_what_to_do(name: str, arguments: tuple[str, ...]) -> None:
    with pytest.raises(ArgumentError, match=rf"^{name} has no counterpart in Python. .* Kryo5Codec\(\), the default"):
        getattr(unsupported, name)(*arguments)
