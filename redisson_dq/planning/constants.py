"""Every figure of the plans, in one place.

``python -m tests.benchmarks --only plan --full --no-java`` measures the calls.

Assumptions, not measured: ``FRAGMENTATION``, ``PAGES_TOUCHED``, ``REPLICATION_BACKLOG``, ``SERVER_BYTES`` and
``CONNECTION_BYTES``. The terms that grow with the items that wait are fitted by eye.

Measured on 2026-11-26 on a busy machine of two cores (AMD EPYC), Redis 7.0.15 with jemalloc, CPython 3.11, redis-py
8.1. Bytes are counts and repeat to a few bytes. CPU is the server's ``used_cpu_*_main_thread``, the least of three.
A quiet machine needs less. Memory is the server's ``used_memory``.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

__all__ = [
    "BLOCK_BYTES",
    "BLOCK_NODE_BYTES",
    "CALLS",
    "CODECS",
    "CONNECTION_BYTES",
    "Call",
    "CodecCost",
    "FRAGMENTATION",
    "LEAN_ENVELOPE_BYTES",
    "LEASE_BYTES",
    "LEASE_BYTES_BYTE",
    "LIST_WAY_POWER",
    "LIST_WAY_US",
    "LOGS",
    "LogBytes",
    "MEMBER_BYTES",
    "MIRRORED_ENVELOPE_BYTES",
    "PAGES_TOUCHED",
    "PAGE_BYTES",
    "REPLICATION_BACKLOG",
    "SERVER_BYTES",
]


@attrs.frozen
class Call:
    """A call, for itself and for each value in it. ``server_ns_byte`` is for each byte of a value.

    ``server_us_decade`` is the further cost of each value when ten times as many wait.
    """

    server_us: float
    server_us_each: float
    server_us_decade: float
    server_ns_byte: float
    client_us: float
    client_us_each: float
    received: float
    received_each: float
    received_byte: float
    sent: float
    sent_each: float
    sent_byte: float


@attrs.frozen
class LogBytes:
    """Bytes that a replica and an append-only file get: of a call, of each value, and for each byte of a value."""

    call: float
    each: float
    byte: float


@attrs.frozen
class CodecCost:
    """Python's CPU for a map of texts and numbers: for a value, and for each of its bytes."""

    encode_us: float
    encode_ns: float
    decode_us: float
    decode_ns: float


_TAKE = Call(39, 0.3, 0.0, 0.6, 106, 0.3, 34, 0, 0, 0, 7, 1)
_RECEIVE = Call(158, 10.4, 0.0, 8.0, 262, 10.5, 816, 0, 0, 57, 46, 1)
_ACK = Call(159, 4.7, 0.0, 2.3, 135, 5.7, 600, 17, 0, 43, 11, 0)

#: By envelope and name.
CALLS: Mapping[str, Mapping[str, Call]] = {
    "mirrored": {
        "offer": Call(108, 2.6, 1.5, 7.1, 155, 1.4, 339, 15, 1, 75, 0, 0),
        "move": Call(209, 4.0, 1.7, 6.5, 143, 0.4, 904, 0, 0, 93, 0, 0),
        "take": _TAKE,
        "receive": _RECEIVE,
        "ack": _ACK,
    },
    "lean": {
        "offer": Call(90, 3.1, 0.6, 4.0, 145, 1.4, 336, 15, 1, 75, 0, 0),
        "move": Call(150, 1.5, 0.6, 4.0, 119, 0.4, 904, 0, 0, 93, 0, 0),
        "take": _TAKE,
        "receive": _RECEIVE,
        "ack": _ACK,
    },
}

_TAKE_LOG, _RECEIVE_LOG, _ACK_LOG = LogBytes(29, 0, 0), LogBytes(230, 182, 1), LogBytes(196, 60, 1)

#: By envelope and name.
LOGS: Mapping[str, Mapping[str, LogBytes]] = {
    "mirrored": {
        "offer": LogBytes(152, 68, 2),
        "move": LogBytes(215, 7, 1),
        "take": _TAKE_LOG,
        "receive": _RECEIVE_LOG,
        "ack": _ACK_LOG,
    },
    "lean": {
        "offer": LogBytes(61, 45, 1),
        "move": LogBytes(146, 7, 1),
        "take": _TAKE_LOG,
        "receive": _RECEIVE_LOG,
        "ack": _ACK_LOG,
    },
}

#: The way along the list to mirrored entries in any order: for each that waits, times moved entries to this power.
LIST_WAY_US, LIST_WAY_POWER = 0.010, 0.42

CODECS: Mapping[str, CodecCost] = {
    "ByteArrayCodec": CodecCost(0.1, 0.0, 0.1, 0.0),
    "CborJacksonCodec": CodecCost(12, 259, 0, 318),
    "JsonJacksonCodec": CodecCost(3, 63, 41, 189),
    "Kryo5Codec": CodecCost(3, 117, 0, 145),
    "MsgPackJacksonCodec": CodecCost(14, 237, 6, 238),
    "SerializationCodec": CodecCost(0, 110, 0, 157),
    "SmileJacksonCodec": CodecCost(0, 386, 0, 447),
    "StringCodec": CodecCost(0.3, 0.05, 0.4, 0.1),
}

# -- memory ----------------------------------------------------------------------------------------------------------

#: Around a value in an entry: the id with its length, and the value's length.
MIRRORED_ENVELOPE_BYTES, LEAN_ENVELOPE_BYTES = 17, 18
#: A member of a sorted set without its text: a node of the skip list and an entry of the dictionary.
MEMBER_BYTES = 85.4
#: A block of a list, and the node that leads to it.
BLOCK_BYTES, BLOCK_NODE_BYTES = 8192 - 7, 32
#: A value under a lease: its records, which part ``leases`` measures, and the value with its copy.
LEASE_BYTES, LEASE_BYTES_BYTE = 302.0, 2.0
#: A server without keys, and a connection of a consumer to a partition.
SERVER_BYTES, CONNECTION_BYTES = 1_500_000, 22_000

# -- headroom, which operators of Redis reckon with and nothing measures here ----------------------------------------

#: The allocator's pages to the bytes in use.
FRAGMENTATION = 1.1
#: ``repl-backlog-size`` of Redis.
REPLICATION_BACKLOG = 1_048_576
#: Pages that an item changes from its offer to its end, and their size.
PAGES_TOUCHED, PAGE_BYTES = 6, 4096
