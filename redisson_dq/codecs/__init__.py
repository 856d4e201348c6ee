"""Redisson's codecs, under Redisson's names."""

from redisson_dq.codecs.base import Codec
from redisson_dq.codecs.json_jackson import JsonJacksonCodec
from redisson_dq.codecs.kryo5 import Kryo5Codec
from redisson_dq.codecs.simple import ByteArrayCodec, DoubleCodec, IntegerCodec, LongCodec, StringCodec

__all__ = [
    "ByteArrayCodec",
    "Codec",
    "DoubleCodec",
    "IntegerCodec",
    "JsonJacksonCodec",
    "Kryo5Codec",
    "LongCodec",
    "StringCodec",
]
