"""Fields of a type variable in Kryo: one whose bound is a final class, and arrays of arrays of it."""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import Kryo5Codec, SerializationCodec
from redisson_dq.errors import EncodeError
from redisson_dq.java import java_class

T = TypeVar("T")
T_String = TypeVar("T_String", bound=Annotated[Any, java.JavaType("java.lang.String")])
KRYO, SERIALIZATION = Kryo5Codec(), SerializationCodec()


@java_class("com.acme.vars.Cells", serial_version_uid=1)
@attrs.define
class Cells(Generic[T]):
    cells: java.Array[java.Array[T]] | None = None


@java_class("com.acme.vars.Lists", serial_version_uid=1)
@attrs.define
class Lists(Generic[T]):
    list: list[java.Array[T]] | None = None
    map: dict[str, java.Array[T]] | None = None


@java_class("com.acme.vars.Texts", serial_version_uid=1)
@attrs.define
class Texts(Generic[T_String]):
    one: T_String | None = None
    row: java.Array[T_String] | None = None


@java_class("com.acme.vars.Holder", serial_version_uid=1)
@attrs.define
class Holder:
    strings: Cells[str] | None = None
    lists: Lists[str] | None = None
    objects: Cells[Any] | None = None


ROW: Any = java.StringArray(["a"])


def strings(*rows: Any) -> Any:
    return java.Array("[Ljava.lang.String;", [java.StringArray(row) for row in rows])


def test_a_variable_with_a_final_bound_stands_without_its_class() -> None:
    data = KRYO.encode(Texts("a", java.StringArray(["b", None])))
    assert data == b"\x01\x00com.acme.vars.Text\xf3" + b"\x82a" + b"\x03\x82b\x80"
    assert KRYO.decode(data) == Texts("a", java.StringArray(["b", None]))
    assert KRYO.decode(KRYO.encode(Texts())) == Texts()


@pytest.mark.parametrize(
    "value",
    [
        Holder(strings=Cells(strings(["a"], []))),
        Holder(strings=Cells(strings())),
        Holder(lists=Lists(list=[ROW])),
        Holder(lists=Lists(map={"k": ROW})),
    ],
    ids=repr,
)
def test_arrays_that_java_reads_as_something_else_are_refused(value: Holder) -> None:
    with pytest.raises(EncodeError, match=r"an array of java.lang.String, whose declaration names a type variable"):
        KRYO.encode(value)
    assert SERIALIZATION.decode(SERIALIZATION.encode(value)) == value


def test_arrays_that_java_reads_are_written() -> None:
    for value in (
        Cells(strings(["a"], [])),
        Holder(strings=Cells()),
        Holder(objects=Cells(java.Array("[Ljava.lang.Object;", [java.ObjectArray([1, "a"])]))),
        Holder(lists=Lists([], {})),
    ):
        assert KRYO.decode(KRYO.encode(value)) == value
