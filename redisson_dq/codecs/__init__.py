"""Redisson's codecs, under Redisson's names.

A codec is imported on first use. Each one has its own readers and writers of Java's types, in a module or a folder.
A rule that every JVM follows, whatever the bytes are, belongs in ``redisson_dq.java``.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redisson_dq.codecs.base import Codec
    from redisson_dq.codecs.composite import CompositeCodec
    from redisson_dq.codecs.compression import LZ4Codec, LZ4CodecV2, SnappyCodec, SnappyCodecV2, ZStdCodec
    from redisson_dq.codecs.encrypted import EncryptedCodec
    from redisson_dq.codecs.jackson.codecs import (
        AvroJacksonCodec,
        CborJackson3Codec,
        CborJacksonCodec,
        IonJacksonCodec,
        MsgPackJacksonCodec,
        SmileJackson3Codec,
        SmileJacksonCodec,
    )
    from redisson_dq.codecs.jackson.json_jackson import JsonJacksonCodec
    from redisson_dq.codecs.jackson.json_jackson3 import JsonJackson3Codec, TypedJsonJackson3Codec
    from redisson_dq.codecs.jackson.typed_json import TypedJsonJacksonCodec
    from redisson_dq.codecs.kryo5 import Kryo5Codec
    from redisson_dq.codecs.marshalling import MarshallingCodec
    from redisson_dq.codecs.plain_json import JsonCodec
    from redisson_dq.codecs.protobuf import ProtobufCodec
    from redisson_dq.codecs.serialization import SerializationCodec
    from redisson_dq.codecs.simple import ByteArrayCodec, DoubleCodec, IntegerCodec, LongCodec, StringCodec
    from redisson_dq.codecs.unsupported import ForyCodec, FstCodec, FuryCodec, KryoCodec
else:
    from redisson_dq._common.lazy import lazily

    __getattr__, __dir__ = lazily(
        __name__,
        {
            "base": ("Codec",),
            "composite": ("CompositeCodec",),
            "compression": (
                "LZ4Codec",
                "LZ4CodecV2",
                "SnappyCodec",
                "SnappyCodecV2",
                "ZStdCodec",
            ),
            "encrypted": ("EncryptedCodec",),
            "jackson.codecs": (
                "AvroJacksonCodec",
                "CborJackson3Codec",
                "CborJacksonCodec",
                "IonJacksonCodec",
                "MsgPackJacksonCodec",
                "SmileJackson3Codec",
                "SmileJacksonCodec",
            ),
            "jackson.json_jackson": ("JsonJacksonCodec",),
            "jackson.json_jackson3": (
                "JsonJackson3Codec",
                "TypedJsonJackson3Codec",
            ),
            "jackson.typed_json": ("TypedJsonJacksonCodec",),
            "kryo5": ("Kryo5Codec",),
            "marshalling": ("MarshallingCodec",),
            "plain_json": ("JsonCodec",),
            "protobuf": ("ProtobufCodec",),
            "serialization": ("SerializationCodec",),
            "simple": (
                "ByteArrayCodec",
                "DoubleCodec",
                "IntegerCodec",
                "LongCodec",
                "StringCodec",
            ),
            "unsupported": (
                "ForyCodec",
                "FstCodec",
                "FuryCodec",
                "KryoCodec",
            ),
        },
    )

__all__ = [
    "AvroJacksonCodec",
    "ByteArrayCodec",
    "CborJackson3Codec",
    "CborJacksonCodec",
    "Codec",
    "CompositeCodec",
    "DoubleCodec",
    "EncryptedCodec",
    "ForyCodec",
    "FstCodec",
    "FuryCodec",
    "IntegerCodec",
    "IonJacksonCodec",
    "JsonCodec",
    "JsonJackson3Codec",
    "JsonJacksonCodec",
    "Kryo5Codec",
    "KryoCodec",
    "LZ4Codec",
    "LZ4CodecV2",
    "LongCodec",
    "MarshallingCodec",
    "MsgPackJacksonCodec",
    "ProtobufCodec",
    "SerializationCodec",
    "SmileJackson3Codec",
    "SmileJacksonCodec",
    "SnappyCodec",
    "SnappyCodecV2",
    "StringCodec",
    "TypedJsonJackson3Codec",
    "TypedJsonJacksonCodec",
    "ZStdCodec",
]
