"""Names of servers and queues, and the rights that a role needs on them."""

from __future__ import annotations

from redisson_dq._redis import without_password
from redisson_dq._redis.introducing import own_process
from redisson_dq._redis.where import may_be_one
from redisson_dq._sync.connect import unopened
from redisson_dq.wire.keys import is_plain
from redisson_dq.wire.names import CHANNELS, KEYS, exact_name, named, names_of, queues_reached
from redisson_dq.wire.partitions import MOST_PARTITIONS, partition_of
from redisson_dq.wire.rights import acl_words, needed_to_move

__all__ = [
    "CHANNELS",
    "KEYS",
    "MOST_PARTITIONS",
    "acl_words",
    "exact_name",
    "is_plain",
    "may_be_one",
    "named",
    "names_of",
    "needed_to_move",
    "own_process",
    "partition_of",
    "queues_reached",
    "unopened",
    "without_password",
]
