"""The facts that java_class derives from a Python class, and its refusals."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

import attrs
import pytest

from redisson_dq import java
from redisson_dq.errors import ArgumentError
from redisson_dq.java import JavaType, Long, java_class
from redisson_dq.java.declaration import Declaration, Field
from redisson_dq.java.registry import declaration_for, declaration_of
from redisson_dq.java.signatures import Signature

T = TypeVar("T")


@java_class("org.sample.Customer")
@attrs.define
class Customer:
    name: str
    order: Order | None = None


@java_class("org.sample.Order", serial_version_uid=7)
@attrs.define
class Order:
    id: Long
    sku: str
    price: float
    tags: list[str]
    customer: Customer | None
    class_: int = 0


@java_class("org.sample.Order$Vip", final=True)
@attrs.define
class Vip(Customer):
    level: java.short = 0


@java_class("org.sample.Box")
@attrs.define
class Box(Generic[T]):
    value: T


@java_class("org.sample.StringBox")
@attrs.define
class StringBox(Box[str]):
    boxes: list[Box[Long]]


@java_class("org.sample.Crate")
@attrs.define
class Crate(Generic[T]):
    contents: Annotated[list[T], JavaType("java.util.ArrayList")]
    source: Annotated[Any, JavaType("org.sample.Source<T, java.util.List<T>>")]
    maybe: Annotated[list[int] | None, JavaType("java.util.Queue")]
    either: Annotated[list[int] | set[str], JavaType("java.util.Deque")]
    texts: Annotated[list[str], JavaType("java.lang.Iterable<java.lang.CharSequence>")]


@java_class("org.sample.StringCrate")
@attrs.define
class StringCrate(Crate[Annotated[str, JavaType("java.lang.CharSequence")]]):
    pass


@java_class("org.sample.Color")
class Color(enum.Enum):
    RED = "r"
    None_ = "n"


@java_class("org.sample.Point", record=True)
@dataclasses.dataclass(frozen=True)
class Point:
    x: java.int
    y: java.int = 0
    length: float = dataclasses.field(init=False, default=0.0, compare=False)


def declared(python: type) -> Declaration:
    found = declaration_for(python)
    assert found is not None
    return found


def types_of(python: type) -> dict[str, str]:
    return {field.name: field.type.name for field in declared(python).fields}


def test_fields_stand_in_the_order_of_the_class_with_their_java_names_and_types() -> None:
    order = declared(Order)
    assert order.name == "org.sample.Order"
    assert order.serial_version_uid == 7
    assert order.kind == "class"
    assert not order.final
    assert order.fields == (
        Field("id", "id", Signature("java.lang.Long")),
        Field("sku", "sku", Signature("java.lang.String")),
        Field("price", "price", Signature("double")),
        Field("tags", "tags", Signature("java.util.List", (Signature("java.lang.String"),))),
        Field("customer", "customer", Signature("org.sample.Customer")),
        Field("class", "class_", Signature("int")),
    )
    assert declaration_of("org.sample.Order") is order
    assert declaration_of("org.sample.Nothing") is None


def test_a_declared_base_class_is_the_superclass() -> None:
    vip = declared(Vip)
    assert vip.superclass is declared(Customer)
    assert vip.superclass_type == Signature("org.sample.Customer")
    assert [field.name for field in vip.fields] == ["level"]
    assert [field.name for field in vip.all_fields] == ["name", "order", "level"]
    assert vip.final
    assert declared(Customer).superclass is None
    assert declared(Customer).superclass_type is None


def test_type_variables_erase_and_keep_their_names() -> None:
    assert declared(Box).parameters == ("T",)
    assert declared(Box).fields[0].type == Signature("java.lang.Object", variable="T")
    assert declared(StringBox).superclass_type == Signature("org.sample.Box", (Signature("java.lang.String"),))
    assert declared(StringBox).fields[0].type == Signature(
        "java.util.List", (Signature("org.sample.Box", (Signature("java.lang.Long"),)),)
    )


def test_a_java_type_has_the_arguments_of_the_annotation_unless_it_says_its_own() -> None:
    variable = Signature("java.lang.Object", variable="T")
    assert {field.name: field.type for field in declared(Crate).fields} == {
        "contents": Signature("java.util.ArrayList", (variable,)),
        "source": Signature("org.sample.Source", (variable, Signature("java.util.List", (variable,)))),
        "maybe": Signature("java.util.Queue", (Signature("java.lang.Integer"),)),
        "either": Signature("java.util.Deque"),
        "texts": Signature("java.lang.Iterable", (Signature("java.lang.CharSequence"),)),
    }
    assert declared(StringCrate).superclass_type == Signature(
        "org.sample.Crate", (Signature("java.lang.CharSequence"),)
    )


@pytest.mark.parametrize("word", ["extends", "super"])
def test_a_wildcard_keeps_its_word_and_its_bound(word: str) -> None:
    """Kryo takes only the bound, Jackson the upper bound with its arguments."""
    bound = Signature("java.util.List", (Signature("java.lang.String"),), wildcard=word)
    source = f"? {word} java.util.List<java.lang.String>"
    assert JavaType(f"java.util.Set<{source}>").signature == Signature("java.util.Set", (bound,))


def test_an_enum_has_its_members_by_ordinal() -> None:
    color = declared(Color)
    assert color.kind == "enum"
    assert color.final
    assert color.constants == ("RED", "None")
    assert color.members == (Color.RED, Color.None_)
    assert color.fields == ()
    assert declared(Order).members == ()


@java_class("org.sample.Kinds")
@attrs.define
class Kinds:
    whole: int
    maybe_whole: int | None
    maybe_long: java.long | None
    flag: bool
    maybe_flag: bool | None
    real: float
    maybe_char: java.char | None
    data: bytes
    number: Decimal
    key: UUID
    day: date
    moment: java.Instant
    anything: Any
    either: int | str
    color: Color
    names: java.StringArray
    points: java.Array[Point]
    grid: java.Array[java.IntArray]
    linked: java.LinkedList[str]
    map: dict[Color, list[Order]]
    failure: java.Throwable
    shape: Annotated[Any, JavaType("org.sample.Shape")]
    raw: Annotated[list[Any], JavaType("java.util.Collection<? extends java.lang.Number[]>")]
    hidden: Annotated[int, java.transient] = 0


def test_every_kind_of_annotation_stands_for_a_java_type() -> None:
    assert types_of(Kinds) == {
        "whole": "int",
        "maybe_whole": "java.lang.Integer",
        "maybe_long": "java.lang.Long",
        "flag": "boolean",
        "maybe_flag": "java.lang.Boolean",
        "real": "double",
        "maybe_char": "java.lang.Character",
        "data": "[B",
        "number": "java.math.BigDecimal",
        "key": "java.util.UUID",
        "day": "java.time.LocalDate",
        "moment": "java.time.Instant",
        "anything": "java.lang.Object",
        "either": "java.lang.Object",
        "color": "org.sample.Color",
        "names": "[Ljava.lang.String;",
        "points": "[Lorg.sample.Point;",
        "grid": "[[I",
        "linked": "java.util.LinkedList",
        "map": "java.util.Map",
        "failure": "java.lang.Throwable",
        "shape": "org.sample.Shape",
        "raw": "java.util.Collection",
    }
    by_name = {field.name: field.type for field in declared(Kinds).fields}
    assert by_name["raw"].arguments == (Signature("[Ljava.lang.Number;", wildcard="extends"),)
    assert by_name["map"].arguments == (
        Signature("org.sample.Color"),
        Signature("java.util.List", (Signature("org.sample.Order"),)),
    )


@pytest.mark.parametrize(
    ("source", "name", "arguments"),
    [
        ("int", "int", 0),
        ("byte[]", "[B", 0),
        ("byte[][]", "[[B", 0),
        ("java.util.Map<java.lang.String, java.util.List<?>>", "java.util.Map", 2),
        ("java.util.List<? super java.lang.Integer>", "java.util.List", 1),
        (" com.acme.Outer$Inner [] ", "[Lcom.acme.Outer$Inner;", 0),
        ("com.acme.$AutoValue_Order", "com.acme.$AutoValue_Order", 0),
    ],
)
def test_java_types_are_written_as_in_java_source(source: str, name: str, arguments: int) -> None:
    signature = JavaType(source).signature
    assert (signature.name, len(signature.arguments)) == (name, arguments)


@pytest.mark.parametrize("source", ["", "java.util.List<", "a b", "java.util.List<>", "x>", "1a", "a;b", "[I"])
def test_what_is_no_java_type_is_refused(source: str) -> None:
    with pytest.raises(ArgumentError, match="is not a Java type"):
        JavaType(source)


def test_an_object_is_made_through_its_own_init() -> None:
    point = declared(Point).make({"x": 1, "y": 2, "length": 2.5})
    assert point == Point(1, 2)
    assert point.length == 2.5
    assert declared(Customer).make({"name": "Ann"}) == Customer("Ann", None)


def test_an_object_can_be_referred_to_before_it_is_complete() -> None:
    customer = declared(Customer)
    made = customer.new()
    customer.fill(made, {"name": "Ann", "order": made})
    assert made.order is made


def test_what_init_raises_becomes_a_value_error() -> None:
    @java_class("org.sample.Strict")
    @attrs.define
    class Strict:
        size: int = attrs.field(validator=attrs.validators.ge(0))

    with pytest.raises(ValueError, match="Strict cannot be made: ValueError"):
        declared(Strict).make({"size": -1})
    with pytest.raises(ValueError, match="Strict cannot be made: TypeError"):
        declared(Strict).make({})


@pytest.mark.parametrize(
    ("rename", "expected"),
    [({"customer_id": "owner"}, "owner"), (java.camel_case, "customerId"), (None, "customer_id")],
)
def test_rename_gives_the_java_names(rename: Any, expected: str) -> None:
    @java_class(f"org.sample.Renamed{expected}", rename=rename)
    @attrs.define
    class Renamed:
        customer_id: int

    assert declared(Renamed).fields[0].name == expected


@pytest.mark.parametrize("name", ["", "com.acme.", ".Order", "com acme", "[I", None])
def test_a_name_that_no_class_has_is_refused(name: Any) -> None:
    with pytest.raises(ArgumentError, match="binary name"):
        java_class(name)


@pytest.mark.parametrize("make", [lambda: int, lambda: type("Plain", (), {})])
def test_only_attrs_classes_dataclasses_and_enums_can_be_declared(make: Callable[[], type]) -> None:
    with pytest.raises(ArgumentError, match=r"put it above @attrs\.define"):
        java_class("org.sample.Plain")(make())


def test_two_classes_cannot_stand_for_one_java_class() -> None:
    @attrs.define
    class Other:
        pass

    with pytest.raises(ArgumentError, match=r"org\.sample\.Order is already declared by .*Order"):
        java_class("org.sample.Order")(Other)


def test_an_annotation_that_stands_for_several_or_no_java_types_is_refused_by_name() -> None:
    @java_class("org.sample.Dated")
    @attrs.define
    class Dated:
        when: datetime

    @java_class("org.sample.Odd")
    @attrs.define
    class Odd:
        what: complex

    @java_class("org.sample.Unresolved")
    @attrs.define
    class Unresolved:
        what: Nowhere  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(ArgumentError, match=r"org\.sample\.Dated\.when: datetime may be several"):
        _ = declared(Dated).fields
    with pytest.raises(ArgumentError, match=r"org\.sample\.Odd\.what: .*complex.* has no Java type"):
        _ = declared(Odd).fields
    with pytest.raises(ArgumentError, match="Unresolved cannot be resolved"):
        _ = declared(Unresolved).fields
