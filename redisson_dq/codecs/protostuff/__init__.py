"""Protostuff's runtime schema: the bytes of ProtobufCodec for classes that protobuf did not generate.

The fields of a class are numbered in order, those of the superclass first. If the declared class of a field determines
the class of its values, the field has only the value. In a field declared as Object, an interface or a collection of
collections, the type's number or the class's name precedes each value. Nulls are never written.

Protostuff silently loses some values: nulls in lists and arrays, empty lists, subclasses in fields. These are refused
here.
"""

from redisson_dq.codecs.protostuff.reading import value_of
from redisson_dq.codecs.protostuff.scalars import SCALARS
from redisson_dq.codecs.protostuff.types import kind_of
from redisson_dq.codecs.protostuff.writing import bytes_of, name_of

__all__ = ["SCALARS", "bytes_of", "kind_of", "name_of", "value_of"]
