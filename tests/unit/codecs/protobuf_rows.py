"""ProtobufCodec's samples: the values, the codec of each, and which of them Java reads back."""

from __future__ import annotations

import importlib
import json
from typing import Annotated, Any

from redisson_dq.codecs import ProtobufCodec
from redisson_dq.java import JavaType
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.vectors import Vector, of_codec

__all__ = ["LOST", "MESSAGES", "READ", "ROWS", "UNTAKEN", "VALUES", "codec_of", "rows_of", "shipment_pb2"]

shipment_pb2: Any = importlib.import_module("tests.proto.shipment_pb2")  # generated, and typed only with more stubs

MESSAGES: dict[str, Any] = {
    "message/empty": shipment_pb2.Shipment(),
    "message/full": shipment_pb2.Shipment(
        id=-5,
        sku="A-1",
        price=19.99,
        tags=["new", "\u20ac"],
        recipient=shipment_pb2.Recipient(name="Ann", city="Springfield"),
        state=shipment_pb2.SENT,
        stock={"a": 1},
        label=b"\x00\xff",
        offset=-300,
        insured=False,
    ),
    "message/nested": shipment_pb2.Recipient(name="Bob"),
}
VALUES = {**SAMPLES, **MESSAGES}

#: What Java's codec does not read back, and the type alone is refused: a whole null, arrays, enums, records, and
#: collections that are not on its list. Java writes something for some of them.
UNTAKEN = {"null/null", "array/byte", "enum/plain", "set/linkedhashset", "map/linked-mixed", "map/tree"}

#: Java reads these as a String, a Double and an object whose Map is no LinkedHashMap; the codec's type determines them.
TOLD = {"char/a", "float/1.1", "object/stock"}

#: Java writes what it cannot read, or reads something else.
LOST = {
    "object/order-immutable-tags": "ImmutableCollections",
    "object/order-aslist-tags": "Arrays$ArrayList",
    "object/order-vip": "an empty collection",
    "object/drawing": "no nulls",
    "object/loose-others": "StringBuilder",
    "object/arrays": "no nulls",
    "object/collected": "no nulls",
    "object/invoice": "Currency",
    "object/reseller": "two fields name",
}


def rows_of(redisson: str | None = None) -> list[Vector]:
    """The samples that the codec takes, of one Redisson or of all."""
    return [
        vector
        for vector in of_codec("ProtobufCodec", redisson=redisson)
        if vector.name not in UNTAKEN and not vector.name.startswith("record/") and vector.name in VALUES
    ]


ROWS = rows_of()
READ = [vector for vector in ROWS if vector.same_back or vector.name in TOLD]


def class_of(vector: Vector) -> str:
    name: str = json.loads(vector.spec)["class"]
    return name


def codec_of(vector: Vector) -> ProtobufCodec:
    if vector.name in MESSAGES:
        return ProtobufCodec(type(MESSAGES[vector.name]))
    return ProtobufCodec(Annotated[Any, JavaType(class_of(vector).replace("[B", "byte[]"))])
