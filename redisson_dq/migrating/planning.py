"""Looks at all items of a queue before a migration: how many there are of each kind, and which cannot be converted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import attrs

from redisson_dq.migrating.reading import KINDS, SourceReader
from redisson_dq.migrating.recoding import ConversionError, Recoding
from redisson_dq.migrating.sites import QueueSite

__all__ = ["MigrationPlan", "plan"]

# How many reasons are told.
_REASONS = 10


@attrs.frozen(kw_only=True)
class MigrationPlan:
    """The work of a migration, as the queues are now."""

    #: By kind how many items would be moved.
    counts: dict[str, int]
    #: By kind how many would stay, as no codec converts their values.
    refused: dict[str, int]
    #: The first reasons, and how many values each is about.
    reasons: dict[str, int]
    #: How many values receivers hold. They are waited for.
    in_flight: int
    #: How many batches there are, and for how many seconds they would run at about the pace of this look.
    batches: int
    seconds: float


def plan(
    sources: Sequence[QueueSite], recoding: Recoding, *, in_place: bool = False, batch: int = 200
) -> MigrationPlan:
    """Reads every item once, by pages of 500 or 1 MB, and converts its value. It sends no write."""
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
    # A batch takes some four round trips and scripts where this look has taken one.
    seconds = 4 * (clock.now_us() - begun_us) / 1_000_000
    return MigrationPlan(
        counts=dict(counts),
        refused=dict(refused),
        reasons=dict(reasons),
        in_flight=in_flight,
        batches=batches,
        seconds=round(seconds, 1),
    )
