"""The classes of ``com.acme`` in interop/src/main/java, declared by hand."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

import attrs

from redisson_dq import java
from redisson_dq.java import JavaType, java_class

T = TypeVar("T")
K = TypeVar("K")


@java_class("com.acme.Color")
class Color(enum.Enum):
    RED = 0
    GREEN = 1
    BLUE = 2


@java_class("com.acme.Planet", constant_bodies={"MERCURY": "com.acme.Planet$1", "EARTH": "com.acme.Planet$2"})
class Planet(enum.Enum):
    MERCURY = 3.303e23
    EARTH = 5.976e24
    PLUTO = 1.27e22


Letter: Any = enum.Enum("Letter", [f"L{n:02d}" for n in range(70)], module=__name__)  # type: ignore[misc]
java_class("com.acme.Letter")(Letter)


@java_class("com.acme.Address", serial_version_uid=-4_284_923_451_872_310_233)
@attrs.frozen
class Address:
    street: str
    city: str
    zip: java.int


@java_class("com.acme.Customer", serial_version_uid=1)
@attrs.define
class Customer:
    name: str | None = None
    address: Address | None = None


@java_class("com.acme.VipCustomer", serial_version_uid=2)
@attrs.define
class VipCustomer(Customer):
    level: java.int = 0
    zone: str | None = None
    discount: float | None = None


@java_class("com.acme.Reseller", serial_version_uid=7_307_387_238_315_183_797, rename={"own_name": "name"})
@attrs.define
class Reseller(Customer):
    own_name: str | None = None


@java_class("com.acme.Order", serial_version_uid=2208193040985352831)
@attrs.define
class Order:
    id: java.Long | None = None
    sku: str | None = None
    price: float = 0.0
    tags: list[str] | None = None
    customer: Customer | None = None


@java_class("com.acme.Primitives", serial_version_uid=1)
@dataclass
class Primitives:
    flag: java.boolean = False
    tiny: java.byte = 0
    small: java.short = 0
    letter: java.char = "\0"
    number: java.int = 0
    big: java.long = 0
    ratio: java.float = 0.0
    exact: java.double = 0.0


@java_class("com.acme.Boxed", serial_version_uid=-8792988848717371158)
@attrs.define
class Boxed:
    flag: bool | None = None
    tiny: java.Byte | None = None
    small: java.Short | None = None
    letter: java.Character | None = None
    number: int | None = None
    big: java.Long | None = None
    ratio: java.Float | None = None
    exact: float | None = None
    huge: Annotated[Any, JavaType("java.math.BigInteger")] = None
    amount: Decimal | None = None
    text: str | None = None


@java_class("com.acme.Circle", final=True, serial_version_uid=8254709024105414806)
@attrs.define
class Circle:
    radius: float = 0.0


@java_class("com.acme.Square", serial_version_uid=6744100062328739590)
@attrs.define
class Square:
    side: int = 0


Shape = Annotated[Any, JavaType("com.acme.Shape")]


@java_class("com.acme.Drawing", serial_version_uid=6132757024503495791)
@attrs.define
class Drawing:
    background: Shape = None
    hole: Circle | None = None
    shapes: list[Shape] | None = None
    named: dict[str, Shape] | None = None
    order: Annotated[Any, JavaType("com.acme.Shape[]")] = None


@java_class("com.acme.Box", serial_version_uid=2617934190525136679)
@attrs.define
class Box(Generic[T]):
    content: T | None = None


@java_class("com.acme.StringBox", serial_version_uid=-6735185940295170317)
@attrs.define
class StringBox(Box[str]):
    seals: int = 0


@java_class("com.acme.Shelf", serial_version_uid=3633530394406135621)
@attrs.define
class Shelf:
    label: Box[str] | None = None
    count: Box[int] | None = None
    boxes: list[Box[str]] | None = None
    numbers: Box[list[int]] | None = None


@java_class("com.acme.Crate", serial_version_uid=-6413367150887988102)
@attrs.define
class Crate(Box[T], Generic[T, K]):
    key: K | None = None
    spares: list[T] | None = None


@java_class("com.acme.Dock", serial_version_uid=-5162002949133065228)
@attrs.define
class Dock:
    crate: Crate[str, int] | None = None
    crates: list[Crate[int, str]] | None = None
    box: Box[str] | None = None


@java_class("com.acme.Outer$Inner", serial_version_uid=1)
@attrs.define
class Inner:
    text: str | None = None
    next: Inner | None = None


@java_class("com.acme.Loose", serial_version_uid=-8198261289727598225)
@attrs.define
class Loose:
    any: object = None
    number: Annotated[Any, JavaType("java.lang.Number")] = None
    chars: Annotated[Any, JavaType("java.lang.CharSequence")] = None
    comparable: Annotated[Any, JavaType("java.lang.Comparable<?>")] = None
    serializable: Annotated[Any, JavaType("java.io.Serializable")] = None
    items: Annotated[Any, JavaType("java.util.Collection<?>")] = None
    color: Color | None = None
    planet: Planet | None = None


@java_class("com.acme.Point", record=True)
@attrs.frozen
class Point:
    x: int
    y: int


@java_class("com.acme.Line", record=True)
@attrs.frozen
class Line:
    from_: Point | None
    to: Point | None
    label: str | None


@java_class("com.acme.Parcel", record=True)
@dataclass(frozen=True)
class Parcel:
    number: java.long
    reference: java.Long | None
    label: str | None
    weight: float
    fragile: bool
    color: Color | None
    route: list[Point] | None
    stock: dict[str, int] | None
    sizes: java.IntArray | None
    note: object


@java_class("com.acme.Arrays", serial_version_uid=731396600495342189)
@attrs.define
class Arrays:
    bytes: Annotated[Any, JavaType("byte[]")] = None
    ints: java.IntArray | None = None
    longs: java.LongArray | None = None
    doubles: java.DoubleArray | None = None
    chars: java.CharArray | None = None
    flags: java.BooleanArray | None = None
    texts: java.StringArray | None = None
    numbers: java.Array[java.Integer] | None = None
    objects: java.ObjectArray | None = None
    points: java.Array[Point] | None = None
    orders: java.Array[Order] | None = None
    grid: java.Array[java.IntArray] | None = None
    colors: java.Array[Color] | None = None


@java_class("com.acme.Collected", rename=java.camel_case, serial_version_uid=-6635465503696695684)
@attrs.define
class Collected:
    numbers: list[int] | None = None
    texts: Annotated[Any, JavaType("java.util.ArrayList<java.lang.String>")] = None
    linked: java.LinkedList[java.Long] | None = None
    ids: set[UUID] | None = None
    anything: Annotated[Any, JavaType("java.util.Collection<java.lang.Object>")] = None
    counts: dict[str, java.Long] | None = None
    sorted: java.TreeMap[str, int] | None = None
    by_color: dict[Color, list[Order]] | None = None
    by_number: dict[int, str] | None = None
    nested: list[list[str]] | None = None
    customers: list[Customer] | None = None


@java_class("com.acme.Dates", serial_version_uid=-8815760764473868160)
@attrs.define
class Dates:
    created: java.JavaDate | None = None
    instant: java.Instant | None = None
    day: date | None = None
    meeting: java.ZonedDateTime | None = None
    lasts: timedelta | None = None
    id: UUID | None = None


@java_class("com.acme.Invoice", serial_version_uid=1)
@attrs.define
class Invoice:
    id: UUID | None = None
    total: Decimal | None = None
    serial: java.BigInteger | None = None
    currency: java.Currency | None = None
    locale: java.Locale | None = None
    due: java.JavaDate | None = None
    stamp: Color | None = None


@java_class("com.acme.Maybe")
@attrs.define
class Maybe:
    text: java.Optional[str] = attrs.field(factory=java.Optional)
    order: java.Optional[Any] = attrs.field(factory=java.Optional)


@java_class("com.acme.Modifiers", serial_version_uid=1)
@attrs.define
class Modifiers:
    fixed: str | None
    changing: int
    open: str | None
    sheltered: str | None
    local: str | None


@java_class("com.acme.Account", serial_version_uid=1)
@attrs.define
class Account:
    owner: str | None
    balance: java.long
    active: bool
    uRL: str | None


@java_class("com.acme.TreeNode", serial_version_uid=1)
@attrs.define(eq=False)
class TreeNode:
    name: str | None = None
    parent: TreeNode | None = None
    children: list[TreeNode] = attrs.field(factory=list)


@java_class("com.acme.Empty", serial_version_uid=-7467265573466695837)
@attrs.define
class Empty:
    pass


@java_class("com.acme.Money")
@attrs.define
class Money:
    cents: java.long = 0
    currency: str | None = None


@java_class("com.acme.Sealed")
@attrs.define
class Sealed:
    label: str | None = None


@java_class("com.acme.Ticket", serial_version_uid=1)
@attrs.define
class Ticket:
    number: java.int = 0
    subject: str | None = None
    remark: str | None = None


@java_class("com.acme.Stock", serial_version_uid=-5_136_019_326_794_575_656)
@attrs.define
class Stock:
    counts: dict[str, java.Long] | None = None
    color: Color | None = None
    label: bytes | None = None
    places: java.IntArray | None = None
    any: Any = None
    next: Stock | None = None
