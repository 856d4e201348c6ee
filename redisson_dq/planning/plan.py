"""A load on machines: how many of them, and which limit is met first."""

from __future__ import annotations

import math

import attrs

from redisson_dq.planning.constants import (
    CONNECTION_BYTES,
    FRAGMENTATION,
    LEASE_BYTES,
    LEASE_BYTES_BYTE,
    PAGE_BYTES,
    PAGES_TOUCHED,
    REPLICATION_BACKLOG,
    SERVER_BYTES,
)
from redisson_dq.planning.costs import ItemCost, item_cost, moves_a_second
from redisson_dq.planning.load import Load, Machine
from redisson_dq.planning.memory import entry_bytes

__all__ = ["MOST_MASTERS", "MOST_PARTITIONS", "Memory", "LoadPlan", "Wall", "plan"]

MOST_PARTITIONS = 1024
#: A partition's name is put into one of 128 ranges of slots. Masters with less than four get uneven shares.
MOST_MASTERS = 32
#: So many partitions for each master: a master then has at most a quarter more than its share.
_PARTITIONS_PER_MASTER = 4
_MOST_MASTERS = 1 << 60
_CONSUMERS = "CPU of the consumers"


@attrs.frozen(kw_only=True)
class Memory:
    """Bytes of all masters together, by purpose.

    ``entries`` wait. ``leases`` are of values in consumers' hands. ``base`` is for empty servers and connections. Those
    three are Redis's ``used_memory``. ``fragmentation`` is the gaps of the allocator. ``replication`` is the backlog
    and the output buffers of replicas while they load a snapshot. ``rewrite`` is copies of the pages that change while
    a snapshot or an append-only file is written.
    """

    entries: int
    leases: int
    base: int
    fragmentation: int
    replication: int
    rewrite: int

    @property
    def used(self) -> int:
        """``used_memory``, which ``maxmemory`` bounds."""
        return self.entries + self.leases + self.base

    @property
    def total(self) -> int:
        """The memory that the machines need."""
        return self.used + self.fragmentation + self.replication + self.rewrite


@attrs.frozen(kw_only=True)
class Wall:
    """A limit. ``share`` is how much of it the load needs, on one master where it is a master's.

    ``moved_by`` lists the changes that lower the share, and to how much.
    """

    name: str
    share: float
    moved_by: tuple[str, ...]


