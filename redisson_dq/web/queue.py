"""The view of one queue: its figures, its timeline, its clients, the forms of its values, its recurring offers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import attrs

from redisson_dq import Client
from redisson_dq.admin import Admin
from redisson_dq.admin.entries import Sampled, unwrap
from redisson_dq.browsing import names_of_parts
from redisson_dq.browsing.holders import ClientRow
from redisson_dq.doctor import Finding, Report
from redisson_dq.doctor.findings import CannotRun
from redisson_dq.doctor.sight import Sight
from redisson_dq.errors import RedissonDQError
from redisson_dq.inspection import QueueInspection
from redisson_dq.scheduling.recurrence import Recurrence
from redisson_dq.scheduling.times import from_ms
from redisson_dq.web.actions import ActionChoice
from redisson_dq.web.deeds.offering import CODECS
from redisson_dq.web.fleet import FleetRow, fleet_row, verdicts
from redisson_dq.web.masks import Masks
from redisson_dq.web.rules import in_words
from redisson_dq.web.seeing import Seeing
from redisson_dq.web.snapshots import SeenQueue
from redisson_dq.web.timeline import TimelineView, timeline

__all__ = ["ConnectedClients", "ConnectedClient", "QueueView", "RecurringView", "Share", "queue"]

_READ, _SHOWN = 400, 20
_RECURRING = 50
_NEXT = 5


@attrs.frozen(kw_only=True)
class ConnectedClient:
    """A connected client that is related to the queue.

    ``language`` is ``Python``, ``Java`` or empty, ``version`` the version of the library, if reported. ``client`` is
    the name of a client of this library, whose ``connections`` are counted; ``roles`` are their purposes. ``is_mover``:
    it moves the queue. ``address`` belongs to the first connection. ``process`` is host and process id, if reported.
    ``title`` is the name that its user gave. ``is_certain``: it certainly uses this queue.
    """

    language: str
    library: str
    version: str
    client: str
    address: str
    roles: tuple[str, ...]
    connections: int
    is_mover: bool
    process: str
    title: str
    is_certain: bool


@attrs.frozen(kw_only=True)
class Share:
    """A form or a codec, and how many of the sampled entries or values have it."""

    name: str
    count: int


@attrs.frozen(kw_only=True)
class RecurringView:
    """A recurring offer. ``words`` describe its rule, ``rule`` is the rule as given; ``next`` has its next five times.
    ``missed`` says how missed occurrences are treated.
    """

    id: str
    rule: str
    words: str
    timezone: str
    missed: str
    next: tuple[datetime, ...]


@attrs.frozen(kw_only=True)
class QueueView:
    """One queue, with its partitions as one.

    ``figures`` has all counts (:class:`redisson_dq.inspection.QueueInspection`). ``row`` is its row in the fleet, with
    the series; None if it is in no snapshot. ``listeners`` are the clients that use it, ``subscribers`` how many would
    move it. ``others`` is how many of these do not use this library, such as Java's. Both are None if unknown.
    ``clients_error`` says why clients cannot be seen. ``forms``, ``codecs`` and ``classes`` are counted in a sample.
    ``recurring`` are the first 50 offers. ``findings`` are the doctor's. ``actions`` are those that the user may start
    on the queue itself: offer, pause, resume. ``codec_names`` are the codecs that an offer may name.
    """

    name: str
    partitions: int | None
    figures: QueueInspection
    row: FleetRow | None
    timeline: TimelineView
    listeners: tuple[ConnectedClient, ...]
    subscribers: int | None
    others: int | None
    clients_error: str
    forms: tuple[Share, ...]
    codecs: tuple[Share, ...]
    classes: tuple[Share, ...]
    recurring: tuple[RecurringView, ...]
    findings: tuple[Finding, ...]
    actions: tuple[ActionChoice, ...]
    codec_names: tuple[str, ...]


class ConnectedClients:
    """The connections of all servers, read at most once in ten seconds, and sooner if a listener is missing."""

    _FRESH = 10.0

    def __init__(self, client: Client) -> None:
        self._client = client
        self._at = float("-inf")
        self._rows: list[ClientRow] = []
        self._error = ""

    def rows(self, listeners: int) -> tuple[list[ClientRow], str]:
        """The connections, or why they cannot be read. ``listeners`` is how many Redis counts for a queue now."""
        now = Admin(self._client).clock.monotonic()
        is_short = listeners > sum(row.listens for row in self._rows)
        if is_short or now - self._at > self._FRESH:
            try:
                found = Sight(self._client, (), None).clients
                # A Sentinel listens to its own channel.
                self._rows = [row for row in found if not row.fields.get("name", "").startswith("sentinel-")]
                self._error = ""
            except CannotRun as error:
                self._rows, self._error = [], str(error)
            self._at = now
        return self._rows, self._error


def queue(
    client: Client,
    name: str,
    masks: Masks,
    clients: ConnectedClients,
    *,
    seen: SeenQueue | None,
    report: Report | None,
    seeing: Seeing,
    partitions: int | None = None,
    from_: str = "",
    to: str = "",
    actions: tuple[ActionChoice, ...] = (),
) -> QueueView:
    """The view. About five round trips. Raises ArgumentError, RedisConnectionError, RedisReplyError."""
    figures = client.inspect(name, partitions=partitions)
    rows, error = clients.rows(figures.subscribers or 0)
    mover = "" if figures.mover is None else figures.mover.client
    names = names_of_parts(client, name, partitions)
    admin = Admin(client)
    raws = set(map(admin.raw, names))
    # The other clients that may listen belong to other queues.
    listeners = tuple(
        each for each in _listeners(rows, raws, mover, figures.subscribers) if seeing.all or each.is_certain
    )
    ours = {row.client for row in rows if row.client and row.listens}
    others = None if figures.subscribers is None or error else max(0, figures.subscribers - len(ours))
    sampled = admin.queue(names[0]).sample(_READ, _SHOWN)
    codecs, classes = _codecs(sampled, masks)
    return QueueView(
        name=name,
        partitions=partitions,
        figures=figures,
        row=None if seen is None or seen.found is None else fleet_row(seen, verdicts(report), figures.server_time),
        timeline=timeline(client, name, partitions, masks, from_, to),
        listeners=listeners,
        subscribers=figures.subscribers,
        others=others,
        clients_error=error,
        forms=_shares(sampled.kinds),
        codecs=codecs,
        classes=classes,
        recurring=tuple(_recurring(client, name, partitions)) if figures.recurring else (),
        findings=tuple(seeing.findings(report, name)),
        actions=actions,
        codec_names=CODECS if actions else (),
    )


# -- clients ---------------------------------------------------------------------------------------------------------


def _listeners(
    rows: Sequence[ClientRow], raws: set[str], mover: str, subscribers: int | None
) -> Iterator[ConnectedClient]:
    """The clients of this library that name the queue, or move it.

    Redis reports how many clients listen to a channel, but not which. So if more of them listen to this queue, every
    client that may do so is included: clients of this library that listen to several queues, and any other listener.
    """
    certain: dict[str, list[ClientRow]] = {}
    possible: dict[str, list[ClientRow]] = {}
    for row in rows:
        if row.is_ours and (row.queue in raws or row.client == mover):
            certain.setdefault(str(row.client), []).append(row)
        elif row.is_ours and row.listens and _names_several(row.queue or ""):
            possible.setdefault(str(row.client), []).append(row)
        elif not row.is_ours and row.listens:
            possible.setdefault(f"{_host(row)} {row.fields.get('lib-name', '')}", []).append(row)
    known = sum(any(row.listens for row in found) for found in certain.values())
    groups = dict(certain)
    if subscribers is None or known < subscribers:
        groups |= {name: found for name, found in possible.items() if name not in certain}
    for name, found in groups.items():
        first = found[0]
        library = first.fields.get("lib-name", "")
        yield ConnectedClient(
            language="Python" if first.is_ours else "Java" if "redisson" in library.lower() else "",
            library="redisson-dq" if first.is_ours else library,
            version=first.version or first.fields.get("lib-ver", ""),
            client=first.client or first.fields.get("name", ""),
            address=first.fields.get("addr", ""),
            roles=tuple(sorted({str(row.role) for row in found if row.role})),
            connections=len(found),
            is_mover=bool(mover) and first.client == mover,
            process=first.process,
            title=first.title,
            is_certain=name in certain,
        )


def _names_several(queue: str) -> bool:
    """Whether a subscription's connection names one queue of several, as in ``orders+2``, or a part of a long name."""
    return queue.endswith("~") or queue.rpartition("+")[2].isdigit()


