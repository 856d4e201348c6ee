"""The classes of com.acme.changed, declared by hand, each as com.acme.changed.Same is in Java: before the change."""

from __future__ import annotations

from typing import Annotated, Any

import attrs

from redisson_dq import java
from redisson_dq.java import JavaType, java_class

__all__ = ["CHANGED", "Added", "Holder", "Outer", "Ranked"]


def _before(name: str) -> type:
    @attrs.define
    class Before:
        count: int = 0
        first: str | None = None
        last: str | None = None
        tags: list[str] | None = None
        total: java.Long | None = None

    Before.__name__ = Before.__qualname__ = name
    return java_class(f"com.acme.changed.{name}", serial_version_uid=1)(Before)


Added: Any = _before("Added")
#: By the sample of the Java class: its declaration.
CHANGED: dict[str, Any] = {
    "same": _before("Same"),
    "added": Added,
    "added-at-the-end": _before("AddedAtTheEnd"),
    "removed": _before("Removed"),
    "renamed": _before("Renamed"),
    "renamed-in-place": _before("RenamedInPlace"),
    "renamed-past-its-like": _before("RenamedPastItsLike"),
    "moved": _before("Moved"),
    "boxed": _before("Boxed"),
    "retyped": _before("Retyped"),
    "widened": _before("Widened"),
}


@java_class("com.acme.changed.Outer", serial_version_uid=1)
@attrs.define
class Outer:
    name: str | None = None
    part: Added | None = None
    parts: list[Added] | None = None


@java_class("com.acme.changed.Holder", serial_version_uid=1)
@attrs.define
class Holder:
    set: set[Any] | None = None
    map: dict[str, Any] | None = None
    items: Annotated[Any, JavaType("java.util.Collection<java.lang.Object>")] = None
    longs: Annotated[Any, JavaType("java.util.Set<java.lang.Long>")] = None


@java_class("com.acme.changed.Ranked", serial_version_uid=1)
@attrs.define
class Ranked:
    rank: int = 0
