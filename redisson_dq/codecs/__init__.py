"""Redisson's codecs, under Redisson's names."""

from redisson_dq.codecs.base import Codec
from redisson_dq.codecs.composite import CompositeCodec
from redisson_dq.codecs.compression import LZ4Codec, LZ4CodecV2, SnappyCodec, SnappyCodecV2, ZStdCodec
from redisson_dq.codecs.jackson.codecs import (
    AvroJacksonCodec,
    CborJackson3Codec,
    CborJacksonCodec,
    IonJacksonCodec,
    MsgPackJacksonCodec,
    SmileJackson3Codec,
    SmileJacksonCodec,
)
from redisson_dq.codecs.json_jackson import JsonJacksonCodec
from redisson_dq.codecs.json_jackson3 import JsonJackson3Codec, TypedJsonJackson3Codec
from redisson_dq.codecs.kryo5 import Kryo5Codec
from redisson_dq.codecs.protobuf import ProtobufCodec
from redisson_dq.codecs.serialization import SerializationCodec
from redisson_dq.codecs.simple import ByteArrayCodec, DoubleCodec, IntegerCodec, LongCodec, StringCodec
from redisson_dq.codecs.typed_json import TypedJsonJacksonCodec
from redisson_dq.codecs.unsupported import ForyCodec, FstCodec, FuryCodec, KryoCodec, MarshallingCodec

__all__ = [
    "AvroJacksonCodec",
    "ByteArrayCodec",
    "CborJackson3Codec",
    "CborJacksonCodec",
    "Codec",
    "CompositeCodec",
    "DoubleCodec",
    "ForyCodec",
    "FstCodec",
    "FuryCodec",
    "IntegerCodec",
    "IonJacksonCodec",
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
