"""Every public call of the handles, a row for each way to make it: its result, its keys, and the arguments it refuses.

A row's call is made on a handle named ``orders`` with StringCodec. A second queue is named ``other``.
"""

from __future__ import annotations

import queue as queues
import struct
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

import attrs
import pytest

import redisson_dq
import redisson_dq.aio
from redisson_dq import OfferOutcome, Outcome, SettleOutcome
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError, QueueEmptyError, RedisReplyError
from redisson_dq.inspection import QueueInspection
from redisson_dq.items import Overdue, Redriven
from redisson_dq.stats import QueueStats
from redisson_dq.wire.commands import ping
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, by_night

__all__ = [
    *("ANY", "CALLS", "CLASSES", "METHODS"),
    *("Call", "check", "dump", "fill", "opened", "plain_by_day", "queue_for", "subject"),
]

#: A result that the test does not compare.
ANY = object()

#: The class that each kind of call is made on, in the threaded flavour.
CLASSES = {
    "queue": redisson_dq.BlockingQueue,
    "deque": redisson_dq.BlockingDeque,
    "bounded": redisson_dq.BoundedBlockingQueue,
    "delayed": redisson_dq.DelayedQueue,
    "lean": redisson_dq.DelayedQueue,
    "item": redisson_dq.DelayedItem,
    "delivery": redisson_dq.Delivery,
    "pipeline": redisson_dq.Pipeline,
}


@attrs.frozen(kw_only=True)
class Call:
    """One way to make a call.

    ``missing`` is the result on missing keys: a value, a class of values, or an error class. ``keys`` are those that
    must have their type, as attributes of QueueKeys, and ``other`` for the second queue's list. ``any_type`` is the
    result for strings, of a call that accepts keys of any type. ``bad`` are calls whose arguments are refused before
    anything is sent.
    """

    kind: str = ""
    name: str
    way: str = ""
    run: Callable[[Any], Any]
    missing: Any = None
    keys: tuple[str, ...] = ()
    any_type: Any = None
    #: Whether the call creates keys.
    writes: bool = False
    #: Whether the call waits until there is a value.
    waits: bool = False
    #: Whether the call sends nothing.
    local: bool = False
    #: The role of a second queue: a destination, a new name, or another list to take from.
    other: Literal["", "destination", "new name", "source"] = ""
    bad: tuple[Callable[[Any], Any], ...] = ()

    def __str__(self) -> str:
        return ".".join(filter(None, (self.kind, self.name, self.way)))


def _row(name: str, run: Callable[[Any], Any], missing: Any = None, *keys: str, **more: Any) -> Call:
    name, _, way = name.partition(" ")
    return Call(name=name, way=way, run=run, missing=missing, keys=keys, **more)


