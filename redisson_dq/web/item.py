"""The view of one item: its value as a tree and as bytes, its times, its attempts and their reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import attrs

from redisson_dq import Client
from redisson_dq._common.texts import counted, digits
from redisson_dq.browsing import SeenItem, find_row, recognise
from redisson_dq.errors import ArgumentError, RedisReplyError
from redisson_dq.items import ItemEvent
from redisson_dq.web.actions import ActionChoice
from redisson_dq.web.masks import HIDDEN, Masks
from redisson_dq.web.times import in_words

__all__ = ["MOST_LOOKED", "CodecChoice", "ItemView", "ItemMoment", "ValueNode", "item"]

#: How many bytes of a value are decoded, how many are shown as bytes, and how many parts of its tree are shown.
_HEAD, _BYTES, _MOST_NODES, _LONGEST = 1 << 20, 4096, 2000, 2000
_LONGEST_REASON = 64_000
_MOST_EVENTS = 100
#: A search for one id examines this many entries before the user is asked whether to continue.
MOST_LOOKED = 100_000


@attrs.frozen(kw_only=True)
class ValueNode:
    """One part of a value. ``depth`` counts from 0, and the nodes are in the order of a walk through the tree.

    ``key`` is a field's name, or an index. ``kind`` is ``object``, ``list``, ``text``, ``number``, ``boolean``,
    ``null``, ``hidden`` or ``cut``. ``text`` is the part itself, the class of an object, or the length of a list.
    Numbers have all their digits. ``path`` is its name in a filter. ``is_cut``: the text was longer.
    """

    depth: int
    key: str
    kind: str
    text: str
    path: str
    is_cut: bool = False


@attrs.frozen(kw_only=True)
class ItemMoment:
    """A time in the life of an item: ``label``, the time, and the time relative to now."""

    label: str
    at: datetime
    in_words: str


@attrs.frozen(kw_only=True)
class CodecChoice:
    """A codec that may read the value. ``why`` is the evidence in its bytes, empty for any other codec."""

    name: str
    sure: str
    why: str
    is_current: bool


@attrs.frozen(kw_only=True)
class ItemView:
    """One item, wherever it is now.

    ``state`` is its state, and ``asked_state`` the one in the address. ``nodes`` is the value as a tree. If it could
    not be read, it is empty and ``error`` says why. ``is_cut``: only the beginning of the value was read, or the tree
    has more parts. ``hex_lines`` are rows of an offset, 16 bytes in hex, and their characters; the first 4 KB.
    ``bytes_are_cut``: there are more bytes. ``moments`` are its times, oldest first. ``reason`` is the text of its last
    failure, with the traceback. ``cursor`` is how far its handler has come, as JSON. ``context`` are pairs of the
    offer's context. ``codecs`` are those that can be chosen. ``events`` is its history, if the queue keeps one.
    ``actions`` are those that the user may start on it.
    """

    queue: str
    partition: str
    id: str
    state: str
    asked_state: str
    now: datetime
    events: tuple[ItemEvent, ...]
    is_masked: bool
    due: datetime | None = None
    late_by: timedelta | None = None
    moments: tuple[ItemMoment, ...] = ()
    attempts: int | None = None
    reason: str = ""
    held_by: str = ""
    cursor: str = ""
    source: str = ""
    every: str = ""
    envelope: str = ""
    size: int | None = None
    codec: str = ""
    sure: str = ""
    java_class: str = ""
    error: str = ""
    nodes: tuple[ValueNode, ...] = ()
    is_cut: bool = False
    hex_lines: tuple[tuple[str, str, str], ...] = ()
    bytes_are_cut: bool = False
    context: tuple[tuple[str, str], ...] = ()
    codecs: tuple[CodecChoice, ...] = ()
    actions: tuple[ActionChoice, ...] = ()


def item(
    client: Client,
    queue: str,
    state: str,
    id: str,
    masks: Masks,
    *,
    codec: str = "",
    partitions: int | None = None,
    after: str = "",
) -> ItemView | None:
    """The view, or None if there is no such item. At most 1 MB of the value is read. An item that is gone has a view
    in the state ``gone`` while the queue's history has events of it.

    A search for an id without a record stops after 100,000 entries, and continues from the cursor ``after``. Raises
    TooFar, ArgumentError, RedisConnectionError, RedisReplyError.
    """
    row = find_row(client, queue, id, partitions=partitions, head=_HEAD, most=MOST_LOOKED, after=after or None)
    if row is None:
        return _gone(client, queue, state, id, masks, partitions)
    reader = masks.reader(codec or None)
    row, decoded = masks.seen(row, reader)
    events = masks.seen_events(_events(client, row.queue, row.id, None))
    nodes = [] if decoded.error else list(_limited(decoded.value))
    shown = row.data[:_BYTES]
    return ItemView(
        queue=queue,
        partition=row.queue,
        id=row.id,
        state=row.state,
        asked_state=state,
        now=row.now,
        due=row.due,
        late_by=row.late,
        moments=tuple(_moments(row)),
        attempts=row.attempts,
        reason=row.reason[:_LONGEST_REASON],
        held_by=str(row.holder or ""),
        cursor="" if masks or row.cursor is None else json.dumps(row.cursor, ensure_ascii=False),
        source=row.source,
        every=row.every,
        envelope=row.envelope,
        size=None if masks else row.size,
        codec=decoded.codec,
        sure=str(decoded.sure),
        java_class=decoded.java_class,
        error=decoded.error,
        nodes=tuple(nodes),
        is_cut=not row.is_whole or len(nodes) > _MOST_NODES,
        hex_lines=tuple(_hex_lines(shown)),
        bytes_are_cut=bool(shown) and row.size > len(shown),
        context=tuple(row.context.items()),
        codecs=() if masks else tuple(_codecs(row, decoded.codec)),
        events=tuple(events),
        is_masked=bool(masks),
    )


def _gone(client: Client, queue: str, state: str, id: str, masks: Masks, partitions: int | None) -> ItemView | None:
    """What is known of an item that is in no place of the queue."""
    events = masks.seen_events(_events(client, queue, id, partitions))
    if not events:
        return None
    return ItemView(
        queue=queue,
        partition=queue,
        id=id,
        state="gone",
        asked_state=state,
        now=datetime.now(timezone.utc),
        attempts=max(event.attempt for event in events) or None,
        error="The value is gone.",
        events=tuple(events),
        is_masked=bool(masks),
    )


def _events(client: Client, queue: str, id: str, partitions: int | None) -> list[ItemEvent]:
    try:
        handle = client.delayed_queue(queue, transfer=False, partitions=partitions)
        return handle.history(id, limit=_MOST_EVENTS)
    except (ArgumentError, RedisReplyError):
        # The user lacks the permission, another program wrote it, or the id is the place in a list.
        return []


def _moments(row: SeenItem) -> Iterator[ItemMoment]:
    at = "died" if row.state == "dead" else "received"
    due = "lease ends" if row.state == "in-flight" else "due"
    found = [(label, moment) for label, moment in ((at, row.at), (due, row.due)) if moment is not None]
    for label, moment in sorted(found, key=lambda each: each[1]):
        yield ItemMoment(label=label, at=moment, in_words=in_words(moment, row.now))


def _codecs(row: SeenItem, current: str) -> Iterator[CodecChoice]:
    from redisson_dq import codecs

    found = {each.codec: each for each in recognise(row.data[:65536], is_whole=row.size <= 65536)}
    for name in (*found, *(each for each in codecs.__all__ if each.endswith("Codec") and each not in found)):
        if name == "Codec":
            continue
        known = found.get(name)
        yield CodecChoice(
            name=name,
            sure="" if known is None else known.sure,
            why="" if known is None else known.why,
            is_current=name == current,
        )


# -- trees -----------------------------------------------------------------------------------------------------------


def _limited(value: Any) -> Iterator[ValueNode]:
    for count, node in enumerate(_walk(value, "", "", 0)):
        if count == _MOST_NODES:
            yield ValueNode(depth=0, key="", kind="cut", text="there are more parts", path="")
            return
        yield node


def _walk(value: Any, key: str, path: str, depth: int) -> Iterator[ValueNode]:
    if isinstance(value, Mapping):
        kind = value.get("@class")
        text = kind if isinstance(kind, str) else counted(len(value), "field", "fields")
        yield ValueNode(depth=depth, key=key, kind="object", text=text, path=path)
        for name, part in value.items():
            yield from _walk(part, str(name)[:_LONGEST], f"{path}.{name}" if path else str(name), depth + 1)
    elif isinstance(value, list):
        yield ValueNode(depth=depth, key=key, kind="list", text=counted(len(value), "element", "elements"), path=path)
        for i, part in enumerate(value):
            yield from _walk(part, str(i), f"{path}[{i}]", depth + 1)
    else:
        text, kind = _scalar(value)
        yield ValueNode(depth=depth, key=key, kind=kind, text=text[:_LONGEST], path=path, is_cut=len(text) > _LONGEST)


def _scalar(value: Any) -> tuple[str, str]:
    if value is None:
        return "null", "null"
    if isinstance(value, bool):
        return ("true" if value else "false"), "boolean"
    if isinstance(value, (int, float)):
        return digits(value), "number"
    return str(value), "hidden" if value == HIDDEN else "text"


def _hex_lines(data: bytes) -> Iterator[tuple[str, str, str]]:
    for i in range(0, len(data), 16):
        part = data[i : i + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        yield f"{i:08x}", part.hex(" "), text
