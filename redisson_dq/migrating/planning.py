"""Reads all items of a queue before a migration: counts them by kind, and finds those that cannot be converted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import attrs

from redisson_dq.migrating.reading import KINDS, SourceReader
from redisson_dq.migrating.recoding import ConversionError, Recoding
from redisson_dq.migrating.sites import QueueSite

__all__ = ["MigrationPlan", "plan"]

# How many reasons are reported.
_REASONS = 10


@attrs.frozen(kw_only=True)
class MigrationPlan:
    """The work of a migration, given the current state of the queues."""

    #: How many items would be moved, by kind.
    counts: dict[str, int]
    #: How many would stay because no codec converts their values, by kind.
    refused: dict[str, int]
    #: The first reasons, and how many values each applies to.
    reasons: dict[str, int]
    #: How many values receivers hold. The migration waits for them.
    in_flight: int
    #: How many batches there are, and about how many seconds they would take, judging by this plan's speed.
    batches: int
    seconds: float


def plan(
    sources: Sequence[QueueSite], recoding: Recoding, *, in_place: bool = False, batch: int = 200
) -> MigrationPlan:
    """Reads every item once, in pages of 500 or 1 MB, and converts its value. It writes nothing."""
    counts, refused, reasons = Counter[str](), Counter[str](), Counter[str]()
    clock = sources[0].queue.servers.clock
    begun_us, in_flight = clock.now_us(), 0
    for site in sources:
        reader = SourceReader(site)
        in_flight += reader.in_flight()
        for kind in ("waiting",) if in_place else KINDS:
            for page in reader.pages(kind):
                for item in page:
                    if in_place and recoding.fits(item):
                        continue
                    try:
                        recoding.value(item)
                    except ConversionError as error:
                        refused[kind] += 1
                        text = f"{kind}: {error}"[:200]
                        if text in reasons or len(reasons) < _REASONS:
                            reasons[text] += 1
                    else:
                        counts[kind] += 1
    batches = sum(-(-count // batch) for count in counts.values())
    # A batch takes about four round trips and scripts for each one of this plan.
    seconds = 4 * (clock.now_us() - begun_us) / 1_000_000
    return MigrationPlan(
        counts=dict(counts),
        refused=dict(refused),
        reasons=dict(reasons),
        in_flight=in_flight,
        batches=batches,
        seconds=round(seconds, 1),
    )
