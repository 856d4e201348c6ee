"""A few due items among very many waiting ones: how long a script call blocks Redis, and when the last item arrives.

The due items are at random positions of the envelope list. The waiting items are written once for each contender.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack

import redis

from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks.drain import AT_ONCE, QUEUE, Drain, contenders, drained, script_ms, short_scripts
from tests.benchmarks.measures import LEAN, REDISSON, SYNC, Run, Spread
from tests.benchmarks.tables import Goal, Table, at_most

__all__ = ["goals", "measure", "random_members", "tables"]

_MILLION = 1_000_000


def measure(run: Run) -> list[Drain]:
    """Every backlog with every contender."""
    sizes, keys, found = run.settings.sizes, QueueKeys.of(QUEUE), []
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(run.server.url))
        stack.callback(admin.flushall)
        for contender in contenders(run, stack):
            for waiting in sizes.waiting:
                admin.flushall()
                contender.write(run.server.url, QUEUE, waiting)
                for repetition in range(run.settings.repeat):
                    run.say(f"{sizes.due:,} due of {waiting:,}, {repetition + 1}: {contender.name}")
                    members = random_members(admin, keys, sizes.due, repetition)
                    # Each repetition has a few less, because they are not put back.
                    one = drained(run, admin, contender, members, waiting=waiting, order=AT_ONCE, repetition=repetition)
                    found.append(one)
    return found


def random_members(admin: redis.Redis, keys: QueueKeys, count: int, seed: int) -> list[bytes]:
    """Members of random ranks, which are at random positions of the list, because due times are random."""
    waiting: int = admin.zcard(keys.timeout)
    with admin.pipeline(transaction=False) as pipeline:
        for rank in random.Random(seed).sample(range(waiting), count):
            pipeline.zrange(keys.timeout, rank, rank)
        return [found[0] for found in pipeline.execute()]


# -- report ----------------------------------------------------------------------------------------------------------


def tables(found: Sequence[Drain]) -> list[Table]:
    """One table, with a row for each backlog and contender."""
    due = max((one.items for one in found), default=0)
    rows = [
        (
            f"{waiting:,}",
            subject,
            script_ms(runs).text(1),
            Spread.of([one.seconds * 1000 for one in runs]).text(1),
            f"{sum(one.early for one in runs)}",
            f"{sum(one.lost for one in runs)}, {sum(one.twice for one in runs)}",
        )
        for (waiting, subject), runs in sorted(_grouped(found).items(), key=lambda case: case[0][0])
    ]
    largest = {f"{size:,}" for size in sorted({one.waiting for one in found})[-2:]}
    return [
        Table(
            chart="few-due",
            brief=[row for row in rows if row[0] in largest],
            title=f"Few due among many: {due:,} due at one moment, at random places",
            header=("waiting", "consumer", "longest script, ms", "last one there after, ms", "early", "lost, twice"),
            rows=rows,
        )
    ]


def _grouped(found: Sequence[Drain]) -> dict[tuple[int, str], list[Drain]]:
    cases: dict[tuple[int, str], list[Drain]] = {}
    for one in found:
        cases.setdefault((one.waiting, one.subject), []).append(one)
    return cases


def goals(found: Sequence[Drain]) -> list[Goal]:
    """The time that 100 due items of a million may block Redis."""
    cases = _grouped(found)
    made = [short_scripts("few due", [one for one in found if one.subject != REDISSON])]
    for subject, limit in ((SYNC, 60.0), (LEAN, 2.0)):
        runs = cases.get((_MILLION, subject))
        text = f"{subject}: longest script at most {limit:g} ms, 100 due of {_MILLION:,}"
        made.append(at_most(text, script_ms(runs) if runs else None, limit, unit="ms"))
    return made
