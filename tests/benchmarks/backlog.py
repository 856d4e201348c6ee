"""A few items that fall due while very many others wait: how late they arrive, and how long a script takes.

The waiting items are written once for each contender, due in an hour or more. Then there are three loads: items that
were just offered, old items at random positions of the envelope list one by one, and such items all together.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime, timezone

import attrs
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks import entries
from tests.benchmarks.few_due import random_members
from tests.benchmarks.lateness import put
from tests.benchmarks.measures import JAVA_ENTRIES, LEAN, REDISSON, SYNC, Run, Spread, percentile
from tests.benchmarks.subjects import JavaConsumers, PythonConsumer, Subject
from tests.benchmarks.tables import Goal, Table, at_most
from tests.benchmarks.watching import Watch, eventually, subscribers

__all__ = ["Waiting", "goals", "measure", "tables"]

#: The loads.
FRESH, OLD, TOGETHER = "fresh, within 5 s", "old, one every 20 ms", "old, together"

_QUEUE = "benchmark"
_SEED = 20261124
_SPAN_MS = 5000
_STEP_MS = 20
# The largest backlog for Redisson, which needs seconds for each item with more.
_REDISSON_MOST = 1_000_000
_PATIENCE = 60.0


@attrs.frozen(kw_only=True)
class Waiting:
    """The figures of one load with one contender. ``lateness_us`` is in order of arrival."""

    subject: str
    waiting: int
    load: str
    repetition: int
    items: int
    lateness_us: list[int]
    early: int
    lost: int
    twice: int
    longest_script_us: int


@attrs.frozen(kw_only=True)
class _Contender:
    """The consumer and the kind of entries. ``offer`` offers items at these offsets in ms."""

    name: str
    subject: Subject
    write: Callable[[str, str, int], None]
    offer: Callable[[redis.Redis, str, Sequence[int]], dict[str, int]]


def measure(run: Run) -> list[Waiting]:
    """Every backlog with every contender and load."""
    keys, found = QueueKeys.of(_QUEUE), []
    with ExitStack() as stack:
        admin = stack.enter_context(redis.Redis.from_url(run.server.url))
        stack.callback(admin.flushall)
        for contender in _contenders(run, stack):
            for waiting in run.settings.sizes.backlogs:
                if contender.name == REDISSON and waiting > _REDISSON_MOST:
                    continue
                admin.flushall()
                if waiting:
                    contender.write(run.server.url, _QUEUE, waiting)
                for repetition in range(run.settings.repeat):
                    for load in (FRESH, OLD, TOGETHER) if waiting else (FRESH,):
                        run.say(f"backlog {waiting:,}, {load}, {repetition + 1}: {contender.name}")
                        found.append(_one(run, admin, keys, contender, waiting, load, repetition))
    return found


def _contenders(run: Run, stack: ExitStack) -> list[_Contender]:
    ours = PythonConsumer(SYNC, "sync")
    stack.callback(ours.close)
    found = [
        _Contender(name=SYNC, subject=ours, write=entries.mirrored, offer=_offered(is_lean=False)),
        _Contender(name=LEAN, subject=ours, write=entries.lean, offer=_offered(is_lean=True)),
        _Contender(name=JAVA_ENTRIES, subject=ours, write=entries.java, offer=_put),
    ]
    if run.peer is not None:
        found.append(_Contender(name=REDISSON, subject=JavaConsumers(run.peer), write=entries.java, offer=_put))
    return found


def _offered(*, is_lean: bool) -> Callable[[redis.Redis, str, Sequence[int]], dict[str, int]]:
    def offer(_: redis.Redis, url: str, offsets_ms: Sequence[int]) -> dict[str, int]:
        """One call for each item, like a service."""
        with redisson_dq.connect(url, codec=StringCodec()) as client:
            delayed = client.delayed_queue(_QUEUE, transfer=False, lean=is_lean)
            start_ms = time.time_ns() // 1_000_000 + 500 + len(offsets_ms)
            dues = {f"fresh-{number}": start_ms + offset for number, offset in enumerate(offsets_ms)}
            for value, due_ms in dues.items():
                delayed.offer(value, at=datetime.fromtimestamp(due_ms / 1000, timezone.utc))
        return dues

    return offer


def _put(admin: redis.Redis, _: str, offsets_ms: Sequence[int]) -> dict[str, int]:
    """Writes entries like Redisson."""
    dues = put(admin, QueueKeys.of(_QUEUE), "fresh", offsets_ms, random.Random(_SEED))
    return {f"fresh {number} {due_ms}": due_ms for number, due_ms in enumerate(dues)}


def _one(
    run: Run,
    admin: redis.Redis,
    keys: QueueKeys,
    contender: _Contender,
    waiting: int,
    load: str,
    repetition: int,
) -> Waiting:
    sizes, chance = run.settings.sizes, random.Random(_SEED + repetition)
    items = {FRESH: sizes.fresh, OLD: sizes.old, TOGETHER: sizes.due}[load]
    offsets = [chance.randint(1, _SPAN_MS) for _ in range(items)]
    members = [] if load == FRESH else random_members(admin, keys, items, repetition + 100 * (load == OLD))
    contender.subject.listen(run.server.url, _QUEUE, items, _PATIENCE)
    eventually(lambda: subscribers(admin, keys) == 1, f"{contender.name} did not subscribe", 10_000)
    time.sleep(0.3)
    watch = Watch(admin)
    if load == FRESH:
        dues = contender.offer(admin, run.server.url, offsets)
    else:
        offsets = [number * _STEP_MS * (load == OLD) for number in range(items)]
        start_ms = entries.make_due(admin, keys, members, offsets)
        dues = {
            f"{entries.number_of(member)}": start_ms + offset for member, offset in zip(members, offsets, strict=True)
        }
    arrivals = contender.subject.arrivals()
    watch.end()
    contender.subject.leave()
    eventually(lambda: subscribers(admin, keys) == 0, f"{contender.name} did not leave")
    # entries.py may write numbers with leading zeros.
    late = [(value, at_us - dues[value] * 1000) for value, at_us in arrivals if value in dues]
    return Waiting(
        subject=contender.name,
        waiting=waiting,
        load=load,
        repetition=repetition,
        items=items,
        lateness_us=[us for _, us in late],
        early=sum(us < 0 for _, us in late),
        lost=items - len({value for value, _ in late}),
        twice=len(late) - len({value for value, _ in late}),
        longest_script_us=watch.longest_us,
    )


# -- report ----------------------------------------------------------------------------------------------------------


def tables(found: Sequence[Waiting]) -> list[Table]:
    """One table, with a row for each contender, load and backlog."""
    first = found[0]
    rows = [
        (
            load,
            f"{waiting:,}",
            subject,
            *(_late(runs, share).text(2) for share in (50.0, 99.0, 100.0)),
            _script(runs).text(1),
            f"{sum(one.early for one in runs)}",
            f"{sum(one.lost for one in runs)}, {sum(one.twice for one in runs)}",
        )
        for (load, waiting, subject), runs in sorted(_grouped(found).items(), key=lambda case: case[0][:2])
    ]
    largest = {f"{size:,}" for size in sorted({one.waiting for one in found})[-2:]}
    return [
        Table(
            brief=[row for row in rows if row[1] in largest],
            title=f"Behind a long backlog, in ms: {first.items:,} fresh items, old ones at random places",
            header=("due", "waiting", "consumer", "p50", "p99", "max", "longest script", "early", "lost, twice"),
            rows=rows,
            note="What Redisson had not delivered within a minute counts as lost.",
        )
    ]


def goals(found: Sequence[Waiting]) -> list[Goal]:
    """The goals for mirrored entries."""
    cases = _grouped(found)
    alone = cases.get((FRESH, 0, SYNC))
    limit = 4 * _late(alone, 99.0).median + 2 if alone else 0.0
    made = []
    for waiting, script in ((100_000, 5.0), (1_000_000, 5.0), (10_000_000, 10.0)):
        runs = cases.get((FRESH, waiting, SYNC))
        text = f"{SYNC}: fresh behind {waiting:,}, p99 at most "
        text += "20 ms" if waiting == 10_000_000 else "4 times that of none and 2 ms"
        most = 20.0 if waiting == 10_000_000 else limit
        made.append(at_most(text, _late(runs, 99.0) if runs and alone else None, most, unit="ms"))
        text = f"{SYNC}: fresh behind {waiting:,}, longest script at most {script:g} ms"
        made.append(at_most(text, _script(runs) if runs else None, script, unit="ms"))
    old, together = cases.get((OLD, 1_000_000, SYNC)), cases.get((TOGETHER, 10_000_000, SYNC))
    text = f"{SYNC}: old ones of 1,000,000 one by one, p50 at most 12 ms"
    made.append(at_most(text, _late(old, 50.0) if old else None, 12.0, unit="ms"))
    text = f"{SYNC}: old ones of 10,000,000 together, longest script at most 60 ms"
    made.append(at_most(text, _script(together) if together else None, 60.0, unit="ms"))
    return made


def _grouped(found: Sequence[Waiting]) -> dict[tuple[str, int, str], list[Waiting]]:
    cases: dict[tuple[str, int, str], list[Waiting]] = {}
    for one in found:
        cases.setdefault((one.load, one.waiting, one.subject), []).append(one)
    return cases


def _late(runs: Sequence[Waiting], share: float) -> Spread:
    """In ms."""
    return Spread.of([percentile(one.lateness_us, share) / 1000 for one in runs if one.lateness_us])


def _script(runs: Sequence[Waiting]) -> Spread:
    """In ms."""
    return Spread.of([one.longest_script_us / 1000 for one in runs])
