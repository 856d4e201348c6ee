"""The classes of interop/kotlin, as generate-classes declares them with kotlin-stdlib.jar on its classpath."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Generic, TypeVar

import attrs

from redisson_dq import java
from redisson_dq.java import java_class, kotlin

# Interfaces; a value is of a class that implements them.
Shape = Annotated[Any, java.JavaType("com.acme.kt.Shape")]
Lazy = Annotated[Any, java.JavaType("kotlin.Lazy")]

T = TypeVar("T")


@java_class("com.acme.kt.Account", final=True, serial_version_uid=-6965649623667619095)
@attrs.define
class Account:
    id: str | None = None
    balance: int = 0
    total: java.long = 0
    small: java.byte = 0
    maybe: str | None = None
    left: UInt | None = None
    ids: list[Id] | None = None
    counts: list[UInt] | None = None


@java_class("com.acme.kt.Attempt", final=True, serial_version_uid=-1507931729823862565)
@attrs.define
class Attempt:
    result: Any = None


@java_class("com.acme.kt.Circle", final=True, serial_version_uid=6147586550856078156)
@attrs.define
class Circle:
    radius: float = 0.0


@java_class("com.acme.kt.Drawing", final=True, serial_version_uid=8654406588753203949)
@attrs.define
class Drawing:
    main: Shape | None = None
    all: list[Shape] | None = None
    byName: dict[str, Shape] | None = None
    best: Circle | None = None


@java_class("com.acme.kt.Event", serial_version_uid=-146462157120889146)
@attrs.define
class Event:
    pass


@java_class("com.acme.kt.Event$Cancelled", final=True, serial_version_uid=1868531064133274413)
@attrs.define
class Cancelled(Event):
    at: java.long = 0
    reason: str | None = None


@java_class("com.acme.kt.Event$Doubled", final=True, serial_version_uid=-5008343048709348318)
@attrs.define
class Doubled(Event):
    pass


@java_class("com.acme.kt.Event$Never", final=True, serial_version_uid=-1902379697601920772)
@attrs.define
class Never(Event):
    pass


@java_class("com.acme.kt.Event$Placed", final=True, serial_version_uid=3954388970234076257)
@attrs.define
class Placed(Event):
    at: java.long = 0
    order: Order | None = None


@java_class("com.acme.kt.Event$Reset", final=True, serial_version_uid=6250487804982716118)
@attrs.define
class Reset(Event):
    pass


@java_class("com.acme.kt.Geo", final=True, serial_version_uid=-1607795780959374634)
@attrs.define
class Geo:
    lat: float = 0.0
    lon: float = 0.0


@java_class("com.acme.kt.Id", final=True, serial_version_uid=-5600030429578026152)
@attrs.define
class Id:
    value: str | None = None


@java_class("com.acme.kt.Feed", final=True)
@attrs.define
class Feed:
    posts: kotlin.ArrayDeque[str] | None = None
    any: Any = None


@java_class("com.acme.kt.Late", final=True, rename={"list_": "list"})
@attrs.define
class Late:
    name: str | None = None
    any: Any = None
    list_: list[str] | None = None


@java_class(
    "com.acme.kt.Lazily",
    final=True,
    rename={"known_delegate": "known$delegate"},
    serial_version_uid=-2119331806349174426,
)
@attrs.define
class Lazily:
    seed: int = 0
    known_delegate: Lazy | None = None


@java_class("com.acme.kt.Level")
class Level(Enum):
    LOW = "LOW"
    HIGH = "HIGH"


@java_class("com.acme.kt.Line", final=True, serial_version_uid=-58487574737864024)
@attrs.define
class Line:
    sku: str | None = None
    count: int = 0
    note: str | None = None


@java_class("com.acme.kt.Lvl", constant_bodies=True)
class Lvl(Enum):
    HIGH = "HIGH"
    LOW = "LOW"
    NONE = "NONE"


@java_class("com.acme.kt.Order", final=True, serial_version_uid=1066157639489433477)
@attrs.define
class Order:
    id: java.long = 0
    lines: list[Line] | None = None
    tags: set[str] | None = None
    prices: dict[str, float] | None = None
    level: Level | None = None
    lvl: Lvl | None = None
    parent: int | None = None
    state: str | None = None


@java_class("com.acme.kt.Order$Companion", final=True)
@attrs.define
class Companion:
    pass


@java_class("com.acme.kt.Outcome", serial_version_uid=3067862162170624159)
@attrs.define
class Outcome(Generic[T]):
    pass


@java_class("com.acme.kt.Outcome$Err", final=True, serial_version_uid=3535095617284713988)
@attrs.define
class Err(Outcome):  # type: ignore[type-arg]
    error: str | None = None


@java_class("com.acme.kt.Outcome$Ok", final=True, serial_version_uid=-8158994649919753735)
@attrs.define
class Ok(Outcome[T], Generic[T]):
    value: T | None = None
    more: list[T] | None = None


@java_class("com.acme.kt.Ranges", final=True, serial_version_uid=-7007133901747840673)
@attrs.define
class Ranges:
    range: IntRange | None = None
    chars: CharRange | None = None
    duration: java.long = 0
    unit: Unit | None = None


@java_class("com.acme.kt.Report", final=True, serial_version_uid=-6521120883321713979)
@attrs.define
class Report:
    geo: Outcome[Geo] | None = None
    level: Outcome[Level] | None = None
    pair: kotlin.Pair[Geo, Level] | None = None
    triple: kotlin.Triple[str, java.Long, Geo] | None = None
    outcomes: list[Outcome[Level]] | None = None


@java_class("com.acme.kt.Sign", constant_bodies=True)
class Sign(Enum):
    PLUS = "PLUS"
    MINUS = "MINUS"


@java_class("com.acme.kt.Square", serial_version_uid=-4196756847778424010)
@attrs.define
class Square:
    side: int = 0


@java_class("kotlin.UInt", final=True)
@attrs.define
class UInt:
    data: int = 0


@java_class("kotlin.Unit", final=True)
@attrs.define
class Unit:
    pass


@java_class("kotlin.ranges.CharProgression")
@attrs.define
class CharProgression:
    first: java.char = "\0"
    last: java.char = "\0"
    step: int = 0


@java_class("kotlin.ranges.CharRange", final=True)
@attrs.define
class CharRange(CharProgression):
    pass


@java_class("kotlin.ranges.IntProgression")
@attrs.define
class IntProgression:
    first: int = 0
    last: int = 0
    step: int = 0


@java_class("kotlin.ranges.IntRange", final=True)
@attrs.define
class IntRange(IntProgression):
    pass
