"""The declared type of a field holds for the bytes of every codec, whatever class they name.

The bytes of a field that is declared as anything get the name of a class whose field is declared otherwise.
"""

from __future__ import annotations

import enum
from decimal import Decimal
from itertools import product
from typing import Annotated, Any, ClassVar

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MarshallingCodec,
    MsgPackJacksonCodec,
    ProtobufCodec,
    SerializationCodec,
    SmileJacksonCodec,
    TypedJsonJackson3Codec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import JavaType, java_class


@java_class("com.acme.fits.B", serial_version_uid=1)
@attrs.define
class B:
    n: int = 0


@java_class("com.acme.fits.SubB", serial_version_uid=1)
@attrs.define
class SubB(B):
    m: int = 0


@java_class("com.acme.fits.Admin", serial_version_uid=1)
@attrs.define
class Admin:
    n: int = 0


@java_class("com.acme.fits.Color")
class Color(enum.Enum):
    RED = 1


#: By name: a type, and the values below that fit.
TYPES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "texts": (list[str], ("list of text",)),
    "tags": (set[str], ("set of text",)),
    "counts": (dict[str, int], ("map to int",)),
    "bs": (list[B], ("list of B", "list of SubB")),
    "colors": (list[Color], ("list of Color",)),
    "b": (B, ("B", "SubB")),
    "maybe": (B | None, ("B", "SubB")),
    "nested": (dict[str, list[B]], ("map to list of B",)),
    "text": (str, ("text",)),
    "flag": (bool, ("bool",)),
    "int": (int, ("int",)),
    "long": (java.Long, ("Long",)),
    "double": (float, ("float",)),
    "money": (Decimal, ("Decimal",)),
    "color": (Color, ("Color",)),
    "array": (java.IntArray, ("int[]",)),
    "number": (Annotated[Any, JavaType("java.lang.Number")], ("int", "Long", "float", "Decimal")),
    "characters": (Annotated[Any, JavaType("java.lang.CharSequence")], ("text",)),
    "comparable": (
        Annotated[Any, JavaType("java.lang.Comparable")],
        ("text", "int", "Long", "float", "bool", "Decimal", "Color"),
    ),
    "numbers": (Annotated[Any, JavaType("java.util.List<java.lang.Number>")], ("list of int",)),
    "anything": (Any, ()),
}
VALUES: dict[str, Any] = {
    "text": "abc",
    "int": 7,
    "Long": java.Long(7),
    "float": 1.5,
    "bool": True,
    "Decimal": Decimal("1.5"),
    "Color": Color.RED,
    "B": B(2),
    "SubB": SubB(1, 2),
    "Admin": Admin(3),
    "int[]": java.IntArray([1]),
    "list of text": ["q"],
    "list of int": [7],
    "list of B": [B(1)],
    "list of SubB": [SubB(1, 2)],
    "list of Admin": [Admin(1)],
    "list of B and Admin": [B(1), Admin(1)],
    "list of Color": [Color.RED],
    "set of text": {"q"},
    "set of int": {5},
    "map to int": {"a": 1},
    "map to text": {"a": "b"},
    "map to Admin": {"a": Admin(1)},
    "map to list of B": {"a": [B(1)]},
    "map to list of Admin": {"a": [Admin(1)]},
}
CODECS: tuple[Codec, ...] = (
    *(JsonJacksonCodec(), JsonJackson3Codec(), MsgPackJacksonCodec(), CborJacksonCodec(), SmileJacksonCodec()),
    *(IonJacksonCodec(), Kryo5Codec(), SerializationCodec(), MarshallingCodec()),
)
#: In Java these numbers and texts are read as the declared type as well, or the bytes do not tell them from it.
ALSO = {
    *((codec.name, field, value) for codec in CODECS[:6] for field, value in (("int", "Long"), ("long", "int"))),
    *((codec.name, "double", value) for codec in CODECS[:6] for value in ("int", "Long", "Decimal")),
    *((codec.name, "money", value) for codec in CODECS[:6] for value in ("int", "Long", "float")),
    # A class that does not say what it implements may implement these interfaces.
    *product({codec.name for codec in CODECS}, ("characters", "comparable"), ("Color", "B", "SubB", "Admin")),
}


