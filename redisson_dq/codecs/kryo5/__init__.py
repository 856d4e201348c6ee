"""Redisson's default codec."""

from redisson_dq.codecs.kryo5.codec import Kryo5Codec

__all__ = ["Kryo5Codec"]
