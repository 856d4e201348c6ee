"""Server memory of each waiting item, by layout: Redisson's, this library's, and lean."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import attrs
import redis

from tests.benchmarks import entries
from tests.benchmarks.measures import DEFAULT, LEAN, REDISSON, SYNC, Run, Spread
from tests.benchmarks.tables import Goal, Table, at_most
from tests.benchmarks.watching import used_memory

__all__ = ["Memory", "goals", "measure", "tables"]

_QUEUE = "benchmark"
_LAYOUTS = {REDISSON: entries.java, SYNC: entries.mirrored, LEAN: entries.lean}


@attrs.frozen(kw_only=True)
class Memory:
    """The memory that items with values of this size add to the server's used memory."""

    layout: str
    items: int
    value_bytes: int
    bytes: int

    @property
    def per_item(self) -> float:
        return self.bytes / self.items


def measure(run: Run) -> list[Memory]:
    """Every layout with every size of values. Measured once, because the result is always the same."""
    sizes, found = run.settings.sizes, []
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(run.server.url))
        stack.callback(admin.flushall)
        for size in sizes.value_bytes:
            for layout, write in _LAYOUTS.items():
                run.say(f"memory, {size} bytes: {layout}")
                # The first script call, connection and buffer are already in the first reading.
                write(run.server.url, _QUEUE, 1, size)
                admin.flushall()
                before = used_memory(admin)
                write(run.server.url, _QUEUE, sizes.stored, size)
                added = used_memory(admin) - before
                found.append(Memory(layout=layout, items=sizes.stored, value_bytes=size, bytes=added))
                admin.flushall()
    return found


# -- report ----------------------------------------------------------------------------------------------------------


def tables(found: Sequence[Memory]) -> list[Table]:
    """One table, with a row for each size and layout."""
    redisson = {one.value_bytes: one.bytes for one in found if one.layout == REDISSON}
    items = max((one.items for one in found), default=0)
    return [
        Table(
            chart="memory",
            title=f"Server memory of each waiting item, {items:,} items",
            header=("bytes of a value", "layout", "bytes an item", "to Redisson's"),
            rows=[
                (
                    f"{one.value_bytes:,}",
                    one.layout,
                    f"{one.per_item:,.0f}",
                    f"{one.bytes / redisson[one.value_bytes]:.2f}",
                )
                for one in found
            ],
        )
    ]


def goals(found: Sequence[Memory]) -> list[Goal]:
    """Never more memory than Redisson."""
    each = {(one.layout, one.value_bytes): one.bytes for one in found}
    made = []
    for layout, limit in ((SYNC, 1.0), (LEAN, 0.55)):
        for size in DEFAULT.value_bytes:
            ours, redisson = each.get((layout, size)), each.get((REDISSON, size))
            # To two digits, because the third one is the allocator's rounding.
            ratio = Spread.of([round(ours / redisson, 2)]) if ours and redisson else None
            text = f"{layout}: server memory of an item of {size:,} bytes at most {limit:g} of Redisson's"
            made.append(at_most(text, ratio, limit))
    return made