def _of(name: str, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """The call of a method."""
    return lambda q: getattr(q, name)(*args, **kwargs)


def _ends(end: str) -> list[Call]:
    """The calls of a deque at one end."""
    add, add_if, offer, put = f"add_{end}", f"add_{end}_if_exists", f"offer_{end}", f"put_{end}"
    poll, take, peek, get, remove = f"poll_{end}", f"take_{end}", f"peek_{end}", f"get_{end}", f"remove_{end}"
    occurrence, from_any, subscribe = f"remove_{end}_occurrence", f"poll_{end}_from_any", f"subscribe_on_{end}_elements"

    return [
        _row(add, _of(add, "x", "y"), 2, "ready", writes=True, bad=(_of(add), _of(add, "x", 5))),
        _row(add_if, _of(add_if, "x"), 0, "ready", bad=(_of(add_if), _of(add_if, 5))),
        _row(offer, _of(offer, "x"), True, "ready", writes=True, bad=(_of(offer, 5),)),
        _row(put, _of(put, "x"), None, "ready", writes=True, bad=(_of(put, 5),)),
        _row(take, _of(take), ANY, "ready", waits=True),
        _row(poll, _of(poll), None, "ready", bad=(_of(poll, 0), _of(poll, "x"), _of(poll, 0, timeout=1))),
        _row(f"{poll} limit", _of(poll, limit=3), [], "ready", bad=(_of(poll, 3), _of(poll, 3, limit=3))),
        _row(f"{poll} timeout", _of(poll, timeout=0.01), None, "ready", bad=(_of(poll, timeout=-1),)),
        _row(f"{poll} waiting", _of(poll, timeout=PATIENCE), ANY, "ready", waits=True),
        _row(f"{poll} limit waiting", _of(poll, 3, timeout=PATIENCE), ANY, "ready", waits=True),
        _row(from_any, _of(from_any, "other"), None, "ready", "other", other="source", bad=(_of(from_any, 5),)),
        _row(peek, _of(peek), None, "ready"),
        _row(get, _of(get), QueueEmptyError, "ready"),
        _row(remove, _of(remove), QueueEmptyError, "ready"),
        _row(occurrence, _of(occurrence, "a"), False, "ready", bad=(_of(occurrence, 5),)),
        _row(subscribe, lambda q: _first_of(q, getattr(q, subscribe)), ANY, waits=True, bad=(_of(subscribe, None),)),
    ]


def _acked(received: Any) -> Any:
    """Acks deliveries, and returns their value or values."""
    for delivery in received if isinstance(received, list) else [received] if received else []:
        assert delivery.ack() is SettleOutcome.ACKED
    return [delivery.value for delivery in received] if isinstance(received, list) else received and received.value


def _first_of(q: Any, subscribe: Callable[[Callable[[Any], object]], int]) -> Any:
    """The first value that a consumer gets."""
    come: queues.Queue[Any] = queues.Queue()
    listener = subscribe(come.put)
    try:
        return come.get(timeout=PATIENCE)
    finally:
        q.unsubscribe(listener)


def _states(*dumps: bytes) -> bytes:
    """The state of an object with several keys."""
    return b"".join((b"redisson_dq 1\n", struct.pack(f"<{len(dumps)}Q", *map(len, dumps)), *dumps))


# The keys that a receive reads.
_LEASE_KEYS = ("ready", "arrivals", "timeout", "leases", "deliveries", "histories")

# The DUMP of Redis 7.0 for a list with the element "a", and for the number 5.
_LIST = b"\x12\x01\x02\n\n\x00\x00\x00\x01\x00\x81a\x02\xff\n\x00\t\xb9\xed\xf5\x94\xde\xd9\x95"
_NUMBER = b"\x00\xc0\x05\n\x00c/_f\x83/\xb3Q"

_LATER = datetime.now(timezone.utc) + timedelta(days=1)


def _object(state: bytes) -> list[Call]:
    """The calls on a handle and on its keys as a whole, whatever their type."""
    renames = [
        _row(
            name,
            _of(name, "other"),
            missing,
            any_type=any_type,
            other="new name",
            bad=tuple(_of(name, bad) for bad in ("", 5, None, "orders")),
        )
        for name, missing, any_type in (
            ("rename", RedisReplyError, None),
            ("rename_if_free", RedisReplyError, True),
            ("copy", False, True),
            ("copy_and_replace", False, True),
        )
    ]
    restores = [
        _row(
            name,
            _of(name, state, ttl=60),
            missing,
            any_type=any_type,
            writes=True,
            bad=(_of(name, "text"), _of(name, None), _of(name, state, ttl=-1), _of(name, state, ttl="x")),
        )
        for name, missing, any_type in (("restore", True, False), ("restore_and_replace", None, None))
    ]
    expiries = [
        _row(
            f"{name} {way}",
            _of(name, ttl),
            False,
            any_type=any_type,
            bad=tuple(_of(name, bad) for bad in (-1, None, "x", float("nan"), datetime.now())),
        )
        for name, any_type, ways in (
            ("expire", True, ("in",)),
            ("expire_at", True, ("at",)),
            ("expire_if_set", False, ("in", "at")),
            ("expire_if_not_set", True, ("in", "at")),
            ("expire_if_greater", False, ("in", "at")),
            ("expire_if_less", True, ("in", "at")),
        )
        for way, ttl in (("in", 60), ("at", _LATER))
        if way in ways
    ]
    return [
        _row("name", lambda q: q.name, "orders", local=True),
        _row("codec", lambda q: q.codec, StringCodec, local=True),
        _row("keys", lambda q: q.keys, QueueKeys, local=True),
        _row("start_moving", _of("start_moving"), ArgumentError, local=True),
        _row("destroy", _of("destroy"), None, local=True),
        _row("delete", _of("delete"), False, any_type=True),
        _row("unlink", _of("unlink"), False, any_type=True),
        _row("exists", _of("exists"), False, any_type=True),
        _row("touch", _of("touch"), False, any_type=True),
        _row("size_in_memory", _of("size_in_memory"), 0, any_type=int),
        _row("dump", _of("dump"), None, any_type=bytes),
        _row("stats", _of("stats"), QueueStats, any_type=QueueStats),
        _row("inspect", _of("inspect"), QueueInspection, any_type=QueueInspection),
        _row("clear_expire", _of("clear_expire"), False, any_type=False),
        _row("remain_time_to_live", _of("remain_time_to_live"), None, any_type=None),
        _row("expire_time", _of("expire_time"), None, any_type=None),
        *renames,
        *restores,
        *expiries,
    ]


def _indexes(name: str) -> tuple[Callable[[Any], Any], ...]:
    """Calls with arguments that are not an index."""
    return _of(name, "x", 1), _of(name, 0, 1.5)


def _collections(name: str) -> tuple[Callable[[Any], Any], ...]:
    """Calls with arguments that are not a collection of values."""
    return _of(name, 5), _of(name, "abc"), _of(name, None), _of(name, ["a", 5])


_QUEUE = [
    _row("add", _of("add", "x"), True, "ready", writes=True, bad=(_of("add", 5),)),
    _row("add_all", _of("add_all", ["x", "y"]), True, "ready", writes=True, bad=_collections("add_all")),
    _row("add_all nothing", _of("add_all", []), False, local=True),
    _row("offer", _of("offer", "x"), True, "ready", writes=True, bad=(_of("offer", 5),)),
    _row(
        "offer timeout",
        _of("offer", "x", timeout=0.01),
        True,
        "ready",
        writes=True,
        bad=(_of("offer", "x", -1), _of("offer", "x", timeout="1"), _of("offer", 5, timeout=1)),
    ),
    _row("put", _of("put", "x"), None, "ready", writes=True, bad=(_of("put", 5),)),
    _row("take", _of("take"), ANY, "ready", waits=True),
    _row("poll", _of("poll"), None, "ready", bad=(_of("poll", 0), _of("poll", True), _of("poll", "x"))),
    _row(
        "poll limit",
        _of("poll", limit=3),
        [],
        "ready",
        bad=(_of("poll", 3), _of("poll", limit=0), _of("poll", 3, 3, timeout=1), _of("poll", 3, limit=3, timeout=1)),
    ),
    _row("poll timeout", _of("poll", timeout=0.01), None, "ready", bad=(_of("poll", timeout=-1),)),
    _row("poll waiting", _of("poll", timeout=PATIENCE), ANY, "ready", waits=True, bad=(_of("poll", timeout="x"),)),
    _row("poll limit timeout", _of("poll", 3, timeout=0.01), [], "ready", bad=(_of("poll", 3, timeout=-1),)),
    _row(
        "poll limit waiting",
        _of("poll", 3, timeout=PATIENCE),
        ANY,
        "ready",
        waits=True,
        bad=(_of("poll", 0, timeout=1), _of("poll", True, timeout=1), _of("poll", "x", timeout=0.1)),
    ),
    _row("element", _of("element"), QueueEmptyError, "ready"),
    _row("remove_head", _of("remove_head"), QueueEmptyError, "ready"),
    _row("drain_to", _of("drain_to"), [], "ready", bad=(_of("drain_to", 0), _of("drain_to", "x"))),
    _row("drain_to limit", _of("drain_to", 2), [], "ready"),
    *(
        row
        for name in ("poll_from_any", "poll_from_any_with_name", "poll_last_from_any_with_name")
        for row in (
            _row(
                name,
                _of(name, "other"),
                None,
                "ready",
                "other",
                other="source",
                bad=(_of(name, ""), _of(name, 5), _of(name, "other", timeout=-1)),
            ),
            _row(
                f"{name} waiting",
                _of(name, "other", timeout=PATIENCE),
                ANY,
                "ready",
                "other",
                other="source",
                waits=True,
            ),
        )
    ),
    _row(
        "take_from_any",
        _of("take_from_any", "other"),
        ANY,
        "ready",
        "other",
        other="source",
        waits=True,
        bad=(_of("take_from_any", ""), _of("take_from_any", 5)),
    ),
    _row(
        "poll_last_and_offer_first_to",
        _of("poll_last_and_offer_first_to", "other"),
        None,
        "ready",
        "other",
        other="destination",
        bad=(_of("poll_last_and_offer_first_to", ""), _of("poll_last_and_offer_first_to", "other", timeout=-1)),
    ),
    _row(
        "poll_last_and_offer_first_to waiting",
        _of("poll_last_and_offer_first_to", "other", timeout=PATIENCE),
        ANY,
        "ready",
        "other",
        other="destination",
        waits=True,
    ),
    _row(
        "take_last_and_offer_first_to",
        _of("take_last_and_offer_first_to", "other"),
        ANY,
        "ready",
        "other",
        other="destination",
        waits=True,
        bad=(_of("take_last_and_offer_first_to", ""), _of("take_last_and_offer_first_to", 5)),
    ),
    _row(
        "move",
        _of("move", "other"),
        None,
        "ready",
        "other",
        other="destination",
        bad=(_of("move", 5), _of("move", "other", from_end="left"), _of("move", "other", to_end=1)),
    ),
    _row(
        "move waiting",
        _of("move", "other", timeout=PATIENCE),
        ANY,
        "ready",
        "other",
        other="destination",
        waits=True,
        bad=(_of("move", "other", timeout="x"), _of("move", "other", from_end="left", timeout=1)),
    ),
    _row("size", _of("size"), 0, "ready"),
    _row("is_empty", _of("is_empty"), True, "ready"),
    _row("peek", _of("peek"), None, "ready"),
    _row("get", _of("get", 0), None, "ready", bad=(_of("get", "x"), _of("get", 1.5), _of("get", True))),
    _row("index_of", _of("index_of", "a"), -1, "ready", bad=(_of("index_of", 5),)),
    _row("last_index_of", _of("last_index_of", "a"), -1, "ready", bad=(_of("last_index_of", 5),)),
    _row("contains", _of("contains", "a"), False, "ready", bad=(_of("contains", 5),)),
    _row("contains_all", _of("contains_all", ["a"]), False, "ready", bad=_collections("contains_all")),
    _row("read_all", _of("read_all"), [], "ready"),
    _row("range", _of("range", 0, -1), [], "ready", bad=_indexes("range")),
    _row("read_undecodable", _of("read_undecodable"), [], "undecodable", bad=_indexes("read_undecodable")),
    _row("remove", _of("remove", "a"), False, "ready", bad=(_of("remove", 5), _of("remove", "a", "x"))),
    _row("remove_all", _of("remove_all", ["a"]), False, "ready", bad=_collections("remove_all")),
    _row("remove_if", _of("remove_if", "a".__eq__), 0, "ready", bad=(_of("remove_if", 5),)),
    _row("retain_all", _of("retain_all", ["b"]), False, "ready", bad=_collections("retain_all")),
    _row("trim", _of("trim", 0, 0), None, "ready", bad=_indexes("trim")),
    _row("clear", _of("clear"), None, any_type=None),
    _row(
        "subscribe_on_elements",
        lambda q: _first_of(q, q.subscribe_on_elements),
        ANY,
        waits=True,
        bad=(_of("subscribe_on_elements", None),),
    ),
    _row("unsubscribe", _of("unsubscribe", 5), None, local=True),
    _row("elements", lambda q: next(iter(q.elements()), None), ANY, "ready", waits=True),
    _row(
        "receive",
        lambda q: _acked(q.receive(timeout=0)),
        None,
        *_LEASE_KEYS,
        bad=(
            _of("receive", 0, timeout=0),
            _of("receive", True),
            _of("receive", timeout=-1),
            _of("receive", timeout=0, visibility_timeout=0),
            _of("receive", visibility_timeout="x"),
        ),
    ),
    _row("receive limit", lambda q: _acked(q.receive(3, timeout=0)), [], *_LEASE_KEYS),
    _row("receive timeout", lambda q: _acked(q.receive(timeout=0.01)), None, *_LEASE_KEYS),
    _row("receive waiting", lambda q: _acked(q.receive()), ANY, *_LEASE_KEYS, waits=True),
    _row("receive limit waiting", lambda q: _acked(q.receive(3, timeout=PATIENCE)), ANY, *_LEASE_KEYS, waits=True),
    _row("ack_all", _of("ack_all", []), [], local=True, bad=_collections("ack_all")),
    _row("nack_all", _of("nack_all", []), [], local=True, bad=_collections("nack_all")),
    _row("reject_all", _of("reject_all", []), [], local=True, bad=_collections("reject_all")),
    _row("extend_all", _of("extend_all", [], 5), [], local=True, bad=(_of("extend_all", "ab", 5),)),
    _row("in_flight", _of("in_flight"), [], "leases", bad=_indexes("in_flight")),
    _row("in_flight_size", _of("in_flight_size"), 0, "leases"),
    _row("dead_letters", _of("dead_letters"), [], any_type=[], bad=_indexes("dead_letters")),
    _row(
        "redrive",
        _of("redrive"),
        Redriven(count=0, left=0, clients=0),
        *("ready", "deliveries", "histories", "history_ends"),
        bad=(_of("redrive", "ab"), _of("redrive", ["x"]), _of("redrive", limit=0), _of("redrive", to=5)),
    ),
    _row("purge_dead", _of("purge_dead"), 0, any_type=0, bad=(_of("purge_dead", 5), _of("purge_dead", limit=0))),
    _row("__iter__", list, [], "ready"),
    _row("__len__", len, 0, "ready"),
    _row("__bool__", bool, True, local=True),
    _row("__contains__", lambda q: "a" in q, False, "ready", bad=(lambda q: 5 in q,)),
    _row("__getitem__", lambda q: q[0], IndexError, "ready", bad=(lambda q: q["x"], lambda q: q[0:1])),
]

_DEQUE = [
    *_ends("first"),
    *_ends("last"),
    _row("push", _of("push", "x"), None, "ready", writes=True, bad=(_of("push", 5),)),
    _row("pop", _of("pop"), QueueEmptyError, "ready"),
    _row("descending", lambda q: list(q.descending()), [], "ready"),
    _row("__reversed__", lambda q: list(reversed(q)), [], "ready"),
]

# Differences of a bounded queue: its offers need a capacity, and a take makes room. If a plain or a blocking command
# took the value, room is made afterwards, and a failure of that does not lose the value.
_OFFERS = {"add", "add_all", "offer", "put"}
_TAKES = {
    *("poll", "remove_head", "drain_to", "remove", "remove_all", "remove_if", "retain_all", "trim", "clear"),
}


def _bounded(row: Call) -> Call:
    if row.name in _OFFERS and not row.local:
        return attrs.evolve(row, missing=RedisReplyError, keys=("ready", "capacity"), writes=False)
    if row.name in _TAKES and not row.way.endswith("timeout") and not row.waits and not row.other:
        return attrs.evolve(row, keys=("ready", "capacity", *row.keys[1:]))
    return row


_BOUNDED = [
    *map(_bounded, _QUEUE),
    _row(
        "try_set_capacity",
        _of("try_set_capacity", 5),
        True,
        "capacity",
        writes=True,
        bad=tuple(_of("try_set_capacity", capacity) for capacity in (0, -1, "x", True, 1.5)),
    ),
    _row("remaining_capacity", _of("remaining_capacity"), 0, "capacity"),
]

_ITEM_KEYS = ("timeout", "envelopes", "records", "forget")
_DUE_KEYS = (
    *("timeout", "envelopes", "quarantine", "records", "forget", "expired"),
    *("settings", "recurring", "recurring_due", "leases"),
)
_OFFER_KEYS = ("timeout", "envelopes", "settings")

_DELAYED = [
    _row(
        "offer",
        _of("offer", "x", 60),
        redisson_dq.DelayedItem,
        *_OFFER_KEYS,
        writes=True,
        bad=(
            _of("offer", "x"),
            _of("offer", "x", -1),
            _of("offer", "x", "1"),
            _of("offer", "x", float("nan")),
            _of("offer", "x", 1, _LATER),
            _of("offer", "x", at=datetime.now()),
            _of("offer", 5, 1),
            _of("offer", "x", 1, on_duplicate="keep"),
        ),
    ),
    _row(
        "offer context",
        _of("offer", "x", 60, context={"k": "v"}),
        redisson_dq.DelayedItem,
        *_OFFER_KEYS,
        *("ready", "arrivals", "deliveries", "histories", "history_ends"),
        writes=True,
        bad=(_of("offer", "x", 1, context="k"), _of("offer", "x", 1, context={"k": 1})),
    ),
    _row("offer at", _of("offer", "x", at=_LATER), redisson_dq.DelayedItem, *_OFFER_KEYS, writes=True),
    _row(
        "offer id",
        _of("offer", "x", 60, id="7"),
        redisson_dq.DelayedItem,
        *_OFFER_KEYS,
        "records",
        "forget",
        writes=True,
        bad=(
            _of("offer", "x", 1, id=7),
            _of("offer", "x", 1, id=""),
            _of("offer", "x", 1, id="x" * 513),
            _of("offer", "x", 1, id="5-0123456789abcdef"),
            _of("offer", "x", 1, id="5-0123456789abcdef00"),
            _of("offer", "x", 1, id="7", on_duplicate="ignore"),
            _of("offer", "x", 1, id="7", deduplicate_for=1),
            _of("offer", "x", 1, deduplicate_for=-1),
            _of("offer", "x", 1, expires="x"),
            _of("offer", 5, 1, id="7"),
        ),
    ),
    _row(
        "offer replacing",
        _of("offer", "x", 60, id="42", on_duplicate="replace"),
        redisson_dq.DelayedItem,
        *_OFFER_KEYS,
        "records",
        "forget",
        writes=True,
    ),
    _row(
        "offer_all",
        _of("offer_all", [("x", 60), ("y", 5)]),
        2,
        *_OFFER_KEYS,
        writes=True,
        bad=(
            _of("offer_all", 5),
            _of("offer_all", "ab"),
            _of("offer_all", [("x",)]),
            _of("offer_all", [("x", 1), (5, 1)]),
            _of("offer_all", [("x", 1), ("y", -1)]),
        ),
    ),
    _row(
        "offer_all context",
        _of("offer_all", [("x", 60), ("y", 5)], context={"k": "v"}),
        2,
        *_OFFER_KEYS,
        *("ready", "arrivals", "deliveries", "histories", "history_ends"),
        writes=True,
        bad=(_of("offer_all", [("x", 1)], context="k"), _of("offer_all", [("x", 1)], context={"k": 1})),
    ),
    _row("offer_all nothing", _of("offer_all", []), 0, local=True),
    _row("poll", _of("poll"), None, "timeout", "envelopes", "quarantine", "records"),
    _row(
        "poll limit",
        _of("poll", 3),
        [],
        "timeout",
        "envelopes",
        "quarantine",
        "records",
        bad=(_of("poll", 0), _of("poll", "x")),
    ),
    _row(
        "take_due",
        _of("take_due", _LATER),
        [],
        *_DUE_KEYS,
        bad=(
            _of("take_due", 5),
            _of("take_due", datetime.now()),
            _of("take_due", since=60),
            _of("take_due", offset=-1),
            _of("take_due", offset="x"),
            _of("take_due", limit=0),
            _of("take_due", _LATER, _LATER + timedelta(seconds=1)),
            _of("take_due", limit=True),
            _of("take_due", limit=0, visibility_timeout=5),
        ),
    ),
    _row(
        "take_due leased",
        lambda q: _acked(q.take_due(_LATER, visibility_timeout=60)),
        [],
        *_DUE_KEYS,
        "deliveries",
        bad=(_of("take_due", visibility_timeout=0), _of("take_due", visibility_timeout="x")),
    ),
    _row("element", _of("element"), QueueEmptyError, "timeout", "envelopes"),
    _row("remove_head", _of("remove_head"), QueueEmptyError, "timeout", "envelopes", "quarantine", "records"),
    _row(
        "poll_last_and_offer_first_to",
        _of("poll_last_and_offer_first_to", "other"),
        None,
        "timeout",
        "envelopes",
        "quarantine",
        "records",
        "other",
        other="destination",
        bad=(_of("poll_last_and_offer_first_to", ""), _of("poll_last_and_offer_first_to", 5)),
    ),
    _row("size", _of("size"), 0, "timeout"),
    _row("is_empty", _of("is_empty"), True, "timeout"),
    _row("peek", _of("peek"), None, "timeout", "envelopes"),
    _row("contains", _of("contains", "a"), False, "timeout", "envelopes", bad=(_of("contains", 5),)),
    _row("contains_all", _of("contains_all", ["a"]), False, "timeout", "envelopes", bad=_collections("contains_all")),
    _row("read_all", _of("read_all"), [], "timeout", "envelopes"),
    _row("__iter__", list, [], "timeout", "envelopes"),
    _row("__len__", len, 0, "timeout"),
    _row("__bool__", bool, True, local=True),
    _row("__contains__", lambda q: "a" in q, False, "timeout", "envelopes", bad=(lambda q: 5 in q,)),
    _row("read_quarantine", _of("read_quarantine"), [], "quarantine", bad=_indexes("read_quarantine")),
    _row("remove", _of("remove", "a"), False, *_ITEM_KEYS, bad=(_of("remove", 5),)),
    _row("remove_all", _of("remove_all", ["a"]), False, *_ITEM_KEYS, bad=_collections("remove_all")),
    _row("remove_if", _of("remove_if", "a".__eq__), 0, *_ITEM_KEYS, bad=(_of("remove_if", 5),)),
    _row("retain_all", _of("retain_all", ["b"]), False, *_ITEM_KEYS, bad=_collections("retain_all")),
    _row("clear", _of("clear"), None, any_type=None),
    _row("cancel", _of("cancel", "42"), Outcome.UNKNOWN, *_ITEM_KEYS, bad=(_of("cancel", 42), _of("cancel", None))),
    _row(
        "reschedule",
        _of("reschedule", "42", 5),
        Outcome.UNKNOWN,
        "timeout",
        "records",
        "forget",
        bad=(
            _of("reschedule", 42, 5),
            _of("reschedule", "42"),
            _of("reschedule", "42", -1),
            _of("reschedule", "42", 1, _LATER),
        ),
    ),
    _row("run_now", _of("run_now", "42"), Outcome.UNKNOWN, "timeout", "records", "forget", bad=(_of("run_now", 42),)),
    _row("find", _of("find", "42"), None, "timeout", "records", bad=(_of("find", 42), _of("find", None))),
    _row(
        "items",
        _of("items"),
        [],
        "timeout",
        "records",
        bad=(_of("items", -1, 5), _of("items", 0, 10_000), _of("items", 5, 2), _of("items", "x"), _of("items", 0, 1.5)),
    ),
    _row(
        "items offered",
        _of("items", by="offer"),
        [],
        *("timeout", "envelopes", "records"),
        bad=(_of("items", by="id"),),
    ),
    _row("next_due", _of("next_due"), None, "timeout"),
    _row("overdue", _of("overdue"), Overdue(count=0, late_by=timedelta(0)), "timeout"),
    _row("pause", _of("pause"), True, "settings", writes=True),
    _row("resume", _of("resume"), False, "settings"),
    _row("is_paused", _of("is_paused"), False, "settings"),
    _row(
        "set_max_size",
        _of("set_max_size", 5),
        None,
        "settings",
        writes=True,
        bad=tuple(_of("set_max_size", size) for size in (0, -1, "x", True, 1.5)),
    ),
    _row("set_max_size none", _of("set_max_size", None), None, "settings"),
    _row("max_size", _of("max_size"), None, "settings"),
    _row(
        "set_history",
        _of("set_history", 5),
        None,
        *("settings", "events"),
        writes=True,
        bad=tuple(_of("set_history", keep) for keep in (0, -1, "x", True, 1.5, timedelta(0))),
    ),
    _row("history_kept", _of("history_kept"), None, "settings"),
    _row("set_history none", _of("set_history", None), None, *("settings", "events")),
    _row(
        "history", _of("history"), [], "settings", bad=(_of("history", 5), _of("history", ""), _of("history", limit=0))
    ),
    _row("expired_count", _of("expired_count"), 0, "settings"),
    _row("read_expired", _of("read_expired"), [], "expired", bad=_indexes("read_expired")),
    _row(
        "offer_recurring",
        _of("offer_recurring", "x", "tick", every=60),
        OfferOutcome,
        *("timeout", "envelopes", "recurring", "recurring_due"),
        writes=True,
        bad=(
            _of("offer_recurring", "x", "tick"),
            _of("offer_recurring", "x", "tick", every=0),
            _of("offer_recurring", "x", "tick", every="x"),
            _of("offer_recurring", "x", "tick", every=1, cron="@daily"),
            _of("offer_recurring", "x", "tick", cron="never"),
            _of("offer_recurring", "x", "tick", cron="@daily", timezone="Nowhere/City"),
            _of("offer_recurring", "x", "tick", every=1, start=5),
            _of("offer_recurring", "x", 5, every=1),
            _of("offer_recurring", "x", "", every=1),
            _of("offer_recurring", 5, "tick", every=1),
        ),
    ),
    _row(
        "cancel_recurring",
        _of("cancel_recurring", "tick"),
        False,
        *("timeout", "envelopes", "recurring", "recurring_due"),
        bad=(_of("cancel_recurring", 5), _of("cancel_recurring", "")),
    ),
    _row("recurring", _of("recurring"), [], "recurring", "recurring_due", bad=_indexes("recurring")),
]

_ITEM = [
    _row("id", lambda item: item.id, "7", local=True),
    _row("state", lambda item: item.state, redisson_dq.ItemState.WAITING, local=True),
    _row("attempts", lambda item: item.attempts, 0, local=True),
    _row("due", lambda item: item.due, datetime, local=True),
    _row("remaining", lambda item: item.remaining, timedelta, local=True),
    _row("value", lambda item: item.value, "x", local=True),
    _row("outcome", lambda item: item.outcome, OfferOutcome.OFFERED, local=True),
    _row("cancel", _of("cancel"), Outcome.UNKNOWN, *_ITEM_KEYS),
    _row(
        "reschedule",
        _of("reschedule", 5),
        Outcome.UNKNOWN,
        *("timeout", "records", "forget"),
        bad=(_of("reschedule"), _of("reschedule", -1), _of("reschedule", at=5)),
    ),
    _row("run_now", _of("run_now"), Outcome.UNKNOWN, "timeout", "records", "forget"),
]

_DELIVERY = [
    _row("id", lambda delivery: len(delivery.id), 20, local=True),
    _row("value", lambda delivery: delivery.value, "x", local=True),
    _row("data", lambda delivery: delivery.data, b"x", local=True),
    _row("offer_id", lambda delivery: delivery.offer_id, None, local=True),
    _row("cancelled", lambda delivery: delivery.cancelled, False, local=True),
    _row("attempt", lambda delivery: delivery.attempt, 1, local=True),
    _row("failures", lambda delivery: delivery.failures, 0, local=True),
    _row("crashes", lambda delivery: delivery.crashes, 0, local=True),
    _row("reason", lambda delivery: delivery.reason, "", local=True),
    _row("first_received", lambda delivery: delivery.first_received, datetime, local=True),
    _row("received", lambda delivery: delivery.received, datetime, local=True),
    _row("offered", lambda delivery: delivery.offered, None, local=True),
    _row("due", lambda delivery: delivery.due, None, local=True),
    _row("context", lambda delivery: delivery.context, {}, local=True),
    _row("cursor", lambda delivery: delivery.cursor, None, local=True),
    _row("deadline", lambda delivery: delivery.deadline, datetime, local=True),
    _row("remaining", lambda delivery: delivery.remaining, timedelta, local=True),
    _row("outcome", lambda delivery: delivery.outcome, None, local=True),
    _row("lost", lambda delivery: delivery.lost, False, local=True),
    _row("requests", lambda delivery: delivery.requests, redisson_dq.DeliveryRequests, local=True),
    _row("ack", _of("ack"), SettleOutcome.LOST, "timeout", "leases", "deliveries"),
    _row(
        "nack",
        _of("nack"),
        SettleOutcome.LOST,
        *("ready", "timeout", "leases", "deliveries", "histories", "history_ends"),
        bad=(_of("nack", -1), _of("nack", "x"), _of("nack", reason=5), _of("nack", count="x")),
    ),
    _row("nack delay", _of("nack", 60), SettleOutcome.LOST, "timeout", "envelopes", "leases", "deliveries"),
    _row("nack uncounted", _of("nack", count=False), SettleOutcome.LOST, "ready", "timeout", "leases"),
    _row("reject", _of("reject"), SettleOutcome.LOST, "timeout", "leases", "deliveries", bad=(_of("reject", 5),)),
    _row(
        "extend",
        _of("extend", 60),
        SettleOutcome.LOST,
        *("timeout", "leases", "deliveries"),
        bad=(_of("extend", 0), _of("extend", -1), _of("extend", "x")),
    ),
    _row(
        "save",
        _of("save", {"page": 7}),
        SettleOutcome.LOST,
        *("timeout", "leases", "deliveries"),
        bad=(_of("save", object()), _of("save", "x" * 1_000_000)),
    ),
]

_PIPELINE = [
    _row("add", lambda pipe: pipe.add(ping()), ANY, local=True),
    _row("execute", _of("execute"), [], local=True),
    _row("__len__", len, 0, local=True),
    _row("__bool__", bool, True, local=True),
]

#: A deque also has the calls of a queue, with the same code.
CALLS = [
    attrs.evolve(row, kind=kind)
    for kind, rows in (
        ("queue", [*_object(_LIST), *_QUEUE]),
        ("deque", _DEQUE),
        ("bounded", [*_object(_states(_LIST, _NUMBER)), *_BOUNDED]),
        ("delayed", [*_object(_states(*[b""] * 11)), *_DELAYED]),
        # The existing items were offered by another handle, and are not lean.
        ("lean", [*_object(_states(*[b""] * 11)), *_DELAYED]),
        ("item", _ITEM),
        ("delivery", _DELIVERY),
        ("pipeline", _PIPELINE),
    )
    for row in rows
]

#: How a client opens the queue of each kind.
METHODS = {
    "queue": "blocking_queue",
    "deque": "blocking_deque",
    "bounded": "bounded_blocking_queue",
    "delayed": "delayed_queue",
    "lean": "delayed_queue",
    "item": "delayed_queue",
    "delivery": "blocking_queue",
}


def main_keys(keys: QueueKeys, kind: str) -> tuple[str, ...]:
    """The keys that Redisson's own object of this kind has."""
    if kind in ("delayed", "lean"):
        return keys.envelopes, keys.timeout
    return (keys.ready, keys.capacity) if kind == "bounded" else (keys.ready,)


_PLAIN = {"bounded": "queue", "lean": "delayed"}


def plain_by_day(calls: list[Call], *kinds: str) -> list[Any]:
    """The calls as parameters. Calls that bounded and lean queues share with plain ones run on them only at night."""
    rows = {str(call) for call in calls}

    def is_again(call: Call) -> bool:
        return call.kind in (kinds or _PLAIN) and str(attrs.evolve(call, kind=_PLAIN[call.kind])) in rows

    return [by_night(call) if is_again(call) else call for call in calls]


def queue_for(client: Any, kind: str, name: str = "orders") -> Any:
    options = {"lean": True} if kind == "lean" else {}
    return getattr(client, METHODS[kind])(name, transfer=False, **options)


def opened(client: Any, kind: str) -> Any:
    """The object on which calls of that kind are made."""
    if kind == "pipeline":
        return client.pipeline()
    return subject(queue_for(client, kind), kind)


def subject(queue: Any, kind: str) -> Any:
    """The queue, an item of it, or a delivery."""
    if kind == "delivery":
        queue.add("x")
        return queue.receive(visibility_timeout=60)
    return queue.offer("x", 60, id="7", on_duplicate="keep") if kind == "item" else queue


def fill(client: Any, admin: Any, keys: QueueKeys) -> None:
    """Puts something into every key of the queue. ``admin`` is a plain client of redis-py."""
    delayed = queue_for(client, "delayed")
    with client.pipeline() as pipe:
        for value, due in (("a", 60), ("b", 70), ("a", 80)):
            pipe.add(delayed.requests.offer(value, due))
        pipe.add(delayed.requests.offer("c", 50, id="42", on_duplicate="replace"))
        pipe.add(delayed.requests.set_max_size(100))
    delayed.offer_recurring("e", "tick", every=30)
    with admin.pipeline(transaction=False) as plain:
        plain.rpush(keys.ready, "a", "b", "a", "c")
        plain.set(keys.capacity, 5)
        plain.rpush(keys.quarantine, "5 junk")
        plain.rpush(keys.undecodable, b"\xff")
        plain.rpush(keys.expired, "5 late")
        plain.execute()


def dump(admin: Any) -> dict[bytes, bytes]:
    """Everything in Redis, byte by byte, except alarms, which vanish a second after they were set."""
    keys = sorted(key for key in admin.scan_iter() if not key.startswith(b"redisson_dq_alarm"))
    with admin.pipeline(transaction=False) as plain:
        for key in keys:
            plain.dump(key)
        return dict(zip(keys, plain.execute(), strict=True))


def check(call: Call, handle: Any, expected: Any) -> None:
    """Makes the call, and compares its result."""
    if isinstance(expected, type) and issubclass(expected, Exception):
        with pytest.raises(expected):
            call.run(handle)
        return
    result = call.run(handle)
    if isinstance(expected, type):
        assert isinstance(getattr(result, "inner", result), (expected, *_twins(expected)))
    elif expected is not ANY:
        assert result == expected, result


def _twins(kind: type) -> tuple[type, ...]:
    """The same class in the asyncio flavour."""
    twin = getattr(redisson_dq.aio, kind.__name__, None)
    return () if twin is None else (twin,)