def holder(name: str, declared: Any) -> Any:
    made = attrs.make_class("Holder", {"f": attrs.field(type=declared, default=None)})
    return java_class(f"com.acme.fits.{name}", serial_version_uid=1)(made)


DECLARED = {name: holder(f"Own_{name}", declared) for name, (declared, _) in TYPES.items()}
FREE = {name: holder(f"Any_{name}", Any) for name in TYPES}


@pytest.mark.parametrize("codec", CODECS, ids=repr)
@pytest.mark.parametrize("name", TYPES)
def test_a_field_holds_its_declared_type_alone(codec: Codec, name: str) -> None:
    fitting = TYPES[name][1] or tuple(VALUES)
    tried = 0
    for kind, value in VALUES.items():
        own = DECLARED[name](value) if kind in fitting else None
        if own is not None:
            assert codec.decode(codec.encode(own)) == own
        data = codec.encode(FREE[name](value)).replace(b"Any_", b"Own_")
        if name != "anything" and kind not in fitting and (codec.name, name, kind) not in ALSO:
            try:
                read = codec.decode(data)
            except DecodeError:
                tried += 1
                continue
            # Kryo names no class before the value of a final one, so its bytes may be another value of that class.
            assert codec.name == "Kryo5Codec", (kind, read)
            assert type(read.f) in (str, bool, int, java.Long, float, java.IntArray, Color, type(None))
    assert tried > 10 or name == "anything"


@pytest.mark.parametrize("name", [name for name in TYPES if name != "anything"])
@pytest.mark.parametrize("kind", [TypedJsonJacksonCodec, TypedJsonJackson3Codec])
def test_a_typed_codec_holds_its_type(kind: Any, name: str) -> None:
    codec = kind(DECLARED[name])
    forms = {
        "text": '"abc"',
        "object": '{"x":1}',
        "list": '["abc"]',
        "list of objects": '[{"x":[1]}]',
        "number": "[[7]]",
    }
    own = {"texts": "list", "tags": "list", "bs": "list of objects"}
    own.update(dict.fromkeys(("text", "characters", "comparable"), "text"))
    for form, text in forms.items():
        if form == own.get(name) or (form == "object" and name in ("counts", "b", "maybe")):
            continue
        with pytest.raises(DecodeError):
            codec.decode(f'{{"f":{text}}}'.encode())


def test_what_a_class_implements_makes_it_fit() -> None:
    @java_class("com.acme.fits.Shape")
    @attrs.define
    class Shape:
        pass

    @java_class("com.acme.fits.Circle", implements=["com.acme.fits.Round"])
    @attrs.define
    class Circle(Shape):
        r: int = 1

    @java_class("com.acme.fits.Drawing")
    @attrs.define
    class Drawing:
        shapes: list[Shape] = attrs.Factory(list)

    for codec in (JsonJacksonCodec(), Kryo5Codec()):
        drawing = Drawing([Circle(2), Shape()])
        assert codec.decode(codec.encode(drawing)) == drawing
        with pytest.raises((DecodeError, EncodeError)):
            codec.decode(codec.encode(Drawing([Admin(1)])))  # type: ignore[list-item]


@java_class("com.acme.fits.Leaving", serial_version_uid=1)
@attrs.define
class Leaving:
    """Its ``__init__`` raises what ``leaves`` says."""

    n: int = 0
    leaves: ClassVar[type[BaseException] | None] = None

    def __attrs_post_init__(self) -> None:
        if Leaving.leaves is not None:
            raise Leaving.leaves(3)


@pytest.mark.parametrize(
    "codec", [*CODECS, Kryo5Codec(references=True), ProtobufCodec(Leaving), TypedJsonJacksonCodec(Leaving)], ids=repr
)
def test_a_class_that_exits_ends_no_process(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    data = codec.encode(Leaving(5))
    monkeypatch.setattr(Leaving, "leaves", SystemExit)
    with pytest.raises(DecodeError, match="SystemExit") as caught:
        codec.decode(data)
    assert caught.value.data == data
    # A Ctrl-C during the call is not the value's.
    monkeypatch.setattr(Leaving, "leaves", KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        codec.decode(data)
