"""Checks of the fleet: which clients listen, under which names, and which keys former clients have left."""

from __future__ import annotations

from collections.abc import Iterator

from redisson_dq._common.texts import counted
from redisson_dq._operations.shell import command_line
from redisson_dq._version import __version__
from redisson_dq.doctor.facts import Looked
from redisson_dq.doctor.findings import Finding, Severity, redis_cli
from redisson_dq.doctor.flow import alike, is_elsewhere
from redisson_dq.doctor.sight import Sight

__all__ = ["client_versions", "name_mapper", "orphans"]

# Our keys that have no meaning without the keys that hold values, entries or settings.
_SIDE = {
    *("records", "forget", "arrivals", "returned", "leases", "deliveries", "histories", "history_ends", "alarm"),
    *("lines", "turns", "handled", "events", "fence", "dead_info", "dead_index"),
}
_OF_DEAD = {"dead_info", "dead_index"}


def name_mapper(sight: Sight) -> Iterator[Finding]:
    """Producers and consumers use one name: no queue is under another prefix too."""
    for queue in sight.queues:
        certain = is_elsewhere(sight, queue)
        other = certain or alike(sight, queue)
        if other is not None:
            holds = "" if certain else ", which holds items of its own"
            yield queue.finding(
                check="name-mapper",
                severity=Severity.PROBLEM if certain else Severity.WARNING,
                text=f"items are offered to {queue.raw!r}, and clients listen to {other.raw!r}{holds}",
                evidence={
                    "offered_to": queue.raw,
                    "listened_to": other.raw,
                    "waiting": queue.figures.waiting,
                    "ready": queue.figures.ready,
                    "subscribers_of_the_other": other.subscribers,
                },
                shown_by=redis_cli("PUBSUB", "NUMSUB", queue.keys.channel, other.keys.channel),
                commands=(
                    "# set one name mapper in all services, then bring the stranded items over",
                    command_line("migrate", [queue.raw], ["--to-name", other.raw, "--yes"]),
                ),
                others=(other.whole,),
            )


def client_versions(sight: Sight) -> Iterator[Finding]:
    """All connected clients of this library have one version, which knows all forms in Redis."""
    versions: dict[str, set[str]] = {}
    for row in sight.clients:
        if row.version is not None and row.client is not None:
            versions.setdefault(row.version, set()).add(row.client)
    if set(versions) - {__version__}:
        counts = {version: len(clients) for version, clients in sorted(versions.items())}
        redissons = sum(row.listens and not row.is_ours for row in sight.clients)
        yield Finding(
            check="client-versions",
            severity=Severity.WARNING,
            text=f"clients of other versions than {__version__} are connected: {', '.join(versions)}",
            queue=None,
            evidence={"clients": counts, "others_that_listen": redissons},
            shown_by=redis_cli("CLIENT", "LIST"),
            commands=("# deploy one version to all services",),
            others=(),
        )
    for queue in sight.queues:
        figures = queue.figures
        if figures.newer or figures.newer_forms or "newer" in queue.sampled.kinds:
            yield queue.finding(
                check="client-versions",
                severity=Severity.WARNING,
                text="a newer version of this library wrote forms that this one does not know",
                evidence={"newer": figures.newer, "forms": dict(figures.newer_forms)},
                shown_by=redis_cli("ZCARD", queue.keys.newer),
                commands=("# upgrade the clients",),
            )


def orphans(sight: Sight) -> Iterator[Finding]:
    """No keys are left of queues that are gone."""
    there = {queue.whole for queue in sight.queues if _is_there(queue)}
    for queue in sight.queues:
        # The ids of its last items block equal offers for a while; the next client that looks removes them.
        until = queue.figures.remembered_until
        remembers = until is not None and until >= queue.figures.server_time
        # An empty partition is not a lost queue while another partition holds something.
        left = _left_over(queue, is_there=remembers or queue.whole in there)
        if left:
            yield queue.finding(
                check="orphans",
                severity=Severity.WARNING,
                text=counted(len(left), "key is", "keys are") + " left of a queue that is gone",
                evidence={"keys": left},
                shown_by=redis_cli("EXISTS", *left),
                commands=(redis_cli("UNLINK", *left),),
            )
    left_over = sight.scanned.left_over if not sight.is_named else ()
    if left_over:
        yield Finding(
            check="orphans",
            severity=Severity.WARNING,
            text=counted(len(left_over), "key is", "keys are") + " left of a restore that was interrupted",
            queue=None,
            evidence={"keys": list(left_over[:10]), "count": len(left_over)},
            shown_by=redis_cli("EXISTS", *left_over[:10]),
            commands=(redis_cli("UNLINK", *left_over[:10]),),
            others=None,
        )


def _is_there(queue: Looked) -> bool:
    return bool({key.role for key in queue.figures.keys} - _SIDE - {"mover"} or queue.subscribers)


def _left_over(queue: Looked, *, is_there: bool) -> list[str]:
    """Keys that do not expire although their values are gone."""
    roles = {key.role: key for key in queue.figures.keys}
    lasting = {role: key.key for role, key in roles.items() if role in _SIDE and key.expires is None}
    if is_there:
        # Its dead letters may still be gone.
        return [key for role, key in lasting.items() if role in _OF_DEAD and "dead" not in roles]
    return list(lasting.values())