@attrs.frozen(kw_only=True)
class LoadPlan:
    """The resources that a load needs. Bytes a second are of all masters together.

    ``cpu`` is threads of Redis that are wholly busy: 1.5 is one and a half. ``cpu_of_master`` is the share of the
    busiest master's thread. ``walls`` is every limit, the first one met first. ``problems`` says what the given
    numbers of partitions or consumers do not allow.
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
    item = item_cost(load, partitions)
    memory = _memory(load, machine, item, masters, partitions)
    # The master with the most partitions sets the pace.
    heaviest = math.ceil(partitions / masters) / partitions
    cpu = load.rate * item.server_us / 1e6
    consumers = _processes(load.rate * item.consumer_us, machine)
    return LoadPlan(
        load=load,
        machine=machine,
        waiting=load.waiting,
        memory=memory,
        cpu=cpu,
        cpu_of_master=cpu * heaviest,
        network_in=load.rate * item.received,
        network_out=load.rate * (item.sent + load.replicas * item.log),
        log=load.rate * item.log,
        masters=masters,
        partitions=partitions,
        consumers=consumers,
        producers=_processes(load.rate * item.producer_us, machine),
        moves=partitions * moves_a_second(load.rate / partitions),
        item=item,
        walls=_walls(load, machine, masters, partitions),
        problems=_problems(load, machine, masters, partitions, consumers, cpu * heaviest),
    )


def _spread(load: Load, machine: Machine) -> tuple[int, int]:
    """Masters and partitions: the fewest masters that carry the load with the partitions that go with them."""

    def carries(masters: int) -> bool:
        return max(_needs(load, machine, load.partitions or _partitions_of(masters), masters).values()) <= masters

    most = 1
    while not carries(most) and most < (load.partitions or _MOST_MASTERS):
        most *= 2
    least = most // 2
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if carries(middle) else (middle, most)
    # Masters beyond the partitions would be empty.
    masters = min(most, load.partitions or most)
    return masters, load.partitions or _partitions_of(masters)


def _partitions_of(masters: int) -> int:
    if masters == 1:
        return 1
    return 1 << (masters * _PARTITIONS_PER_MASTER - 1).bit_length()


def _needs(load: Load, machine: Machine, partitions: int, masters: int) -> dict[str, int]:
    """By limit the number of masters that it asks for."""
    item = item_cost(load, partitions)
    memory = _memory(load, machine, item, masters, partitions)
    busiest = max(item.received, item.sent + load.replicas * item.log)
    # Partitions that do not divide evenly leave a part of each master idle.
    uneven = math.ceil(partitions / masters) / partitions * masters if masters <= partitions else 1.0
    return {
        "memory": math.ceil(uneven * memory.total / machine.memory),
        "CPU of one thread": math.ceil(uneven * load.rate * item.server_us / 1e6 / machine.busy),
        "network": math.ceil(uneven * load.rate * busiest / machine.network / machine.busy),
    }


def _memory(load: Load, machine: Machine, item: ItemCost, masters: int, partitions: int) -> Memory:
    each = entry_bytes(load.size, math.ceil(load.waiting / partitions), lean=load.is_lean)
    entries = math.ceil(load.waiting * each)
    held = load.rate * (load.visibility_timeout or 0.0)
    leases = math.ceil(held * (LEASE_BYTES + LEASE_BYTES_BYTE * load.size))
    base = masters * SERVER_BYTES + (load.consumers or 1) * partitions * CONNECTION_BYTES
    used = entries + leases + base
    # A master is read and written at the speed of its disk.
    seconds = used / masters / machine.disk
    replication = masters * REPLICATION_BACKLOG + load.replicas * math.ceil(load.rate * item.log * seconds)
    rewrite = min(used, math.ceil(load.rate * seconds * PAGES_TOUCHED * PAGE_BYTES))
    return Memory(
        entries=entries,
        leases=leases,
        base=base,
        fragmentation=math.ceil((FRAGMENTATION - 1) * used),
        replication=replication if load.replicas else 0,
        rewrite=rewrite,
    )


def _processes(us_a_second: float, machine: Machine) -> int:
    return max(1, math.ceil(us_a_second / 1e6 / machine.busy))


# -- walls -----------------------------------------------------------------------------------------------------------


def _walls(load: Load, machine: Machine, masters: int, partitions: int) -> tuple[Wall, ...]:
    """Each limit as one master and the given processes meet it, the nearest first."""
    found = []
    for name, share in _shares(load, machine).items():
        moved = _movers(load, machine, name, share)
        if share > 1 and name != _CONSUMERS and masters > 1:
            moved.append(f"{masters:,} masters with {partitions:,} partitions")
        found.append(Wall(name=name, share=share, moved_by=tuple(moved)))
    return tuple(sorted(found, key=lambda wall: -wall.share))


def _shares(load: Load, machine: Machine) -> dict[str, float]:
    partitions = load.partitions or 1
    item = item_cost(load, partitions)
    memory = _memory(load, machine, item, 1, partitions)
    busiest = max(item.received, item.sent + load.replicas * item.log)
    return {
        "memory": memory.total / machine.memory,
        "CPU of one thread": load.rate * item.server_us / 1e6 / machine.busy,
        "network": load.rate * busiest / machine.network / machine.busy,
        _CONSUMERS: load.rate * item.consumer_us / 1e6 / machine.busy / (load.consumers or 1),
    }


def _movers(load: Load, machine: Machine, name: str, share: float) -> list[str]:
    """The changes that lower a share by a tenth or more."""
    changes = {}
    if not load.is_lean:
        changes["lean offers"] = attrs.evolve(load, envelope="lean")
    if load.batch == 1:
        changes["calls of 100 values"] = attrs.evolve(load, batch=100)
    if load.replicas and name in ("memory", "network"):
        changes["no replicas"] = attrs.evolve(load, replicas=0)
    moved = []
    for change, other in changes.items():
        lower = _shares(other, machine)[name]
        if lower < 0.9 * share:
            moved.append(f"{change}: {_percent(lower)}")
    if name == _CONSUMERS and share > 1:
        moved.append(f"{math.ceil(share * (load.consumers or 1)):,} processes of consumers")
    return moved


def _percent(share: float) -> str:
    return f"{100 * share:,.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.2g} %"


def _problems(
    load: Load, machine: Machine, masters: int, partitions: int, consumers: int, cpu_of_master: float
) -> tuple[str, ...]:
    found = []
    needed = max(_needs(load, machine, partitions, masters).values())
    if load.partitions is not None and needed > load.partitions:
        alone, more = _spread(attrs.evolve(load, partitions=None), machine)
        found.append(
            f"{load.partitions:,} {'partition does' if load.partitions == 1 else 'partitions do'} not carry the load: "
            f"it needs {alone:,} masters with {more:,} partitions"
        )
    elif partitions > MOST_PARTITIONS or masters > MOST_MASTERS:
        queues = math.ceil(max(partitions / MOST_PARTITIONS, masters / MOST_MASTERS))
        found.append(
            f"a queue has at most {MOST_PARTITIONS:,} partitions, which spread evenly over {MOST_MASTERS} masters: "
            f"split the load over {queues:,} queues, each with masters of its own"
        )
    if load.consumers is not None and load.consumers < consumers:
        found.append(f"{consumers:,} processes of consumers are needed, and there are {load.consumers:,}")
    return tuple(found)
