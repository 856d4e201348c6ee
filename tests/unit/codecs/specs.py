"""The library's codec for each spec of the Java peer: a codec's name, or an object with its name and options."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

from redisson_dq import codecs
from redisson_dq.codecs import (
    AvroJacksonCodec,
    Codec,
    CompositeCodec,
    JsonJacksonCodec,
    Kryo5Codec,
    ProtobufCodec,
    StringCodec,
    TypedJsonJacksonCodec,
)
from redisson_dq.java import JavaType
from tests.proto import shipment_pb2

__all__ = ["codec_of"]


def codec_of(spec: Any, redisson: str) -> Codec:
    """The counterpart of a Redisson's codec; interop/README.md lists the specs. Raises KeyError for another."""
    name = spec if isinstance(spec, str) else spec["name"]
    versioned: dict[str, Any] = (
        {"redisson": redisson} if "redisson" in inspect.signature(getattr(codecs, name)).parameters else {}
    )
    if isinstance(spec, str):
        plain: Codec = getattr(codecs, spec)(**versioned)
        return plain
    if name == "JsonJacksonCodec":
        return JsonJacksonCodec(java_time="numbers", redisson=redisson)
    if name == "ProtobufCodec":
        message = getattr(shipment_pb2, spec["class"].rpartition(".")[2], None)
        return ProtobufCodec(_type(spec) if message is None else message, **versioned)
    if name == "Kryo5Codec":
        return Kryo5Codec(spec.get("allowedClasses", ()), spec.get("references", False), redisson=redisson)
    if name == "TypedJsonJacksonCodec":
        times: dict[str, Any] = {"java_time": "numbers"} if spec.get("modules") else {}
        typed: Codec = TypedJsonJacksonCodec(_type(spec), redisson=redisson, **times)
        return typed
    if name == "AvroJacksonCodec":
        return AvroJacksonCodec(_type(spec), spec["schema"], redisson=redisson)
    if name == "CompositeCodec":
        return CompositeCodec(*(codec_of(spec[part], redisson) for part in ("mapKey", "mapValue", "value")))
    if name == "StringCodec":
        return StringCodec(spec["charset"])
    compressing: Codec = getattr(codecs, name)(codec_of(spec["inner"], redisson))
    return compressing


def _type(spec: Any) -> Any:
    """The annotation of a class, or of a type with its arguments."""
    return Annotated[Any, JavaType((spec.get("type") or spec["class"]).replace("[B", "byte[]"))]
