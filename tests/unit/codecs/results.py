"""The classes of com.acme.result in interop/src/main/java, as generate-classes declares them."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Generic, TypeVar

import attrs

from redisson_dq import java
from redisson_dq.java import java_class

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")
K = TypeVar("K")
L = TypeVar("L")
R = TypeVar("R")
T_Comparable = TypeVar("T_Comparable", bound=Annotated[Any, java.JavaType("java.lang.Comparable")])
T = TypeVar("T")
V = TypeVar("V")
X = TypeVar("X")
Y = TypeVar("Y")
Z = TypeVar("Z")


@java_class("com.acme.result.Results", final=True, implements=[])
@attrs.define
class Results:
    pass


@java_class(
    "com.acme.result.Results$Both",
    record=True,
    implements=[
        "com.acme.result.Results$Same<Z>",
        "com.acme.result.Results$Either<Z, Z>",
        "java.io.Serializable",
    ],
)
@attrs.frozen
class Both(Generic[Z]):
    one: Z | None
    other: Z | None


@java_class(
    "com.acme.result.Results$Result",
    serial_version_uid=3075787752488723087,
    implements=[],
)
@attrs.define
class Result(Generic[T]):
    pass


@java_class(
    "com.acme.result.Results$Bounded",
    serial_version_uid=-8527101301159606912,
    implements=[],
)
@attrs.define
class Bounded(Result[T_Comparable], Generic[T_Comparable]):
    least: T_Comparable | None = None


@java_class("com.acme.result.Results$Ok", serial_version_uid=139219030205962831, implements=[])
@attrs.define
class Ok(Result[T], Generic[T]):
    value: T | None = None
    others: list[T] | None = None
    array: java.Array[T] | None = None


@java_class(
    "com.acme.result.Results$Cached",
    serial_version_uid=5708739914093097914,
    implements=[],
)
@attrs.define
class Cached(Ok[V], Generic[V]):
    before: V | None = None


@java_class(
    "com.acme.result.Results$Failed",
    serial_version_uid=4614563565444653386,
    implements=[],
)
@attrs.define
class Failed(Result[T], Generic[T, E]):
    error: E | None = None
    last: T | None = None


@java_class(
    "com.acme.result.Results$Fixed",
    serial_version_uid=2788509978339306808,
    implements=[],
)
@attrs.define
class Fixed(Ok[Annotated["Geo", java.JavaType("com.acme.result.Results$Geo")]]):
    home: Geo | None = None


@java_class(
    "com.acme.result.Results$Geo",
    record=True,
    implements=["java.io.Serializable", "java.lang.Comparable"],
)
@attrs.frozen
class Geo:
    lat: float
    lon: float


@java_class(
    "com.acme.result.Results$Given",
    serial_version_uid=6882439912893702775,
    implements=["java.util.function.Supplier<T>"],
)
@attrs.define
class Given(Generic[T]):
    given: T | None = None


@java_class(
    "com.acme.result.Results$Pair",
    serial_version_uid=-3518608612933100586,
    implements=[],
)
@attrs.define
class Pair(Generic[A, B]):
    first: A | None = None
    second: B | None = None


@java_class(
    "com.acme.result.Results$Half",
    serial_version_uid=-7328564802774059700,
    implements=[],
)
@attrs.define
class Half(Pair[X, str], Generic[X]):
    half: X | None = None


@java_class(
    "com.acme.result.Results$Holder",
    rename={"list_": "list"},
    serial_version_uid=-7997419303507574247,
    implements=[],
)
@attrs.define
class Holder:
    geo: Result[Geo] | None = None
    tag: Result[Tag] | None = None
    note: Result[Note] | None = None
    level: Result[Level] | None = None
    step: Result[Step] | None = None
    text: Result[str] | None = None
    number: Result[java.Long] | None = None
    any: Result[Any] | None = None
    ints: Result[java.IntArray] | None = None
    geos: Result[java.Array[Geo]] | None = None
    list_: Result[list[Geo]] | None = None
    deep: Result[Result[Geo]] | None = None
    open: Result[Any] | None = None
    raw: Result[Any] | None = None
    pair: Pair[Geo, Level] | None = None
    half: Pair[Level, str] | None = None
    named: Pair[str, Geo] | None = None
    twice: Pair[Geo, Geo] | None = None
    either: (
        Annotated[
            Any,
            java.JavaType("com.acme.result.Results$Either<com.acme.result.Results$Geo, com.acme.result.Results$Level>"),
        ]
        | None
    ) = None
    same: (
        Annotated[
            Any,
            java.JavaType("com.acme.result.Results$Either<com.acme.result.Results$Geo, com.acme.result.Results$Geo>"),
        ]
        | None
    ) = None
    plain: (
        Annotated[
            Any,
            java.JavaType(
                "com.acme.result.Results$Either"
                "<com.acme.result.Results$Geo, java.util.List<com.acme.result.Results$Geo>>"
            ),
        ]
        | None
    ) = None
    supplier: (
        Annotated[
            Any,
            java.JavaType("java.util.function.Supplier<com.acme.result.Results$Geo>"),
        ]
        | None
    ) = None
    all: list[Result[Geo]] | None = None
    map: (
        dict[
            str,
            Annotated[
                Any,
                java.JavaType(
                    "com.acme.result.Results$Either<com.acme.result.Results$Level, com.acme.result.Results$Geo>"
                ),
            ],
        ]
        | None
    ) = None
    array: java.Array[Result[Geo]] | None = None
    reference: java.AtomicReference[Result[Geo]] | None = None


@java_class(
    "com.acme.result.Results$Left",
    record=True,
    implements=["com.acme.result.Results$Either<L, R>", "java.io.Serializable"],
)
@attrs.frozen
class Left(Generic[L, R]):
    value: L | None


@java_class("com.acme.result.Results$Level", implements=[])
class Level(Enum):
    LOW = "LOW"
    HIGH = "HIGH"


@java_class(
    "com.acme.result.Results$Listed",
    serial_version_uid=-8889382954237190249,
    implements=[],
)
@attrs.define
class Listed(Result[list[T]], Generic[T]):
    first: T | None = None


@java_class(
    "com.acme.result.Results$Straight",
    rename={"list_": "list"},
    serial_version_uid=-3674365463842229363,
    implements=[],
)
@attrs.define
class Straight(Pair[A, B], Generic[A, B]):
    list_: list[B] | None = None


@java_class(
    "com.acme.result.Results$Mapped",
    serial_version_uid=-799127271214153481,
    implements=[],
)
@attrs.define
class Mapped(Straight[K, V], Generic[K, V]):
    map: dict[K, V] | None = None


@java_class(
    "com.acme.result.Results$Note",
    serial_version_uid=7009697202124996864,
    implements=[],
)
@attrs.define
class Note:
    text: str | None = None


@java_class("com.acme.result.Results$Of", serial_version_uid=9133872986674863173, implements=[])
@attrs.define
class Of(Generic[T]):
    result: Result[T] | None = None
    eithers: list[Annotated[Any, java.JavaType("com.acme.result.Results$Either<T, T>")]] | None = None


@java_class(
    "com.acme.result.Results$OfGeo",
    serial_version_uid=-1291396941230297632,
    implements=[],
)
@attrs.define
class OfGeo:
    geo: Of[Geo] | None = None
    level: Of[Level] | None = None


@java_class(
    "com.acme.result.Results$Plain",
    final=True,
    serial_version_uid=-8892267438901075497,
    implements=["com.acme.result.Results$Either<T, java.util.List<T>>"],
)
@attrs.define
class Plain(Generic[T]):
    plain: T | None = None


@java_class(
    "com.acme.result.Results$Raw",
    serial_version_uid=-6155568616176083434,
    implements=[],
)
@attrs.define
class Raw(Ok, Generic[T]):  # type: ignore[type-arg]
    plain: T | None = None


@java_class(
    "com.acme.result.Results$Right",
    record=True,
    implements=["com.acme.result.Results$Either<L, R>", "java.io.Serializable"],
)
@attrs.frozen
class Right(Generic[R, L]):
    value: R | None
    more: list[R] | None


@java_class("com.acme.result.Results$Step", constant_bodies=True)
class Step(Enum):
    UP = "UP"
    STAY = "STAY"


@java_class(
    "com.acme.result.Results$Swapped",
    serial_version_uid=-244434586663975883,
    implements=[],
)
@attrs.define
class Swapped(Pair[Y, X], Generic[X, Y]):
    x: X | None = None
    y: Y | None = None


@java_class(
    "com.acme.result.Results$Tag",
    final=True,
    serial_version_uid=-661615638526779026,
    implements=[],
)
@attrs.define
class Tag:
    text: str | None = None


@java_class(
    "com.acme.result.Results$Twice",
    serial_version_uid=-67581404546056973,
    implements=[],
)
@attrs.define
class Twice(Pair[T, T], Generic[T]):
    both: T | None = None
