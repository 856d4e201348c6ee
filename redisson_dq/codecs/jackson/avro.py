"""Avro: a schema read from its JSON, and the bytes of nodes by it, as jackson-dataformat-avro writes them.

The bytes name no types: both sides must have the same schema. As in Jackson, a logical type is read as its underlying
type, except that a ``decimal`` is a BigDecimal. A property that the node lacks is written as null. Defaults are not
used. A property that the schema lacks is refused. A map's entries are in the order of Java's HashMap.

No library fits. Jackson has its own rule for which type of a union a value takes. The libraries turn logical types into
dates, let a few bytes announce any number of nulls, and overflow the stack on deeply nested records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from redisson_dq._common.texts import shown
from redisson_dq.codecs.faults import shorten
from redisson_dq.codecs.jackson import binary
from redisson_dq.codecs.jackson.avro_scalars import PRIMITIVES, DecimalType, Type, enum, fixed
from redisson_dq.codecs.jackson.avro_types import ArrayType, MapType, RecordType, UnionType
from redisson_dq.errors import ArgumentError

__all__ = ["Avro"]

_MAX_PRECISION = 1000


class Avro:
    """The format of one schema. ``schema`` is its JSON text, or the result of ``json.loads`` for that text. Raises
    ArgumentError when it is no Avro schema, and for arrays whose elements take no bytes.
    """

    def __init__(self, schema: str | Mapping[str, Any] | list[Any]) -> None:
        try:
            self._type = _SchemaParser().root(json.loads(schema) if isinstance(schema, str) else schema)
        except json.JSONDecodeError as error:
            raise ArgumentError(f"the Avro schema is not JSON: {error}") from error
        except RecursionError as error:
            raise ArgumentError("the Avro schema is nested too deep, or a record always holds itself") from error

    def dumps(self, node: Any) -> bytes:
        """The bytes of a node. Raises Unencodable when it does not fit the schema. O(size)."""
        out = bytearray()
        self._type.write(node, out)
        return bytes(out)

    def loads(self, data: bytes) -> Any:
        """The node of the bytes. Raises Malformed. O(size)."""
        return binary.read_whole(self._type.read, data)


class _SchemaParser:
    """Makes types from a schema. It knows the names that the schema has defined so far."""

    def __init__(self) -> None:
        self._named: dict[str, Type] = {}
        self._arrays: list[ArrayType] = []

    def root(self, schema: Any) -> Type:
        found = self._type(schema, "")
        if not all(array.items.takes_bytes() for array in self._arrays):
            raise ArgumentError("an Avro array whose elements take no bytes: few bytes could announce any number")
        return found

    def _type(self, schema: Any, namespace: str) -> Type:
        if isinstance(schema, str):
            found = PRIMITIVES.get(schema) or self._named.get(_full_name(schema, namespace)) or self._named.get(schema)
            if found is None:
                raise ArgumentError(f"the Avro schema names a type it does not have: {shorten(schema, 200)}")
            return found
        if isinstance(schema, (list, tuple)):
            return UnionType([self._type(of_one, namespace) for of_one in schema])
        kind = _part(schema, "type", str)
        if kind in ("record", "error"):
            return self._record(schema, namespace)
        if kind in ("enum", "fixed"):
            found = _enum(schema) if kind == "enum" else _fixed(schema)
            self._register(schema, namespace, found)
            return found
        if kind == "array":
            self._arrays.append(ArrayType(self._type(_part(schema, "items", object), namespace)))
            return self._arrays[-1]
        if kind == "map":
            return MapType(self._type(_part(schema, "values", object), namespace))
        found = self._type(kind, namespace)
        return _logical(schema, found, None) if kind == "bytes" else found

    def _record(self, schema: Mapping[str, Any], namespace: str) -> Type:
        record = RecordType()
        name = self._register(schema, namespace, record)
        for field in _part(schema, "fields", list):
            record.fields[_part(field, "name", str)] = self._type(_part(field, "type", object), name.rpartition(".")[0])
        return record

    def _register(self, schema: Mapping[str, Any], namespace: str, found: Type) -> str:
        """Note a type under its name, and return the name."""
        if "namespace" in schema:
            namespace = _part(schema, "namespace", str)
        name = _full_name(_part(schema, "name", str), namespace)
        if name in PRIMITIVES or name in self._named:
            raise ArgumentError(f"the Avro schema defines {shorten(name, 200)} twice")
        self._named[name] = found
        return name


def _full_name(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _enum(schema: Mapping[str, Any]) -> Type:
    symbols = _part(schema, "symbols", list)
    if not all(isinstance(symbol, str) for symbol in symbols):
        raise ArgumentError("the symbols of an Avro enum are texts")
    return enum(symbols)


def _fixed(schema: Mapping[str, Any]) -> Type:
    size = _part(schema, "size", int)
    if size < 0:
        raise ArgumentError(f"an Avro fixed of {size} bytes")
    return _logical(schema, fixed(size), size)


def _logical(schema: Mapping[str, Any], below: Type, size: int | None) -> Type:
    if schema.get("logicalType") != "decimal":
        return below
    precision, scale = _part(schema, "precision", int), schema.get("scale", 0)
    if not isinstance(scale, int) or not 0 <= scale <= precision <= _MAX_PRECISION:
        raise ArgumentError(f"an Avro decimal has 0 <= scale <= precision <= {_MAX_PRECISION}")
    return DecimalType(below, precision, scale, size)


def _part(schema: Any, name: str, kind: type) -> Any:
    if not isinstance(schema, Mapping) or name not in schema or not isinstance(schema[name], kind):
        raise ArgumentError(f"no Avro schema (its {name!r} is missing or wrong): {shown(schema)}")
    return schema[name]
