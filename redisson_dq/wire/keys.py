"""The names of a queue's keys and its channel."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Union

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError

__all__ = [
    "PREFIXES",
    "DeadKeys",
    "LeaseKeys",
    "NameMapper",
    "PlainNames",
    "QueueKeys",
    "is_plain",
    "map_name",
    "shares_slot",
    "tag_of",
]

#: A prefix put before every name, or a function from name to raw name (Redisson's ``NameMapper.map``).
NameMapper = Union[str, Callable[[str], str]]


def map_name(name: str, mapper: NameMapper | None) -> str:
    """The raw name Redisson would use for ``name``. Raises ArgumentError when it is not a non-empty str."""
    raw: object = name
    inner = mapper.inner if isinstance(mapper, PlainNames) else mapper
    if isinstance(name, str) and inner is not None:
        raw = inner + name if isinstance(inner, str) else inner(name)
    if not isinstance(raw, str) or not raw:
        raise ArgumentError(f"a queue's name must be a non-empty str, not {shown(raw)}")
    try:
        raw.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"a queue's name must be text that UTF-8 can hold, not {shown(raw)}: {error}") from error
    if isinstance(mapper, PlainNames) and not is_plain(raw):
        raise ArgumentError(
            f"queue {shown(raw)}: a queue of this name has keys of another queue, and names='plain' refuses it: "
            "docs/limits.md#names-that-share-keys"
        )
    return raw


@attrs.frozen
class PlainNames:
    """The mapper of a client that refuses names which share keys with another queue: ``connect(names="plain")``."""

    inner: NameMapper | None

    def __call__(self, name: str) -> str:
        return map_name(name, self)


# The keys of queues, and Redisson's of other objects.
_BEGINS_AS_A_KEY = re.compile("redisson_[a-z_]+:")


def is_plain(raw_name: str) -> bool:
    """Whether no key of the queue with this raw name is one of another queue, whatever that is called.

    ``{a}`` has the keys of ``a``, and the ready list of ``redisson_delay_queue:{a}`` is one of the keys of ``a``.
    """
    has_tag_alone = raw_name.startswith("{") and raw_name.endswith("}") and "{" not in raw_name[1:]
    return not has_tag_alone and _BEGINS_AS_A_KEY.match(raw_name) is None


def _prefix(prefix: str, raw_name: str) -> str:
    # A name with a brace has its own hash tag. Any other name becomes the hash tag, so all keys share a slot.
    return f"{prefix}:{raw_name}" if "{" in raw_name else f"{prefix}:{{{raw_name}}}"


def shares_slot(raw_name: str) -> bool:
    """Whether a queue's keys all hash to one slot of a cluster, as :class:`QueueKeys` reports."""
    opening = raw_name.find("{")
    # A name without an opening brace becomes the hash tag. A closing brace in it would end the tag.
    return "}" not in raw_name if opening < 0 else raw_name.find("}", opening) > opening + 1


def tag_of(raw_name: str) -> str:
    """The hash tag of a queue's keys."""
    return QueueKeys.of(raw_name).leases.partition("{")[2].partition("}")[0]


def _key(prefix: str, kind: str = "") -> Any:
    """A key by the prefix before the raw name, and its Redis type."""
    return attrs.field(metadata={"key": (prefix, kind)})


