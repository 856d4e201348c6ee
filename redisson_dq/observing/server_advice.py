"""Judges a server by its replies: settings with which items may be lost, an old version, a clock that is off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from redisson_dq.observing.happenings import Noticed

__all__ = ["advice_of_clock", "advice_of_info", "advice_of_rights", "version_of"]

_OLDEST = (6, 2)
# A smaller difference of two clocks is usual.
_DIFFERENCE_US = 1_000_000


def _dropped_by(policy: str) -> str:
    return "queues that have a time to live" if policy.startswith("volatile-") else "items"


def version_of(info: Mapping[str, str]) -> tuple[int, ...]:
    """The version of Redis that a server speaks, empty where it says none. Valkey names one of Redis too."""
    return tuple(map(int, re.findall(r"\d+", info.get("redis_version", ""))[:2]))


def advice_of_info(server: str, info: Mapping[str, str]) -> Iterator[Noticed]:
    """``info`` has the fields of INFO's sections server, memory and persistence, as far as the server reports them."""
    version = version_of(info)
    if version and version < _OLDEST:
        yield Noticed(
            check="version",
            server=server,
            found=f"Redis {info['redis_version']} is older than 6.2, and calls will fail",
            advice="install Redis 6.2 or later, or Valkey",
            needs_a_hand=True,
        )
    if info.get("arch_bits") == "32":
        yield Noticed(
            check="version",
            server=server,
            found="Redis is a 32-bit build, where Redisson's entries have another form, and calls will fail",
            advice="install a 64-bit build of Redis or Valkey",
            needs_a_hand=True,
        )
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        yield Noticed(
            check="eviction",
            server=server,
            found=f"maxmemory-policy is {policy}, so Redis may drop {_dropped_by(policy)} when its memory is full",
            advice="CONFIG SET maxmemory-policy noeviction",
            needs_a_hand=True,
        )
    if info.get("aof_enabled") == "0":
        yield Noticed(
            check="append-only file",
            server=server,
            found="there is no append-only file, so a crash of Redis loses the items since its last snapshot",
            advice="CONFIG SET appendonly yes",
            needs_a_hand=False,
        )


def advice_of_clock(server: str, ahead_us: int) -> Iterator[Noticed]:
    """``ahead_us`` is the server's time less that of this machine."""
    if abs(ahead_us) > _DIFFERENCE_US:
        way = "ahead of" if ahead_us > 0 else "behind"
        yield Noticed(
            check="clock",
            server=server,
            found=f"its clock is {abs(ahead_us) / 1_000_000:.1f} s {way} that of this machine",
            advice="let NTP set both; a delay= is still exact, and at= means the server's clock",
            needs_a_hand=False,
        )


def advice_of_rights(server: str, queue: str, missing: Sequence[str]) -> Iterator[Noticed]:
    """``missing`` are the commands that the user may not run, with the channel if it is for one."""
    if missing:
        yield Noticed(
            check="rights",
            server=server,
            found=f"queue {queue!r}: the user may not run {', '.join(missing)}",
            advice="ACL SETUSER gives rights to commands, keys and channels; docs/rights.md",
            needs_a_hand=True,
        )
