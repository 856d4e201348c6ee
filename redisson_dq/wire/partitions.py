"""The names of a queue's partitions, spread over the slots of a Redis Cluster, and the partition that a key goes to.

Partition i of ``orders`` is an ordinary queue named ``orders:{i}-{salt}`` without braces, such as ``orders:3-135``. The
salt is the least number that puts its slot within 128 slots from its target on. The targets are the points 0, 1/2, 1/4,
3/4, 1/8, 5/8 ... of all slots (the van der Corput sequence). For any number of partitions, masters with equal ranges of
slots get about the same number of them. A name does not depend on how many there are, so adding partitions renames
none.
"""

from __future__ import annotations

import re
import zlib

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.wire.keys import NameMapper, map_name

__all__ = ["MOST_PARTITIONS", "partition_names", "partition_of", "whole_of"]

MOST_PARTITIONS = 1024

# Up to 128 partitions their windows do not overlap. A target is the start of one, as where a master's range starts.
_WINDOW = 128
# One name in 128 fits. If this many do not fit, that is no coincidence: the mapper gives all of them the same raw name.
_MOST_SALTS = 10_000
_PARTITION = re.compile(r"(.+):(\d{1,4})-(\d+)", re.DOTALL)


def partition_names(name: str, partitions: int, name_mapper: NameMapper | None = None) -> list[str]:
    """The names of the partitions of a queue, for programs that open them one by one, as Java does.

    They are the names before the ``name_mapper``, which has to be that of the clients. Raises ArgumentError for a
    number that is not from 1 to 1,024, and for names with braces. A hash tag would keep all partitions in one slot.

    >>> redisson_dq.partition_names("orders", 4)
    ['orders:0-332', 'orders:1-109', 'orders:2-22', 'orders:3-135']
    """
    if type(partitions) is not int or not 1 <= partitions <= MOST_PARTITIONS:
        raise ArgumentError(
            f"queue {name!r}: partitions= is an int from 1 to {MOST_PARTITIONS}, not {shown(partitions)}"
        )
    map_name(name, None)
    if "{" in name or "}" in name:
        raise ArgumentError(
            f"queue {name!r}: a name with braces cannot be partitioned, as its hash tag keeps all partitions on one "
            f"node; take one without, such as {name.replace('{', '').replace('}', '')!r}"
        )
    return [_name(name, i, name_mapper) for i in range(partitions)]


def partition_of(key: str, partitions: int) -> int:
    """The index of the partition that a key goes to: the CRC32 of its UTF-8 bytes modulo their number.

    Raises ArgumentError for anything but a text.
    """
    try:
        return zlib.crc32(key.encode()) % partitions
    except (AttributeError, UnicodeEncodeError):
        raise ArgumentError(f"a key must be a str that UTF-8 can hold, not {shown(key)}") from None


def whole_of(name: str, name_mapper: NameMapper | None = None) -> tuple[str, int] | None:
    """The name of the whole queue and the index of the partition with this name. None for any other queue.

    >>> from redisson_dq.wire.partitions import whole_of
    >>> whole_of("orders:3-135"), whole_of("orders:3-136")
    (('orders', 3), None)
    """
    found = _PARTITION.fullmatch(name)
    if found is None:
        return None
    whole, i = found[1], int(found[2])
    try:
        is_partition = i < MOST_PARTITIONS and _name(whole, i, name_mapper) == name
    except ArgumentError:
        return None
    return (whole, i) if is_partition else None


def _name(name: str, i: int, mapper: NameMapper | None) -> str:
    target = _target(i)
    for salt in range(_MOST_SALTS):
        made = f"{name}:{i}-{salt}"
        raw = map_name(made, mapper)
        if "{" in raw or "}" in raw:
            raise ArgumentError(
                f"queue {name!r}: the name mapper turns {made!r} into {raw!r}; braces in it keep all partitions on one "
                "node: open partitioned queues with a client whose mapper adds none"
            )
        if target <= key_slot(raw.encode()) < target + _WINDOW:
            return made
    raise ArgumentError(f"queue {name!r}: the name mapper leaves no name for partition {i} in its slots")


def _target(i: int) -> int:
    """The slot at i's bits in reverse after the binary point: 0, 1/2, 1/4, 3/4, 1/8 ... of all slots."""
    bits = REDIS_CLUSTER_HASH_SLOTS.bit_length() - 1
    return int(f"{i:0{bits}b}"[::-1], 2)
