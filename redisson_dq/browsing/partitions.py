"""The number of a queue's partitions, derived from its keys in Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redisson_dq.admin import Admin
from redisson_dq.admin.names import MOST_PARTITIONS
from redisson_dq.admin.refusals import lacks_rights
from redisson_dq.errors import RedisReplyError

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = ["exists", "partitions_of"]

# How many partitions are searched first. If one of the later half exists, all are searched.
_FEW_PARTITIONS = 32


def partitions_of(client: Client, name: str) -> int | None:
    """How many partitions a queue has: 1 more than the last one that has any key in Redis.

    None for a queue without partitions, for the name of one partition, and for a user who may not look at the
    partitions. Partitions after the last one with a key are not counted. Example::

        count = partitions_of(client, "orders")

    One round trip for a queue that has keys of its own, a second one for up to 16 partitions, and a third one for more.
    Raises RedisConnectionError, RedisReplyError.
    """
    admin = Admin(client)
    if "{" in name or "}" in name or admin.whole(name) is not None or admin.exist([name])[0]:
        return None
    try:
        for most in (_FEW_PARTITIONS, MOST_PARTITIONS):
            exist = admin.exist(part.name for part in admin.parts(name, most))
            last = max((i for i, exists in enumerate(exist) if exists), default=-1)
            if last < most // 2:
                break
    except RedisReplyError as error:
        if not lacks_rights(error):
            raise
        # For a queue without partitions, permission for its own keys is enough.
        return None
    return last + 1 or None


def exists(client: Client, name: str, partitions: int | None = None) -> bool:
    """Whether Redis has any key of a queue or of its partitions: False if it is empty or its name is misspelt.

    True also for a user who may not read all of its keys. Example::

        exists(client, "orders")

    One round trip. Raises RedisConnectionError, RedisReplyError.
    """
    admin = Admin(client)
    try:
        return any(admin.exist(part.name for part in admin.parts(name, partitions)))
    except RedisReplyError as error:
        if not lacks_rights(error):
            raise
        return True
