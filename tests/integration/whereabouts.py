"""Finds the place of each value of a queue, all at one moment."""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs

from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import DeadKeys, QueueKeys

__all__ = ["Whereabouts", "whereabouts"]

# Every value is in one of these places, or somebody has taken it for good.
_LOOK = """
local out = {redis.call('LRANGE', KEYS[1], 0, -1), redis.call('LRANGE', KEYS[2], 0, -1)}
out[3] = redis.call('ZRANGE', KEYS[3], 0, -1)
out[4] = redis.call('LRANGE', KEYS[4], 0, -1)
out[5] = redis.call('ZRANGE', KEYS[5], 0, -1)
out[6] = redis.call('HKEYS', KEYS[6])
out[7] = redis.call('ZRANGE', KEYS[7], 0, -1)
out[8] = redis.call('ZRANGE', KEYS[8], 0, -1)
return out
"""


@attrs.frozen(kw_only=True)
class Whereabouts:
    """The values in each place, with the number of times that each one is there."""

    ready: Counter[bytes]
    arrivals: Counter[bytes]
    waiting: Counter[bytes]
    leased: Counter[bytes]
    dead: Counter[bytes]

    @property
    def total(self) -> Counter[bytes]:
        return self.ready + self.arrivals + self.waiting + self.leased + self.dead


def whereabouts(admin: Any, name: str = "orders") -> Whereabouts:
    """Looks with one script, so at one moment. Fails when the keys of the leases contradict each other."""
    keys, dead = QueueKeys.of(name), DeadKeys.belonging_to(name)
    looked = [keys.ready, keys.arrivals, keys.timeout, dead.dead, keys.leases, keys.deliveries]
    looked += [keys.histories, keys.history_ends]
    ready, arrivals, members, letters, leases, known, histories, ends = admin.eval(_LOOK, len(looked), *looked)
    entries = [unwrap(member) for member in members]
    ids = Counter(id for id, _ in entries)
    assert ids.total() == len(ids), f"entries with the same id: {ids.most_common(3)}"
    held = set(leases)
    assert held <= set(known), "a lease without a record"
    assert set(histories) == set(ends), "what is left for a next delivery has no order"
    left = Counter(member[40:] for member in histories)
    assert left.total() == len(left), f"left twice: {left.most_common(3)}"
    assert set(left) <= set(known), "what is left for a next delivery has no record"
    return Whereabouts(
        ready=Counter(ready),
        arrivals=Counter(arrivals),
        waiting=Counter(value for id, value in entries if id not in held),
        leased=Counter(value for id, value in entries if id in held),
        dead=Counter(letters),
    )