def _host(row: ClientRow) -> str:
    return row.fields.get("addr", "").rpartition(":")[0]


# -- forms and codecs ------------------------------------------------------------------------------------------------


def _codecs(sampled: Sampled, masks: Masks) -> tuple[tuple[Share, ...], tuple[Share, ...]]:
    reader = masks.reader()
    names: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    for data in (*sampled.ready, *_values(sampled)):
        decoded = reader.read(data)
        names[decoded.codec or "unknown"] += 1
        if decoded.java_class:
            classes[decoded.java_class] += 1
    return _shares(names), _shares(classes)


def _values(sampled: Sampled) -> Iterator[bytes]:
    for entry in sampled.entries:
        try:
            yield unwrap(entry.member)[1]
        except RedissonDQError:
            continue


def _shares(counts: Any) -> tuple[Share, ...]:
    found: Iterable[tuple[str, int]] = Counter(counts).most_common(20)
    return tuple(Share(name=name, count=count) for name, count in found)


# -- recurring offers ------------------------------------------------------------------------------------------------


def _recurring(client: Client, name: str, partitions: int | None) -> Iterator[RecurringView]:
    for part in Admin(client).parts(name, partitions):
        for each in part.recurring(0, _RECURRING - 1):
            rule = Recurrence.checked(part.name, every=each.every, cron=each.cron, timezone=each.timezone)
            yield RecurringView(
                id=each.id,
                rule=str(each.cron or each.every),
                words=in_words(each),
                timezone=each.timezone,
                missed=each.missed,
                next=tuple(_next(rule, round(each.next_due.timestamp() * 1000))),
            )


def _next(rule: Recurrence, due_ms: int) -> Iterator[datetime]:
    at: int | None = due_ms
    for _ in range(_NEXT):
        if at is None:
            return
        yield from_ms(at)
        at = rule.next_ms(at, at)
