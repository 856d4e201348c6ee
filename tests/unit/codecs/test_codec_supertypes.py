"""Type arguments that a declared class does not get from where it stands, because its declaration does not say how."""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import JsonJacksonCodec, TypedJsonJacksonCodec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import java_class
from redisson_dq.java.declare import declaration_for

T = TypeVar("T")
U = TypeVar("U")


@java_class("com.acme.sup.Spot", record=True)
@attrs.frozen
class Spot:
    x: int


@java_class("com.acme.sup.Silent")
@attrs.define
class Silent(Generic[T]):
    value: T | None = None


@java_class("com.acme.sup.Named", implements=["com.acme.sup.Source<T>"])
@attrs.define
class Named(Generic[T]):
    value: T | None = None


@java_class("com.acme.sup.Above", implements=["com.acme.sup.Both<U, java.util.List<T>>"])
@attrs.define
class Above(Generic[T, U]):
    first: T | None = None
    second: U | None = None


@java_class("com.acme.sup.Below")
@attrs.define
class Below(Above[T, str], Generic[T]):
    third: T | None = None


@java_class("com.acme.sup.User")
@attrs.define
class User:
    source: Annotated[Any, java.JavaType("com.acme.sup.Source<com.acme.sup.Spot>")] = None
    open: Annotated[Any, java.JavaType("com.acme.sup.Source<?>")] = None
    both: Annotated[Any, java.JavaType("com.acme.sup.Both<java.lang.String, java.util.List<com.acme.sup.Spot>>")] = None


def test_an_interface_gives_them() -> None:
    value = User(source=Named(Spot(1)))
    data = JsonJacksonCodec().encode(value)
    assert data == b'{"@class":"com.acme.sup.User","source":{"@class":"com.acme.sup.Named","value":{"x":1}}}'
    assert JsonJacksonCodec().decode(data) == value


def test_the_interface_of_a_superclass_gives_them() -> None:
    value = User(both=Below(Spot(1), "a", Spot(2)))
    data = JsonJacksonCodec().encode(value)
    assert data == (
        b'{"@class":"com.acme.sup.User","both":{"@class":"com.acme.sup.Below",'
        b'"first":{"x":1},"second":"a","third":{"x":2}}}'
    )
    assert JsonJacksonCodec().decode(data) == value


def test_a_class_that_does_not_say_what_it_implements() -> None:
    with pytest.raises(
        EncodeError, match=r"a com.acme.sup.Silent where com.acme.sup.Source<com.acme.sup.Spot> is decl"
    ):
        JsonJacksonCodec().encode(User(source=Silent(Spot(1))))
    data = b'{"@class":"com.acme.sup.User","source":{"@class":"com.acme.sup.Silent","value":{"x":1}}}'
    with pytest.raises(DecodeError, match=r"java_class does not say what the class implements; .*generate-classes"):
        JsonJacksonCodec().decode(data)


def test_where_nothing_depends_on_them() -> None:
    value = User(open=Silent(Spot(1)))
    assert JsonJacksonCodec().decode(JsonJacksonCodec().encode(value)) == value
    assert TypedJsonJacksonCodec(User).encode(User(source=Silent(Spot(1)))) == b'{"source":{"value":{"x":1}}}'


def test_an_object_without_its_class() -> None:
    data = b'{"@class":"com.acme.sup.Named","value":{"x":1}}'
    with pytest.raises(DecodeError, match=r"without @class where java.lang.Object is declared: Java could not .*lack"):
        JsonJacksonCodec().decode(data)
    with pytest.raises(DecodeError, match=r"an object without @class \(Java could not read it either\)"):
        JsonJacksonCodec().decode(b"{}")


def test_what_implements_takes() -> None:
    found = declaration_for(Named)
    assert found is not None
    assert [interface.source for interface in found.interfaces] == ["com.acme.sup.Source<java.lang.Object>"]
    with pytest.raises(ArgumentError, match="implements is a list of Java types"):
        java_class("com.acme.sup.Text", implements="com.acme.sup.Source<T>")
    with pytest.raises(ArgumentError, match="is no Java type"):
        java_class("com.acme.sup.Bad", implements=["com.acme.sup.Source<"])
