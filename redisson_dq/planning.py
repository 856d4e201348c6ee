"""How much Redis and how many processes a load needs: estimated from measured constants, without I/O.

An item costs the sum of the calls that it needs. Due times are whole milliseconds, and one mover moves a queue. So one
call moves everything that is due in one millisecond, and a queue sees at most 1,000 of them a second. Hence work grows
more slowly than the rate, and partitions add work. Memory is estimated from the layout of Redis 7 and the size classes
of jemalloc.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any, Literal

import attrs

from redisson_dq.admin.entries import MOST_EVENTS, OF_AN_ITEM
from redisson_dq.errors import ArgumentError

__all__ = ["ItemCost", "Load", "LoadPlan", "Machine", "Memory", "Wall", "call_cost", "entry_bytes", "percent", "plan"]

# -- measured --------------------------------------------------------------------------------------------------------

# python -m tests.benchmarks --only plan --full --no-java measures these. These are from a busy machine with two cores
# (AMD EPYC), Redis 7.0.15, CPython 3.11 and redis-py 8.1; an idle machine needs less CPU. For each call: us of the
# server, us of the client, bytes received, bytes sent, bytes logged. Each figure is for the call, for each value, and
# for each byte of a value. The last figure is the additional us of the server when ten times as many items wait.
_MIRRORED: dict[str, tuple[Any, ...]] = {
    "offer": ((108, 2.6, 7.1e-3), (155, 1.4, 0), (339, 15, 1), (75, 0, 0), (152, 68, 2), 1.5),
    "move": ((209, 4.0, 6.5e-3), (143, 0.4, 0), (904, 0, 0), (93, 0, 0), (215, 7, 1), 1.7),
    "take": ((39, 0.3, 0.6e-3), (106, 0.3, 0), (34, 0, 0), (0, 7, 1), (29, 0, 0), 0),
    "receive": ((158, 10.4, 8.0e-3), (262, 10.5, 0), (816, 0, 0), (57, 46, 1), (230, 182, 1), 0),
    "ack": ((159, 4.7, 2.3e-3), (135, 5.7, 0), (600, 17, 0), (43, 11, 0), (196, 60, 1), 0),
}
_LEAN: dict[str, tuple[Any, ...]] = _MIRRORED | {
    "offer": ((90, 3.1, 4.0e-3), (145, 1.4, 0), (336, 15, 1), (75, 0, 0), (61, 45, 1), 0.6),
    "move": ((150, 1.5, 4.0e-3), (119, 0.4, 0), (904, 0, 0), (93, 0, 0), (146, 7, 1), 0.6),
}
# The us to encode a map of texts and numbers, and the ns for each of its bytes. Then the same for decoding.
_CODECS = {
    "ByteArrayCodec": (0.1, 0.0, 0.1, 0.0),
    "CborJacksonCodec": (12, 259, 0, 318),
    "JsonJacksonCodec": (3, 63, 41, 189),
    "Kryo5Codec": (3, 117, 0, 145),
    "MsgPackJacksonCodec": (14, 237, 6, 238),
    "SerializationCodec": (0, 110, 0, 157),
    "SmileJacksonCodec": (0, 386, 0, 447),
    "StringCodec": (0.3, 0.05, 0.4, 0.1),
}
# Walking the list to mirrored entries in any order: us for each waiting entry, times the moved entries to this power.
_LIST_WAY_US, _LIST_WAY_POWER = 0.010, 0.42
# Bytes of a member of a sorted set without its text. A value under a lease takes its records and twice its bytes.
_MEMBER_BYTES, _LEASE_BYTES = 85.4, 302
# An event of a history with an id and a reason of 30 bytes.
_EVENT_BYTES = 150
# Assumed: an empty server, a connection, the backlog, the ratio of the allocator's pages to the bytes in use. The last
# figure is the bytes of the pages that an item changes from its offer to its end.
_SERVER, _CONNECTION, _BACKLOG, _FRAGMENTATION, _TOUCHED = 1_500_000, 22_000, 2**20, 1.1, 6 * 4096
# A partition's name is put into one of 128 ranges of slots. Masters with less than four get uneven shares.
_MOST_PARTITIONS, _MOST_MASTERS, _PARTITIONS_PER_MASTER = 1024, 32, 4
_CONSUMERS = "CPU of the consumers"

# -- the load and its plan -------------------------------------------------------------------------------------------


def _within(least: float, most: float, unit: str = "", **options: Any) -> Any:
    def check(_: Any, field: attrs.Attribute[Any], value: float | None) -> None:
        if value is not None and not least <= value <= most:
            name = field.name.replace("_", " ")
            raise ArgumentError(f"{name} is {least:,g} to {most:,.0f}{unit}, not {value:,g}")

    return attrs.field(validator=check, **options)


@attrs.frozen(kw_only=True)
class Load:
    """A queue's traffic.

    ``rate`` is items a second, ``delay`` the mean delay in seconds, ``size`` the bytes of an encoded value. ``items``
    is how many wait; ``None`` computes it from rate and delay. ``batch`` is how many values one call offers or takes.
    ``mixed_delays``: items are not due in the order of their offers. With ``visibility_timeout``, in seconds, values
    are received under a lease, and without it they are taken. ``partitions`` and ``consumers`` (processes) are computed
    if they are ``None``. ``replicas`` is the number for each master. ``history`` is how many items the
    queue's history keeps (``set_history``). Raises ArgumentError.

        >>> Load(rate=5000, delay=3600, size=200).waiting
        18000000
    """

    rate: float = _within(0, 1e9, " items a second")
    delay: float = _within(0, 100 * 366 * 86400, " seconds")
    size: int = _within(0, 512 * 2**20 - 64, " bytes")
    items: int | None = _within(0, 1e13, " items", default=None)
    envelope: Literal["mirrored", "lean"] = "mirrored"
    codec: str = "Kryo5Codec"
    batch: int = _within(1, 1000, " values", default=1)
    mixed_delays: bool = False
    visibility_timeout: float | None = _within(0.001, 100 * 366 * 86400, " seconds", default=None)
    partitions: int | None = _within(1, _MOST_PARTITIONS, " partitions", default=None)
    consumers: int | None = _within(1, 1_000_000, " processes", default=None)
    replicas: int = _within(0, 100, " replicas", default=0)
    history: int = _within(0, 1e13, " items", default=0)

    def __attrs_post_init__(self) -> None:
        if self.codec not in _CODECS:
            known = ", ".join(sorted(_CODECS))
            raise ArgumentError(f"no costs of the codec {self.codec!r} are known, but those of {known}")

    @property
    def waiting(self) -> int:
        """How many items wait at a time."""
        return math.ceil(self.rate * self.delay) if self.items is None else self.items


@attrs.frozen(kw_only=True)
class Machine:
    """The resources of one master, and how much of them may be used.

    ``memory`` is bytes for all of Redis, ``network`` bytes a second in each direction. ``busy`` is the share of a
    thread, and of the network, that a load may take: above about 0.6, calls wait for each other. ``disk`` is bytes a
    second, at which a snapshot or an append-only file is written.
    """

    memory: int = _within(1, 10**15, " bytes", default=16 * 10**9)
    network: int = _within(1, 10**15, " bytes a second", default=125_000_000)
    busy: float = _within(0.01, 1, default=0.6)
    disk: int = _within(1, 10**15, " bytes a second", default=100_000_000)


@attrs.frozen
class ItemCost:
    """The cost of one item. ``server_us`` is time of Redis's main thread, the other times are those of Python
    processes.

    ``received`` and ``sent`` are the bytes of a master, without replicas. ``log`` is the bytes that each replica and an
    append-only file get.
    """

    server_us: float
    producer_us: float
    consumer_us: float
    received: float
    sent: float
    log: float


@attrs.frozen
class Memory:
    """Bytes on all masters together, by purpose.

    ``entries`` is for waiting items. ``leases`` is for values that consumers hold. ``history`` is for the events of the
    queue's history. ``base`` is for empty servers and connections. These four make up Redis's ``used_memory``.
    ``fragmentation`` is the gaps of the allocator. ``replication`` is the backlog and the output buffers of replicas
    while they load a snapshot. ``rewrite`` is for copies of the pages that change while a snapshot or an append-only
    file is written.
    """

    entries: int
    leases: int
    history: int
    base: int
    fragmentation: int
    replication: int
    rewrite: int

    @property
    def used(self) -> int:
        """``used_memory``, which ``maxmemory`` bounds."""
        return self.entries + self.leases + self.history + self.base

    @property
    def total(self) -> int:
        """The memory that the machines need."""
        return self.used + self.fragmentation + self.replication + self.rewrite


@attrs.frozen
class Wall:
    """A limit. ``share`` is how much of it the load needs; for a limit of a master, on one master.

    ``moved_by`` lists the changes that lower the share, and the resulting shares.
    """

    name: str
    share: float
    moved_by: tuple[str, ...]


@attrs.frozen(kw_only=True)
class LoadPlan:
    """The resources that a load needs. Bytes a second are for all masters together.

    ``cpu`` is the number of fully busy Redis threads, such as 1.5. ``cpu_of_master`` is the share of the busiest
    master's thread. ``walls`` has all limits, the one reached first at the front. ``problems`` explains which demands
    the given numbers of partitions or consumers cannot meet.
    """

    load: Load
    machine: Machine
    waiting: int
    memory: Memory
    cpu: float
    cpu_of_master: float
    network_in: float
    network_out: float
    log: float
    masters: int
    partitions: int
    consumers: int
    producers: int
    moves: float
    item: ItemCost
    walls: tuple[Wall, ...]
    problems: tuple[str, ...]

    @property
    def first_wall(self) -> Wall:
        return self.walls[0]


def plan(load: Load, machine: Machine | None = None) -> LoadPlan:
    """The plan of a load.

    >>> found = plan(Load(rate=5000, delay=3600, size=200))
    >>> found.waiting, found.first_wall.name
    (18000000, 'CPU of one thread')
    """
    machine = machine or Machine()
    masters, partitions = _spread(load, machine)
    item = _item_cost(load, partitions)
    cpu = load.rate * item.server_us / 1e6
    consumers = max(1, math.ceil(load.rate * item.consumer_us / 1e6 / machine.busy))
    return LoadPlan(
        load=load,
        machine=machine,
        waiting=load.waiting,
        memory=_memory(load, machine, item, masters, partitions),
        cpu=cpu,
        # The master with the most partitions is the bottleneck.
        cpu_of_master=cpu * math.ceil(partitions / masters) / partitions,
        network_in=load.rate * item.received,
        network_out=load.rate * (item.sent + load.replicas * item.log),
        log=load.rate * item.log,
        masters=masters,
        partitions=partitions,
        consumers=consumers,
        producers=max(1, math.ceil(load.rate * item.producer_us / 1e6 / machine.busy)),
        moves=partitions * _moves(load.rate / partitions),
        item=item,
        walls=tuple(_walls(load, machine, masters, partitions)),
        problems=tuple(_problems(load, machine, masters, partitions, consumers)),
    )


# -- an item ---------------------------------------------------------------------------------------------------------


def call_cost(name: str, load: Load, values: float, waiting: float) -> ItemCost:
    """A value's share of a call with ``values`` values: "offer", "move", "take", "receive" or "ack"."""
    *parts, decade = (_LEAN if load.envelope == "lean" else _MIRRORED)[name]
    server, client, *others = (call / values + each + byte * load.size for call, each, byte in parts)
    server += decade * max(0.0, math.log10(max(1.0, waiting) / 1000))
    return ItemCost(server, *((client, 0.0) if name == "offer" else (0.0, client)), *others)


