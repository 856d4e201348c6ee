"""Some values and entries of a queue, with what they show of it, and the notes of its receivers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from redisson_dq.wire.calls.base import call
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["Entry", "Sampled", "SampledEvents", "SampledHolder", "progress", "sample"]


@attrs.frozen(kw_only=True)
class Entry:
    """One entry of the waiting side. ``kind`` is one of ``QueueInspection.entry_kinds``."""

    member: bytes
    due: bytes
    kind: str


@attrs.frozen(kw_only=True)
class SampledHolder:
    """The leases of one holder among those that were looked at. ``client`` is the beginning of its client's name.

    It is in hex, and empty where the ids of leases hold none.
    """

    client: str
    count: int
    since_ms: int
    ids: tuple[bytes, ...]


@attrs.frozen
class SampledEvents:
    """The history of a queue: how many events there are, the times of the oldest and the newest in epoch ms, and of the
    newest ones how many were read and how many of these another program has written.
    """

    count: int
    oldest_ms: int
    newest_ms: int
    read: int
    foreign: int


@attrs.frozen(kw_only=True)
class Sampled:
    """Some values and entries of a queue.

    ``kinds`` counts the entries that were read, by their kinds. ``examples`` has one member of each kind. ``far``
    counts the entries that are due in more than five years, and has the last due time in epoch ms. ``list_alone`` and
    ``zset_alone`` count the entries that are in only one of the two keys, as far as they were read: all of them where
    ``is_whole``. ``held_since_ms`` is when the value was received that is held longest, and ``received_last_ms`` when
    the last one was. ``held_ms`` is the sum of the times since the values were received that ``holders`` have.
    ``failing`` counts the values whose handling has failed twice or more: the values, their failures, those of the one
    that has failed most, and its reason. ``notes`` are those of workers whose handlings have run for a long time
    (``progress.lua``). ``history`` is the setting of the queue's history, empty without one.
    """

    now_us: int
    ready: tuple[bytes, ...]
    entries: tuple[Entry, ...]
    kinds: dict[str, int]
    examples: dict[str, bytes]
    zset_size: int
    list_size: int
    leases: int
    far: tuple[int, float]
    is_whole: bool
    list_alone: int
    zset_alone: int
    alone_in_list: bytes | None
    alone_in_zset: bytes | None
    held_since_ms: int | None
    held_id: bytes | None
    received_last_ms: int | None
    held_ms: int
    failing: tuple[int, int, int, str]
    holders: tuple[SampledHolder, ...]
    notes: tuple[Mapping[str, Any], ...]
    history: bytes
    events: SampledEvents | None

    @property
    def torn(self) -> tuple[int, int]:
        """How many entries are only in the list of envelopes, and how many only in the zset."""
        list_alone, zset_alone = self.list_alone, self.zset_alone
        if not self.is_whole and not {"lean", "newer", "unknown"} & self.kinds.keys():
            # Neither key was read to its end, so their sizes decide.
            difference = self.zset_size - self.leases - self.list_size
            zset_alone = max(zset_alone, difference + list_alone)
            list_alone = max(list_alone, -difference)
        return list_alone, zset_alone


def sample(keys: QueueKeys, most: int, shown: int) -> Request[Sampled]:
    """Some values and entries of a queue, from both ends: ``most`` entries of each key are read, ``shown`` are
    returned.
    """
    return call("sample", keys, (most, shown), _sampled)


def _sampled(reply: list[Any]) -> Sampled:
    now_us, ready, entries, pairs = reply
    figures = [(name.decode(), figure) for name, figure in zip(pairs[::2], pairs[1::2], strict=True)]
    told = dict(figures)
    values, failures, most, reason = told.get("failing", (0, 0, 0, b""))
    rows = zip(entries[::3], entries[1::3], entries[2::3], strict=True)
    return Sampled(
        now_us=now_us,
        ready=tuple(ready),
        entries=tuple(Entry(member=member, due=due, kind=kind.decode()) for member, due, kind in rows),
        kinds={name[5:]: count for name, count in told.items() if name.startswith("kind ")},
        examples={name[8:]: member for name, member in told.items() if name.startswith("example ")},
        zset_size=told["zset"],
        list_size=told["list"],
        leases=told["leases"],
        far=(told["far"][0], float(told["far"][1])) if "far" in told else (0, 0.0),
        is_whole=told["whole"] == 1,
        list_alone=told["list_alone"],
        zset_alone=told["zset_alone"],
        alone_in_list=told.get("alone_in_list"),
        alone_in_zset=told.get("alone_in_zset"),
        held_since_ms=int(told["held_since"]) if "held_since" in told else None,
        held_id=told.get("held_id"),
        received_last_ms=int(told["received_last"]) if "received_last" in told else None,
        held_ms=int(told.get("held_ms", 0)),
        failing=(values, failures, most, reason.decode(errors="replace")),
        holders=tuple(
            SampledHolder(client=client.hex(), count=count, since_ms=int(since), ids=tuple(ids))
            for client, count, since, *ids in (figure for name, figure in figures if name == "holder")
        ),
        notes=tuple(note for name, figure in figures if name == "note" for note in _note(figure)),
        history=told.get("history", b""),
        events=_events(*told["events"]) if "events" in told else None,
    )


def _events(count: int, oldest: bytes, newest: bytes, read: int, foreign: int) -> SampledEvents:
    oldest_ms, newest_ms = (int(each.partition(b"-")[0]) for each in (oldest, newest))
    return SampledEvents(count, oldest_ms, newest_ms, read, foreign)


def _note(text: bytes) -> Iterator[Mapping[str, Any]]:
    """The note, if it is in a known form."""
    try:
        note = json.loads(text)
    except ValueError:
        return
    if isinstance(note, dict) and all(isinstance(note.get(name), (int, float)) for name in ("since_s", "patience_s")):
        yield note


def progress(keys: QueueKeys, client: str, note: str) -> Request[int]:
    """Notes that a client has held values for a long time. Returns how many values wait for a receiver."""
    # Sixteen fields at most, so that notes of clients that died do not add up.
    return call("progress", keys, (f"h{client[:1]}", note), int)
