"""Judges a server by its replies: settings with which items may be lost, an old version, a clock that is off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from redisson_dq.observing.happenings import Noticed
from redisson_dq.observing.transfer_record import TransferRecord
from redisson_dq.wire import calls, commands
from redisson_dq.wire.request import Request
from redisson_dq.wire.rights import needed_to_move

__all__ = ["advice_of", "advice_of_clock", "advice_of_info", "advice_of_rights", "fields_of", "info"]
__all__ += ["questions", "version_of"]

_SECTIONS = ("server", "memory", "persistence")
# From this version on a script can ask for rights.
_KNOWS_RIGHTS = (7, 0)
_OLDEST = (6, 2)
# A smaller difference of two clocks is usual.
_DIFFERENCE_US = 1_000_000


def info(key: str, *sections: str) -> Request[dict[str, str]]:
    """The fields of INFO of the key's server; all of them without ``sections``."""
    return Request(words=("INFO", *sections), types={key: ""}, parse=fields_of)


def fields_of(reply: bytes) -> dict[str, str]:
    """The fields of INFO."""
    pairs = (line.partition(":") for line in reply.decode(errors="replace").splitlines())
    return {name: value for name, colon, value in pairs if colon}


def questions(queues: Sequence[TransferRecord]) -> list[Request[Any]]:
    """The requests to one server that has some queues which a client moves."""
    key = queues[0].keys.ready
    rights = [calls.missing_rights([each.keys.ready], needed_to_move(each.keys.channel)) for each in queues]
    return [*(info(key, section) for section in _SECTIONS), commands.server_time_us(key), *rights]


def advice_of(server: str, queues: Sequence[TransferRecord], replies: Sequence[Any], at_us: int) -> Iterator[Noticed]:
    """Judges the replies to :func:`questions`, some of them errors. They came at ``at_us`` of this machine's clock."""
    *infos, time_us = replies[: len(_SECTIONS) + 1]
    fields = {name: value for each in infos if isinstance(each, dict) for name, value in each.items()}
    yield from advice_of_info(server, fields)
    if isinstance(time_us, int):
        yield from advice_of_clock(server, time_us - at_us)
    if version_of(fields) >= _KNOWS_RIGHTS:
        for queue, missing in zip(queues, replies[len(_SECTIONS) + 1 :], strict=True):
            if isinstance(missing, list):
                yield from advice_of_rights(server, queue.name, missing)


def version_of(info: Mapping[str, str]) -> tuple[int, ...]:
    """The version of Redis that a server speaks, empty where it says none. Valkey names one of Redis too."""
    return tuple(map(int, re.findall(r"\d+", info.get("redis_version", ""))[:2]))


def advice_of_info(server: str, info: Mapping[str, str]) -> Iterator[Noticed]:
    """``info`` has the fields of INFO's three sections, as far as the server reports them."""
    notice = partial(Noticed, server=server)
    version = version_of(info)
    if version and version < _OLDEST:
        found = f"Redis {info['redis_version']} is older than 6.2, and calls will fail"
        yield notice(check="version", found=found, advice="install Redis 6.2 or later, or Valkey", needs_a_hand=True)
    if info.get("arch_bits") == "32":
        found = "Redis is a 32-bit build, where Redisson's entries have another form, and calls will fail"
        advice = "install a 64-bit build of Redis or Valkey"
        yield notice(check="version", found=found, advice=advice, needs_a_hand=True)
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        dropped = "queues that have a time to live" if policy.startswith("volatile-") else "items"
        found = f"maxmemory-policy is {policy}, so Redis may drop {dropped} when its memory is full"
        advice = "CONFIG SET maxmemory-policy noeviction"
        yield notice(check="eviction", found=found, advice=advice, needs_a_hand=True)
    if info.get("aof_enabled") == "0":
        found = "there is no append-only file, so a crash of Redis loses the items since its last snapshot"
        advice = "CONFIG SET appendonly yes"
        yield notice(check="append-only file", found=found, advice=advice, needs_a_hand=False)


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
