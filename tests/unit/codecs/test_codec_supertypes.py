"""What a declared class says that it extends and implements: which places take it, and with which type arguments."""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from typing import Annotated, Any, Generic, TypeVar

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    Codec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    SerializationCodec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import java_class
from redisson_dq.java.conversions import Misfit
from redisson_dq.java.places import place_named
from redisson_dq.java.registry import declaration_for

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


@java_class("com.acme.sup.Bare")
@attrs.define
class Bare:
    pass


@java_class("com.acme.sup.Round", implements=["com.acme.sup.Shape", "java.util.concurrent.Delayed"])
@attrs.define
class Round:
    pass


@java_class("com.acme.sup.Flat", implements=["com.acme.sup.Plane", ...])
@attrs.define
class Flat:
    pass


@java_class("com.acme.sup.OfBare", implements=[])
@attrs.define
class OfBare(Bare):
    pass


@java_class("com.acme.sup.Amount", implements=["java.lang.Number"], serial_version_uid=1)
@attrs.define
class Amount:
    pass


@java_class("com.acme.sup.Sign", implements=["com.acme.sup.Shape"])
class Sign(Enum):
    PLUS = 1


@java_class("com.acme.sup.Point", record=True, implements=[])
@attrs.frozen
class Point:
    pass


#: By type: what may be there of one object of each class.
FACES: dict[str, set[type]] = {
    "com.acme.sup.Shape": {Bare, Round, Flat, OfBare, Sign},
    "com.acme.sup.Plane": {Bare, Flat, OfBare},
    "java.lang.Comparable": {Bare, Round, Flat, OfBare, Sign},
    "java.io.Serializable": {Bare, Flat, OfBare, Amount, Sign},
    "java.lang.Number": {Amount},
    "java.lang.Record": {Point},
    "java.lang.Enum": {Sign},
    "java.util.Random": {Bare, Flat, OfBare},
    "java.util.List": set(),
}


def test_a_place_takes_what_says_that_it_implements_it_and_what_does_not_say() -> None:
    for name, kinds in FACES.items():
        place = place_named(name)
        assert place is not None
        found = set()
        for kind in (Bare, Round, Flat, OfBare, Amount, Sign, Point):
            made: Any = kind
            value = Sign.PLUS if kind is Sign else made()
            with suppress(Misfit):
                assert place(value, {}) is value
                found.add(kind)
        assert found == kinds, name
    with pytest.raises(Misfit, match=r"a com.acme.sup.Plane: java_class does not say that it implements that"):
        place_named("com.acme.sup.Plane")(Round(), {})  # type: ignore[misc]


@java_class("com.acme.sup.Two")
@attrs.define
class Two:
    a: Annotated[Any, java.JavaType("com.acme.sup.Shape")]
    b: Annotated[Any, java.JavaType("com.acme.sup.Plane")]


def test_kryo_fields_that_java_has_renamed_are_seen_by_what_their_interfaces_are() -> None:
    data = Kryo5Codec().encode(Two(Round(), Flat()))
    assert Kryo5Codec().decode(data) == Two(Round(), Flat())
    swapped = data.replace(b"Roun\xe4", b"FLAT").replace(b"Fla\xf4", b"Roun\xe4").replace(b"FLAT", b"Fla\xf4")
    with pytest.raises(DecodeError, match=r"Round where com.acme.sup.Plane is declared.*out of date"):
        Kryo5Codec().decode(swapped)


