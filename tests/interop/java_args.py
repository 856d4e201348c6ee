"""Arguments of Java methods that are not values: ``java.invoke("queue", "poll", int_(5))``.

Everything else passed to ``Java.invoke`` is a value. ``interop/README.md`` lists what each kind of argument fits.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from tests.peer import to_json

__all__ = [
    "JavaArg",
    "bytes_",
    "collect",
    "deque_move",
    "duration",
    "instant",
    "int_",
    "long",
    "string",
    "strings",
    "unit",
    "values",
]

End = Literal["first", "last"]


@dataclass(frozen=True)
class JavaArg:
    """One argument: its kind and its body in JSON."""

    kind: str
    body: Any = None

    @classmethod
    def of(cls, given: Any) -> JavaArg:
        return given if isinstance(given, cls) else cls("value", to_json(given))

    @property
    def json(self) -> dict[str, Any]:
        return {"arg": self.kind, "v": self.body}


def int_(number: int) -> JavaArg:
    return JavaArg("int", number)


def long(number: int) -> JavaArg:
    return JavaArg("long", number)


def unit(name: str) -> JavaArg:
    """A ``TimeUnit``, such as ``SECONDS``."""
    return JavaArg("unit", name)


def duration(seconds: float) -> JavaArg:
    return JavaArg("duration", round(seconds * 1000))


def instant(moment: datetime) -> JavaArg:
    """An ``Instant``, or a ``Date``, of whole milliseconds."""
    return JavaArg("instant", round(moment.timestamp() * 1000))


def string(text: str) -> JavaArg:
    """A plain String, such as the name of a queue."""
    return JavaArg("string", text)


def strings(*texts: str) -> JavaArg:
    return JavaArg("strings", list(texts))


def values(items: Iterable[Any]) -> JavaArg:
    """A Collection of values, or a variable number of them."""
    return JavaArg("values", [to_json(item) for item in items])


def bytes_(data: bytes) -> JavaArg:
    return JavaArg("bytes", base64.b64encode(data).decode())


def deque_move(start: End, end: End, queue: str) -> JavaArg:
    """Which end the element leaves, and to which end of which queue it goes."""
    return JavaArg("deque_move", {"from": start, "to": end, "queue": queue})


def collect() -> JavaArg:
    """An empty Collection for the method to fill: the result becomes ``[result, values]``."""
    return JavaArg("collect")
