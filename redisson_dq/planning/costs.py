"""The work and the traffic of an item, from its offer to the end of its lease: a sum over the calls it needs.

Due times are whole milliseconds, and one mover moves a queue. So a call moves all that is due in one millisecond, and a
queue sees at most 1,000 of them a second. Hence work grows more slowly than the rate, and partitions add work.
"""

from __future__ import annotations

import math

import attrs

from redisson_dq.planning.constants import CALLS, CODECS, LIST_WAY_POWER, LIST_WAY_US, LOGS
from redisson_dq.planning.load import Load

__all__ = ["ItemCost", "call_cost", "item_cost", "moves_a_second"]

_TICKS = 1000.0


@attrs.frozen(kw_only=True)
class ItemCost:
    """Of one item. ``server_us`` is Redis's main thread, the others are processes of Python.

    ``received`` and ``sent`` are the bytes of a master, without replicas. ``log`` is the bytes that each replica and an
    append-only file get.
    """

    server_us: float
    producer_us: float
    consumer_us: float
    received: float
    sent: float
    log: float


def moves_a_second(rate: float) -> float:
    """Calls that move the items of one queue, which fall due at random: the milliseconds with at least one of them.

    >>> [round(moves_a_second(rate)) for rate in (10, 250, 5000)]
    [10, 221, 993]
    """
    return _TICKS * -math.expm1(-rate / _TICKS)


def item_cost(load: Load, partitions: int) -> ItemCost:
    """The cost of one item, where the load is spread over so many partitions."""
    rate, waiting = load.rate / partitions, load.waiting / partitions
    moved = rate / moves_a_second(rate) if rate > 0 else 1.0
    offer = call_cost("offer", load, load.batch, waiting)
    move = call_cost("move", load, moved, waiting)
    if load.visibility_timeout is None:
        ends = [call_cost("take", load, load.batch, waiting)]
    else:
        ends = [call_cost("receive", load, load.batch, waiting), call_cost("ack", load, load.batch, waiting)]
    way = 0.0
    if load.mixed_delays and not load.is_lean:
        # A call goes along the list to its items.
        way = LIST_WAY_US * waiting * moved ** (LIST_WAY_POWER - 1)
    codec = CODECS[load.codec]
    return ItemCost(
        server_us=offer.server_us + move.server_us + way + sum(each.server_us for each in ends),
        producer_us=offer.producer_us + codec.encode_us + codec.encode_ns * load.size / 1000,
        consumer_us=move.producer_us
        + sum(each.producer_us for each in ends)
        + codec.decode_us
        + codec.decode_ns * load.size / 1000,
        received=offer.received + move.received + sum(each.received for each in ends),
        sent=offer.sent + move.sent + sum(each.sent for each in ends),
        log=offer.log + move.log + sum(each.log for each in ends),
    )


def call_cost(name: str, load: Load, values: float, waiting: float) -> ItemCost:
    """A value's share of a call with so many values: "offer", "move", "take", "receive" or "ack"."""
    call = CALLS[load.envelope][name]
    log = LOGS[load.envelope][name]
    depth = max(0.0, math.log10(max(1.0, waiting) / 1000))
    return ItemCost(
        server_us=call.server_us / values
        + call.server_us_each
        + call.server_ns_byte * load.size / 1000
        + call.server_us_decade * depth,
        producer_us=call.client_us / values + call.client_us_each,
        consumer_us=0.0,
        received=call.received / values + call.received_each + call.received_byte * load.size,
        sent=call.sent / values + call.sent_each + call.sent_byte * load.size,
        log=log.call / values + log.each + log.byte * load.size,
    )