@attrs.frozen(kw_only=True, cache_hash=True)
class QueueKeys:
    """Every key of one queue. All of them hash to one slot of a Redis Cluster.

    A raw name with a brace and no hash tag is an exception (``a{b``, ``a}b``, ``{}x``). Redisson's naming spreads its
    keys, and a cluster refuses the scripts with CROSSSLOT.

    Redisson's are ``ready``, ``timeout``, ``envelopes``, ``channel``, and of a bounded queue ``capacity`` and
    ``capacity_channel``. The others are ours and exist only while there is something in them:

    ============================  ==================================================================================
    ``quarantine``                members in neither envelope format, each behind its score
    ``newer``                     entries in a form that only a newer version knows, by due time (``wire/forms.py``)
    ``undecodable``               values that were taken and that the codec could not read
    ``expired``                   the last values that were too late to be delivered, each behind its due time
    ``records``, ``forget``       what is remembered of single items, and until when (``scripts/include/records.lua``)
    ``settings``                  whether delivery is paused, the largest size, how many items expired
    ``recurring(_due)``           the recurring offers, and when the occurrence that waits now is due
    ``mover``                     which of several clients moves the queue, for a minute after its last transfer
    ``arrivals``                  a value that came while a receiver waited, until the receiver leases it
    ``returned``                  which calls have put values back, so that none does it twice
    ``leases``                    the leases, and until when each is held
    ``deliveries``                what is known of each lease, and of values that were delivered before
    ``histories``                 which of these records belongs to the next delivery of a value
    ``history_ends``              when each of these is over
    ``alarm``                     a time that every client was told to look at, for a second
    ``lines``, ``turns``          who comes next of a key or a limit, and rates (``scripts/include/lines.lua``)
    ``handled``                   what was handled of values that are unique for a time, and until when
    ``events``                    the history, where the queue keeps one (``scripts/include/events.lua``)
    ``fence``                     is inside a transaction, as long as its leases are held
    ``migrating``                 what a migration holds on its way to another queue, and how far an import is
    ============================  ==================================================================================
    """

    ready: str
    timeout: str = _key("redisson_delay_queue_timeout", "zset")
    envelopes: str = _key("redisson_delay_queue", "list")
    channel: str = _key("redisson_delay_queue_channel")
    capacity: str = _key("redisson_bqs", "string")
    capacity_channel: str
    quarantine: str = _key("redisson_dq_quarantine", "list")
    newer: str = _key("redisson_dq_newer", "zset")
    undecodable: str = _key("redisson_dq_undecodable", "list")
    expired: str = _key("redisson_dq_expired", "list")
    records: str = _key("redisson_dq_records", "hash")
    forget: str = _key("redisson_dq_forget", "zset")
    settings: str = _key("redisson_dq_settings", "hash")
    recurring: str = _key("redisson_dq_recurring", "hash")
    recurring_due: str = _key("redisson_dq_recurring_due", "zset")
    mover: str = _key("redisson_dq_mover", "string")
    arrivals: str = _key("redisson_dq_arrivals", "list")
    returned: str = _key("redisson_dq_returned", "zset")
    leases: str = _key("redisson_dq_leases", "zset")
    deliveries: str = _key("redisson_dq_deliveries", "hash")
    histories: str = _key("redisson_dq_histories", "zset")
    history_ends: str = _key("redisson_dq_history_ends", "zset")
    alarm: str = _key("redisson_dq_alarm", "hash")
    lines: str = _key("redisson_dq_lines", "zset")
    turns: str = _key("redisson_dq_turns", "hash")
    handled: str = _key("redisson_dq_handled", "zset")
    events: str = _key("redisson_dq_events", "stream")
    fence: str = _key("redisson_dq_fence", "string")
    migrating: str = _key("redisson_dq_migrating", "hash")

    @classmethod
    def of(cls, raw_name: str) -> QueueKeys:
        """The keys of the queue with this raw (already mapped) name."""
        made = {name: _prefix(prefix, raw_name) for name, (prefix, _) in PREFIXES.items()}
        return cls(ready=raw_name, capacity_channel=_prefix("redisson_sc", made["capacity"]), **made)

    @property
    def channels(self) -> tuple[str, str]:
        """The names of pub/sub channels, which hold no data."""
        return self.channel, self.capacity_channel

    def type_of(self, key: str) -> str:
        """The Redis type this key has to have. For a key of another queue that is the type of a ready list."""
        kinds = {getattr(self, name): kind for name, (_, kind) in PREFIXES.items()}
        return kinds.get(key, "list")


#: Every key of ours and Redisson's: the prefix before the raw name, and the Redis type.
PREFIXES: dict[str, tuple[str, str]] = {
    each.name: each.metadata["key"] for each in attrs.fields(QueueKeys) if each.metadata
}


@attrs.frozen(kw_only=True, cache_hash=True)
class DeadKeys:
    """The keys of a dead-letter list: the list of raw values itself, and its records."""

    dead: str
    dead_info: str
    dead_index: str

    @classmethod
    def of(cls, raw_name: str) -> DeadKeys:
        """The keys of the list with this raw name, which may be any queue's ready list."""
        return cls(
            dead=raw_name,
            dead_info=_prefix("redisson_dq_dead_info", raw_name),
            dead_index=_prefix("redisson_dq_dead_index", raw_name),
        )

    @classmethod
    def belonging_to(cls, raw_name: str) -> DeadKeys:
        """The keys of the queue's own list: the one it has where ``dead_letter=`` names no other."""
        return cls.of(_prefix("redisson_dq_dead", raw_name))

    @property
    def types(self) -> dict[str, str]:
        """The Redis type that each of them has to have."""
        return {self.dead: "list", self.dead_info: "hash", self.dead_index: "zset"}


@attrs.frozen(kw_only=True, cache_hash=True)
class LeaseKeys:
    """The keys of a queue and of its dead-letter list. ``bounded``: a value that leaves the queue makes room in it."""

    queue: QueueKeys
    dead: DeadKeys
    bounded: bool = False

    #: The argument that the scripts get.
    word: str = attrs.field(init=False, eq=False, repr=False)

    @word.default  # pyright: ignore[reportAttributeAccessIssue]
    def _word(self) -> str:
        return "bounded" if self.bounded else ""