def test_an_object_without_its_class() -> None:
    data = b'{"@class":"com.acme.sup.Named","value":{"x":1}}'
    with pytest.raises(DecodeError, match=r"without @class where java.lang.Object is declared: Java could not .*lack"):
        JsonJacksonCodec().decode(data)
    with pytest.raises(DecodeError, match=r"an object without @class \(Java could not read it either\)"):
        JsonJacksonCodec().decode(b"{}")
    # Java knows the types of the fields of its exceptions.
    late = b'{"@class":"com.acme.Late","@id":1,"localizedMessage":"a","message":"a","order":{"x":1},"stackTrace":[]}'
    with pytest.raises(DecodeError, match="the type of that field of an exception is not known here") as caught:
        JsonJacksonCodec().decode(late)
    assert "Java could not" not in str(caught.value)
    generic = JsonJacksonCodec(unknown="generic")
    assert b'"order":{"x":1}' in generic.encode(generic.decode(late))


@pytest.mark.parametrize(
    ("codec", "data", "words"),
    [
        (JsonJacksonCodec(), b'["java.util.HashSet",["x"]]', "set where java.util.List is declared"),
        (JsonJacksonCodec(), b'["java.util.ArrayList",["x"]]', ""),
        (JsonJacksonCodec(), b'["java.util.Collections$SingletonList",["x"]]', ""),
        (JsonJacksonCodec(), b'{"@class":"java.util.HashMap","a":1}', "HashMap where java.util.List is declared"),
        (JsonJacksonCodec(), b'{"@class":"com.acme.sup.Tagging","tags":null}', "Tagging where java.util.List is decl"),
        (JsonJackson3Codec(), b'["java.util.TreeSet",["x"]]', "TreeSet where java.util.List is declared"),
        (IonJacksonCodec(), b"'java.util.HashSet'::[\"x\"]", "set where java.util.List is declared"),
    ],
)
def test_a_class_that_jackson_names_is_one_of_the_declared_type(codec: Codec, data: bytes, words: str) -> None:
    """Java refuses another one."""
    head = b"'com.acme.sup.Tagging'::{tags:" if data.startswith(b"'") else b'{"@class":"com.acme.sup.Tagging","tags":'
    if not words:
        assert codec.decode(head + data + b"}").tags == ["x"]
        return
    with pytest.raises(DecodeError, match=f"{words}.*in the field tags of com.acme.sup.Tagging: .*out of date"):
        codec.decode(head + data + b"}")


def test_an_object_is_of_the_class_that_is_declared() -> None:
    data = b'{"@class":"com.acme.sup.Tagging","next":{"@class":"com.acme.sup.%s"}}'
    assert JsonJacksonCodec().decode(data % b"More").next == More()
    with pytest.raises(DecodeError, match=r"Other where com.acme.sup.Tagging is declared, in the field next"):
        JsonJacksonCodec().decode(data % b"Other")


@java_class("com.acme.sup.Tagging", implements=[])
@attrs.define
class Tagging:
    tags: list[str] | None = None
    next: Tagging | None = None


@java_class("com.acme.sup.More", implements=[])
@attrs.define
class More(Tagging):
    pass


@java_class("com.acme.sup.Other", implements=[])
@attrs.define
class Other:
    pass


def test_serialization_describes_number_as_the_superclass() -> None:
    """As Java does: the bytes are those of an object with a ``Number`` above it."""
    codec = SerializationCodec()
    data = codec.encode(Amount())
    number = codec.encode(java.Long(5)).partition(b"xr")[2][:-8]  # the description of Long's superclass, and no value
    own = b"sr\x00\x13com.acme.sup.Amount" + (1).to_bytes(8, "big") + b"\x02\x00\x00xr"
    assert data == b"\xac\xed\x00\x05" + own + number
    assert codec.encode(codec.decode(data)) == data


def test_what_implements_takes() -> None:
    found = declaration_for(Named)
    assert found is not None
    assert [interface.source for interface in found.interfaces] == ["com.acme.sup.Source<java.lang.Object>"]
    with pytest.raises(ArgumentError, match="implements must be a list of Java types"):
        java_class("com.acme.sup.Text", implements="com.acme.sup.Source<T>")
    with pytest.raises(ArgumentError, match="is not a Java type"):
        java_class("com.acme.sup.Bad", implements=["com.acme.sup.Source<"])
