"""Java's ids of a time zone as values: the id of a region, and an offset from UTC."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from redisson_dq.errors import ArgumentError
from redisson_dq.java.zones import zone_id

__all__ = ["ZoneId", "ZoneOffset", "offset_id"]


class ZoneId(str):
    """``java.time.ZoneId`` of a region: ``ZoneId("Europe/Berlin")``, ``ZoneId("UTC+02:00")``.

    It has the id that Java gives it: ``UTC+2`` becomes ``UTC+02:00``. Raises ArgumentError for ids that no JVM knows.
    """

    __slots__ = ("__weakref__",)
    java_name: ClassVar[str] = "java.time.ZoneRegion"

    def __new__(cls, value: object = "") -> ZoneId:
        return cls.read(zone_id(str(value)))

    @classmethod
    def read(cls, value: str) -> ZoneId:
        """The zone of an id that Java wrote."""
        return super().__new__(cls, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return ZoneId.read, (str.__str__(self),)

    def __repr__(self) -> str:
        return f"ZoneId({str.__repr__(self)})"


def _at_most_18_hours(_owner: object, _attribute: object, value: int) -> None:
    if not isinstance(value, int) or abs(value) > 64800:
        raise ArgumentError("a ZoneOffset is at most 18 hours (64800 seconds)")


@attrs.frozen
class ZoneOffset:
    """``java.time.ZoneOffset``, in seconds: from -18 to 18 hours."""

    java_name: ClassVar[str] = "java.time.ZoneOffset"
    seconds: int = attrs.field(validator=_at_most_18_hours)

    def __str__(self) -> str:
        return offset_id(self.seconds)


def offset_id(seconds: int) -> str:
    """The offset as ZoneOffset.getId gives it: ``Z``, ``+02:00``, ``-01:30:15``."""
    if seconds == 0:
        return "Z"
    minutes, rest = divmod(abs(seconds), 60)
    text = f"{'-' if seconds < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{text}:{rest:02d}" if rest else text
