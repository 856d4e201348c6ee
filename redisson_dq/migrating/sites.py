"""One queue as a source or target of contents: its keys in the order of an export, read by pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from redisson_dq import Client
from redisson_dq.admin import Admin, AdminQueue, KeyCommand
from redisson_dq.admin.entries import QueueKeys
from redisson_dq.admin.names import MOST_PARTITIONS
from redisson_dq.durability import Durability

__all__ = ["NOTED", "PARTS", "PASSING", "Content", "QueueSite", "sites_of"]

#: One content of a key: an element of a list, (member, score), (field, value), or the value of a string.
Content = tuple[bytes, ...]

#: The keys of a queue in the order in which a file has them, and an import writes them. The list of the waiting entries
#: comes before the zset that lets them become due. Records of an item come before the item. Keys that clients keep only
#: briefly are left out: ``mover``, ``alarm`` and ``fence``.
PARTS: dict[str, str] = {
    "settings": "hash",
    "records": "hash",
    "forget": "zset",
    "recurring": "hash",
    "recurring_due": "zset",
    "leases": "zset",
    "deliveries": "hash",
    "histories": "zset",
    "history_ends": "zset",
    "lines": "zset",
    "turns": "hash",
    "handled": "zset",
    "returned": "zset",
    "quarantine": "list",
    "newer": "zset",
    "undecodable": "list",
    "expired": "list",
    "dead": "list",
    "dead_info": "hash",
    "dead_index": "zset",
    "envelopes": "list",
    "capacity": "string",
    "ready": "list",
    "arrivals": "list",
    "timeout": "zset",
}
#: Contents that only concern the current clients of this queue. They are not copied to another queue.
PASSING = ("returned",)

#: Contents about the capacity of this queue. They are only copied with the part of that name.
NOTED = {("settings", b"capacity"), ("settings", b"short")}

_PAGE = 500
_PAGE_BYTES = 1_000_000


@attrs.frozen(eq=False)
class QueueSite:
    """One queue on one client's server. Each partition is a separate site."""

    queue: AdminQueue

    @classmethod
    def of(cls, client: Client, name: str) -> QueueSite:
        """The queue of that name, before the client's name mapper."""
        return cls(Admin(client).queue(name))

    @property
    def client(self) -> Client:
        """The client that it belongs to."""
        return self.queue.servers.client

    @property
    def name(self) -> str:
        """Its name before the name mapper."""
        return self.queue.name

    @property
    def raw(self) -> str:
        """Its name in Redis."""
        return self.queue.raw

    @property
    def keys(self) -> QueueKeys:
        """The names of its keys."""
        return self.queue.keys

    def key(self, part: str) -> str:
        """The key of a part of the queue."""
        found: str = getattr(self.queue.dead if part.startswith("dead") else self.keys, part)
        return found

    @property
    def types(self) -> dict[str, str]:
        """Every key of the queue with its type, the timeout zset and the list of envelopes first."""
        parts = {"timeout": "zset", "envelopes": "list"} | PARTS | {"migrating": "hash"}
        return {self.key(part): kind for part, kind in parts.items()}

    def ask(self, part: str, *words: Any, durable: Durability | None = None) -> Any:
        """Sends a command on a part of the queue: its name, then the words after the key."""
        return self.queue.command(self.key(part), PARTS.get(part, "hash"), *words, durable=durable)

    def command(self, part: str, *words: Any) -> KeyCommand:
        """A command on a part of the queue, for :meth:`ask_all`."""
        return KeyCommand(self.key(part), PARTS.get(part, "hash"), words)

    def ask_all(self, asked: list[KeyCommand]) -> list[Any]:
        """The replies to commands, in one round trip. Raises the first error."""
        return self.queue.servers.commands_on(asked)

    def scores(self, part: str, members: list[bytes]) -> list[bytes | None]:
        """The score of each member of a sorted set, as Redis writes it."""
        if not members:
            return []
        # In RESP3 the reply to a command has numbers. A page of the script has texts, and the set may be empty.
        found = self.ask(part, "ZMSCORE", *members)
        return [None if score is None else score if isinstance(score, bytes) else _text(score) for score in found]

    def now_ms(self) -> int:
        """The server's clock."""
        return self.queue.time_ms()

    def sizes(self) -> dict[str, int]:
        """How many contents each part has, without empty parts."""
        counts = {"list": "LLEN", "zset": "ZCARD", "hash": "HLEN", "string": "EXISTS"}
        parts = PARTS | {"migrating": "hash"}
        found = self.ask_all([self.command(part, counts[kind]) for part, kind in parts.items()])
        return {part: int(size) for part, size in zip(parts, found, strict=True) if size}

    # -- reading by pages --------------------------------------------------------------------------------------------

    def pages(self, part: str, after: Content | None = None, start: int = 0) -> Iterator[list[Content]]:
        """The contents of a part, about 500 or 1 MB at a time. Each page is one short command.

        ``after`` is the last content already read from a sorted set, ``start`` an index in a list.
        """
        kind = PARTS.get(part, "hash")
        if kind == "list":
            return self._of_list(part, start)
        if kind == "zset":
            return self._of_zset(part, after)
        return self._of_hash(part) if kind == "hash" else self._of_string(part)

    def _of_list(self, part: str, start: int) -> Iterator[list[Content]]:
        count = 1
        while found := self.ask(part, "LRANGE", start, start + count - 1):
            yield [(element,) for element in found]
            start += len(found)
            size = sum(map(len, found)) // len(found) + 1
            count = max(1, min(_PAGE, count * 16, _PAGE_BYTES // size))

    def _of_zset(self, part: str, after: Content | None) -> Iterator[list[Content]]:
        while found := self.queue.scores(self.key(part), (after[0], after[1]) if after else None, _PAGE):
            last = after
            # If the last one is gone, contents with its score are returned again.
            fresh: list[Content] = [
                pair
                for pair in found
                if last is None or pair[1] != last[1] or pair[0] > last[0] or float(pair[1]) > float(last[1])
            ]
            after = found[-1]
            if fresh:
                yield fresh

    def _of_hash(self, part: str) -> Iterator[list[Content]]:
        cursor, seen = 0, set[bytes]()
        while True:
            reply = self.ask(part, "HSCAN", cursor, "COUNT", _PAGE)
            flat = reply[1]
            pairs: list[Content] = list(zip(flat[::2], flat[1::2], strict=True))
            # HSCAN may return a field twice.
            fresh = [pair for pair in pairs if pair[0] not in seen]
            seen.update(pair[0] for pair in fresh)
            if fresh:
                yield fresh
            cursor = int(reply[0])
            if not cursor:
                return

    def _of_string(self, part: str) -> Iterator[list[Content]]:
        value = self.ask(part, "GET")
        if value is not None:
            yield [(value,)]


def sites_of(client: Client, name: str) -> list[QueueSite]:
    """The queue of that name, or all its partitions if it has some and no contents itself.

    SCAN finds the partitions, about 1,000 keys at a time. It searches for the names of their ready lists.
    """
    whole = QueueSite.of(client, name)
    if set(name) & set("{}") or whole.sizes():
        return [whole]
    partitions = [QueueSite(part) for part in Admin(client).parts(name, MOST_PARTITIONS)]
    names = [each.name for each in partitions]
    ready = whole.ask_all([site.command("ready", "EXISTS") for site in partitions])
    numbers = [number for number, is_there in enumerate(ready) if is_there]
    numbers += [names.index(each) for each in client.queue_names(f"{name}:*") if each in names]
    return partitions[: max(numbers) + 1] if numbers else [whole]


def _text(score: float) -> bytes:
    return b"%d" % score if abs(score) < 2**63 and score == int(score) else repr(score).encode()
