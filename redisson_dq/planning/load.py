"""The load that a plan is for, and the machines that are to carry it."""

from __future__ import annotations

import math
from typing import Any, Literal

import attrs

from redisson_dq.errors import ArgumentError
from redisson_dq.planning.constants import CODECS

__all__ = ["MOST_BYTES", "Load", "Machine"]

#: Redis keeps no longer text than this, the envelope included.
MOST_BYTES = 512 * 2**20 - 64
_MOST_RATE, _MOST_ITEMS = 1e9, 1e13
_MOST_SECONDS = 100 * 366 * 86400.0


def _within(least: float, most: float, unit: str) -> Any:
    def check(_: Any, field: attrs.Attribute[Any], value: float | None) -> None:
        if value is not None and not least <= value <= most:
            name = field.name.replace("_", " ")
            raise ArgumentError(f"{name} is {least:,g} to {most:,.0f}{unit}, not {value:,g}")

    return check


def _known_codec(_: object, __: object, codec: str) -> None:
    if codec not in CODECS:
        raise ArgumentError(f"no costs of the codec {codec!r} are known, but those of {', '.join(sorted(CODECS))}")


@attrs.frozen(kw_only=True)
class Load:
    """A queue's traffic.

    ``rate`` is items a second, ``delay`` the mean delay in seconds, ``size`` the bytes of an encoded value. ``items``
    is how many wait, and ``None`` leaves that to rate and delay. ``batch`` is how many values one call offers or takes.
    ``mixed_delays``: items are not due in the order of their offers. With ``visibility_timeout``, in seconds,
    values are received under a lease, and without it they are taken. ``partitions`` and ``consumers`` (processes) are
    found where they are ``None``. ``replicas`` is the number of each master. Raises ArgumentError.

        >>> Load(rate=5000, delay=3600, size=200).waiting
        18000000
    """

    rate: float = attrs.field(validator=_within(0, _MOST_RATE, " items a second"))
    delay: float = attrs.field(validator=_within(0, _MOST_SECONDS, " seconds"))
    size: int = attrs.field(validator=_within(0, MOST_BYTES, " bytes"))
    items: int | None = attrs.field(default=None, validator=_within(0, _MOST_ITEMS, " items"))
    envelope: Literal["mirrored", "lean"] = "mirrored"
    codec: str = attrs.field(default="Kryo5Codec", validator=_known_codec)
    batch: int = attrs.field(default=1, validator=_within(1, 1000, " values"))
    mixed_delays: bool = False
    visibility_timeout: float | None = attrs.field(default=None, validator=_within(0.001, _MOST_SECONDS, " seconds"))
    partitions: int | None = attrs.field(default=None, validator=_within(1, 1024, " partitions"))
    consumers: int | None = attrs.field(default=None, validator=_within(1, 1_000_000, " processes"))
    replicas: int = attrs.field(default=0, validator=_within(0, 100, " replicas"))

    @property
    def is_lean(self) -> bool:
        return self.envelope == "lean"

    @property
    def waiting(self) -> int:
        """Items that wait at a time."""
        return math.ceil(self.rate * self.delay) if self.items is None else self.items


@attrs.frozen(kw_only=True)
class Machine:
    """The resources of one master, and how much of them may be used.

    ``memory`` is bytes for all of Redis, ``network`` bytes a second in each direction. ``busy`` is the share of a
    thread, and of the network, that a load may take: beyond some 0.6 calls wait for each other.
    ``disk`` is bytes a second, at which a snapshot or an append-only file is written.
    """

    memory: int = attrs.field(default=16 * 10**9, validator=_within(1, 10**15, " bytes"))
    network: int = attrs.field(default=125_000_000, validator=_within(1, 10**15, " bytes a second"))
    busy: float = attrs.field(default=0.6, validator=_within(0.01, 1, ""))
    disk: int = attrs.field(default=100_000_000, validator=_within(1, 10**15, " bytes a second"))