def _item_cost(load: Load, partitions: int) -> ItemCost:
    rate, waiting = load.rate / partitions, load.waiting / partitions
    moved = rate / _moves(rate) if rate > 0 else 1.0
    names = ["offer", "take"] if load.visibility_timeout is None else ["offer", "receive", "ack"]
    costs = [*(call_cost(name, load, load.batch, waiting) for name in names), call_cost("move", load, moved, waiting)]
    mixed = load.mixed_delays and load.envelope == "mirrored"
    way = _LIST_WAY_US * waiting * moved ** (_LIST_WAY_POWER - 1) if mixed else 0.0
    encode_us, encode_ns, decode_us, decode_ns = _CODECS[load.codec]
    coding = (encode_us + encode_ns * load.size / 1000, decode_us + decode_ns * load.size / 1000)
    costs.append(ItemCost(way, *coding, 0.0, 0.0, 0.0))
    return ItemCost(*map(sum, zip(*map(attrs.astuple, costs), strict=True)))


def _moves(rate: float) -> float:
    """Calls a second that move a queue's items, due at random: the milliseconds with at least one of them."""
    return 1000 * -math.expm1(-rate / 1000)


def entry_bytes(size: int, waiting: int, *, lean: bool) -> float:
    """Redis's memory for one waiting value of ``size`` bytes, where ``waiting`` values wait in one queue.

    A waiting entry is a member of a sorted set: a text, a node of the skip list, an entry of the dictionary. A mirrored
    entry is also an element of a list, in a block of about 8 KB that it may share.

    >>> round(entry_bytes(100, 1_000_000, lean=True)), round(entry_bytes(100, 1_000_000, lean=False))
    (222, 343)
    """
    text = size + (18 if lean else 17)
    header = 4 if text < 2**8 else 6 if text < 2**16 else 10
    # The table of the dictionary has a power of two of slots, of 8 bytes each.
    places = 1 << max(2, (max(1, waiting) - 1).bit_length())
    member = _MEMBER_BYTES + _allocated(text + header) + 8 * places / max(1, waiting)
    if lean:
        return member
    # The length of an element is stored before and after it.
    element = (1 if text < 64 else 2 if text < 4096 else 5) + text
    element += next(count for count in range(1, 6) if element < 1 << 7 * count)
    shared = max(1, (8192 - 7) // element)
    return member + (_allocated(shared * element + 7) + 32) / shared


def _allocated(size: int) -> int:
    """The bytes that jemalloc takes: steps of 16 up to 128, then four steps between powers of two."""
    step = 16 if size <= 128 else 1 << ((size - 1).bit_length() - 3)
    return max(1, -(-size // step)) * step


# -- masters and limits ----------------------------------------------------------------------------------------------


def _memory(load: Load, machine: Machine, item: ItemCost, masters: int, partitions: int) -> Memory:
    each = entry_bytes(load.size, math.ceil(load.waiting / partitions), lean=load.envelope == "lean")
    entries = math.ceil(load.waiting * each)
    leases = math.ceil(load.rate * (load.visibility_timeout or 0.0) * (_LEASE_BYTES + 2 * load.size))
    # Each partition keeps a history of its own.
    history = partitions * min(load.history * OF_AN_ITEM, MOST_EVENTS) * _EVENT_BYTES
    base = masters * _SERVER + (load.consumers or 1) * partitions * _CONNECTION
    used = entries + leases + history + base
    # A master is saved and loaded at the speed of its disk.
    seconds = used / masters / machine.disk
    buffers = masters * _BACKLOG + load.replicas * math.ceil(load.rate * item.log * seconds) if load.replicas else 0
    rewrite = min(used, math.ceil(load.rate * seconds * _TOUCHED))
    return Memory(entries, leases, history, base, math.ceil((_FRAGMENTATION - 1) * used), buffers, rewrite)


def _shares(load: Load, machine: Machine, partitions: int, masters: int) -> dict[str, float]:
    """For each limit, the share of one machine that the load needs when spread over these masters."""
    item = _item_cost(load, partitions)
    busiest = max(item.received, item.sent + load.replicas * item.log)
    return {
        "memory": _memory(load, machine, item, masters, partitions).total / machine.memory,
        "CPU of one thread": load.rate * item.server_us / 1e6 / machine.busy,
        "network": load.rate * busiest / machine.network / machine.busy,
        _CONSUMERS: load.rate * item.consumer_us / 1e6 / machine.busy / (load.consumers or 1),
    }


def _masters_needed(load: Load, machine: Machine, partitions: int, masters: int) -> int:
    shares = _shares(load, machine, partitions, masters)
    # Partitions that do not divide evenly leave a part of each master idle.
    uneven = math.ceil(partitions / masters) / partitions * masters if masters <= partitions else 1.0
    return max(math.ceil(uneven * share) for name, share in shares.items() if name != _CONSUMERS)


def _spread(load: Load, machine: Machine) -> tuple[int, int]:
    """Masters and partitions: the fewest masters that carry the load with the partitions that go with them."""

    def partitions_of(masters: int) -> int:
        found = 1 if masters == 1 else 1 << (masters * _PARTITIONS_PER_MASTER - 1).bit_length()
        return load.partitions or found

    def carries(masters: int) -> bool:
        return _masters_needed(load, machine, partitions_of(masters), masters) <= masters

    # With more masters than partitions, some masters would be empty.
    limit = load.partitions or 1 << 60
    most = next(most for most in map((1).__lshift__, range(61)) if most >= limit or carries(most))
    between = range(most // 2 + 1, most)
    masters = min(limit, between.start + bisect_left(between, True, key=carries))
    return masters, partitions_of(masters)


def _walls(load: Load, machine: Machine, masters: int, partitions: int) -> list[Wall]:
    """The limits for one master and the given processes, the one reached first at the front."""
    others = {
        "lean offers": attrs.evolve(load, envelope="lean"),
        "calls of 100 values": attrs.evolve(load, batch=100) if load.batch == 1 else load,
        "no replicas": attrs.evolve(load, replicas=0),
    }
    lowered = {change: _shares(other, machine, load.partitions or 1, 1) for change, other in others.items()}
    found = []
    for name, share in _shares(load, machine, load.partitions or 1, 1).items():
        moved = [f"{change}: {percent(low[name])}" for change, low in lowered.items() if low[name] < 0.9 * share]
        if share > 1 and name == _CONSUMERS:
            moved.append(f"{math.ceil(share * (load.consumers or 1)):,} processes of consumers")
        elif share > 1 and masters > 1:
            moved.append(f"{masters:,} masters with {partitions:,} partitions")
        found.append(Wall(name, share, tuple(moved)))
    return sorted(found, key=lambda wall: -wall.share)


def percent(share: float) -> str:
    """A share as a text: ``45 %``."""
    return f"{100 * share:,.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.2g} %"


def _problems(load: Load, machine: Machine, masters: int, partitions: int, consumers: int) -> list[str]:
    found = []
    if load.partitions is not None and _masters_needed(load, machine, partitions, masters) > load.partitions:
        alone, more = _spread(attrs.evolve(load, partitions=None), machine)
        found.append(
            f"{load.partitions:,} {'partition does' if load.partitions == 1 else 'partitions do'} not carry the load: "
            f"it needs {alone:,} masters with {more:,} partitions"
        )
    elif partitions > _MOST_PARTITIONS or masters > _MOST_MASTERS:
        queues = math.ceil(max(partitions / _MOST_PARTITIONS, masters / _MOST_MASTERS))
        found.append(
            f"a queue has at most {_MOST_PARTITIONS:,} partitions, which spread evenly over {_MOST_MASTERS} masters: "
            f"split the load over {queues:,} queues, each with masters of its own"
        )
    if load.consumers is not None and load.consumers < consumers:
        found.append(f"{consumers:,} processes of consumers are needed, and there are {load.consumers:,}")
    return found
