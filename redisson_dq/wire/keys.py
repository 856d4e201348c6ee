"""The names of a queue's keys and its channel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Union

import attrs

from ..errors import ArgumentError

__all__ = ["NameMapper", "QueueKeys", "map_name"]

#: A prefix put before every name, or a function from name to raw name (Redisson's ``NameMapper.map``).
NameMapper = Union[str, Callable[[str], str]]


def map_name(name: str, mapper: NameMapper | None) -> str:
    """The raw name Redisson would use for ``name``. Raises ArgumentError when it is not a non-empty str."""
    raw: object = name
    if isinstance(name, str) and mapper is not None:
        raw = mapper + name if isinstance(mapper, str) else mapper(name)
    if not isinstance(raw, str) or not raw:
        raise ArgumentError(f"a queue's name is a non-empty str, not {raw!r}")
    try:
        raw.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"a queue's name is text that UTF-8 can hold, not {raw!r}: {error}") from error
    return raw


def _prefix(prefix: str, raw_name: str) -> str:
    # A name with a brace brings its own hash tag; any other is made one, so all keys share a slot.
    return f"{prefix}:{raw_name}" if "{" in raw_name else f"{prefix}:{{{raw_name}}}"


@attrs.frozen(kw_only=True, cache_hash=True)
class QueueKeys:
    """Every key of one queue. All of them hash to one slot of a Redis Cluster.

    Unless the raw name has a brace and no hash tag (``a{b``, ``a}b``, ``{}x``): Redisson's naming spreads its keys
    then, and a cluster refuses the scripts with CROSSSLOT.

    The first four are Redisson's; ``quarantine`` and ``undecodable`` are ours and exist only when something
    was set aside.
    """

    ready: str
    timeout: str
    envelopes: str
    channel: str
    quarantine: str
    undecodable: str

    @classmethod
    def of(cls, raw_name: str) -> QueueKeys:
        """The keys of the queue with this raw (already mapped) name."""
        return cls(
            ready=raw_name,
            timeout=_prefix("redisson_delay_queue_timeout", raw_name),
            envelopes=_prefix("redisson_delay_queue", raw_name),
            channel=_prefix("redisson_delay_queue_channel", raw_name),
            quarantine=_prefix("redisson_dq_quarantine", raw_name),
            undecodable=_prefix("redisson_dq_undecodable", raw_name),
        )

    def type_of(self, key: str) -> str:
        """The Redis type this key has to have."""
        return "zset" if key == self.timeout else "list"
