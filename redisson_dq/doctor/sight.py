"""The facts that checks use. Each is read once, when the first check needs it, and reading changes nothing.

If Redis refuses a fact, every check that needs it gets :class:`CannotRun`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

from redisson_dq import Client
from redisson_dq._common.texts import nearest
from redisson_dq.admin import Admin, Node
from redisson_dq.admin.entries import QueueKeys
from redisson_dq.admin.names import CHANNELS, KEYS, names_of
from redisson_dq.admin.refusals import with_remedy
from redisson_dq.browsing.holders import ClientRow, LeaseHolder, holder_of, rows_in
from redisson_dq.browsing.rows import SeenItem, dead_row
from redisson_dq.codecs.base import Codec
from redisson_dq.doctor.facts import Looked, Scanned
from redisson_dq.doctor.findings import CannotRun
from redisson_dq.errors import RedisConnectionError, RedisReplyError, RedissonDQError
from redisson_dq.observing.server_advice import fields_of, version_of
from redisson_dq.scheduling.times import machine_us

__all__ = ["MOST_NAMED", "TELLS_RIGHTS", "Gone", "Sight"]

T = TypeVar("T")

# How many keys one SCAN call examines, which takes Redis about 0.3 ms, and how many calls are made.
_SCANNED, _MOST_SCANS = 1000, 1000
# How many queues are examined, and how many entries of each key of a queue.
_MOST_QUEUES, _MOST_ENTRIES = 1000, 400
_SHOWN = 20
# How many ready values are checked for being dead letters.
_LETTERS = 20
# How many dead letters are read for their reasons.
_MOST_LETTERS, _LETTER_BYTES = 50, 4096
#: From this version on, a server reports a user's permissions.
TELLS_RIGHTS = (7, 0)
#: How many queues are named in a command.
MOST_NAMED = 5
# The time between the two reads of queues with ready values, in seconds.
_BETWEEN_LOOKS = 0.25


class Gone:
    """The stand-in for a client that has values in flight and is not connected."""


class Sight:
    """The facts about the servers of one client and some queues, or all queues if none is named."""

    def __init__(self, client: Client, queues: Iterable[str], codec: Codec | None) -> None:
        self.client = client
        self.admin = Admin(client)
        self.admin.looks_only()
        self.codec = codec
        self.notes: list[str] = []
        self.refused: dict[str, RedissonDQError] = {}
        #: Whether a check has read the queues. Reset before each check.
        self.has_asked_for_queues = False
        #: The node that was asked last, or None.
        self.asked: Node | None = None
        self._wanted = tuple(queues)
        self._kept: dict[str, Any] = {}

    # -- servers -----------------------------------------------------------------------------------------------------

    @cached_property
    def nodes(self) -> list[Node]:
        """The masters."""
        return self.admin.nodes()

    def ask(self, *words: str | int, node: Node | None = None) -> Any:
        """The reply to a command. Raises CannotRun if the user may not send it, or the server does not know it."""
        self.asked = node
        try:
            return self.admin.command(*words, node=node)
        except RedisReplyError as error:
            raise CannotRun(
                f"Redis refuses {' '.join(map(str, words[:2]))}: {with_remedy(error.__cause__ or error)}"
            ) from error

    def ask_key(self, command: str, key: str, *words: str | int) -> Any:
        """The reply to a command about a key, from the node that has it. Raises CannotRun as :meth:`ask` does."""
        try:
            return self.admin.command_on(key, command, *words)
        except RedisReplyError as error:
            raise CannotRun(f"Redis refuses {command} {key}: {error}") from error

    def missing_rights(self, wanted: Iterable[str], node: Node) -> set[str]:
        """The commands that the user may not send. None if the server does not report it, as before 7.0.

        A command without a key is asked about with the key of a queue. Such a question leaves no entry in ``ACL LOG``.
        """
        try:
            info = next(info for each, info in self.infos if each.name == node.name)
            if version_of(info) < TELLS_RIGHTS:
                return set()
            (missing,) = self.admin.missing_rights([(self._key_of_a_queue(), wanted)], node)
            return set(missing)
        except (CannotRun, RedissonDQError):
            return set()

    def a_key(self) -> str:
        """The ready list of a queue: if the user has permission for any key, then for this one. Raises CannotRun."""
        return self._key_of_a_queue() or "redisson_dq:none"

    def _key_of_a_queue(self) -> str:
        """The ready list of a queue; empty if Redis has none. Raises CannotRun."""
        if self._wanted:
            return self.admin.queue(self._wanted[0]).keys.ready
        raw = min(self.scanned.names, default=None)
        return "" if raw is None else self.admin.queue_of_raw(raw).keys.ready

    def _once(self, name: str, ask: Callable[[], T]) -> T:
        """Reads a fact at the first call. A fact that could not be read is not requested again."""
        if name not in self._kept:
            try:
                self._kept[name] = ask()
            except (CannotRun, RedissonDQError) as error:
                self._kept[name] = error
        kept = self._kept[name]
        if isinstance(kept, Exception):
            raise kept
        return kept  # type: ignore[no-any-return]

    @property
    def infos(self) -> list[tuple[Node, dict[str, str]]]:
        """Each node with the fields of INFO."""
        return self._once("infos", lambda: [(node, fields_of(self.ask("INFO", node=node))) for node in self.nodes])

    @property
    def database(self) -> int:
        """The number of the examined database."""
        return self.admin.database

    @property
    def clients(self) -> list[ClientRow]:
        """The connections of all nodes, except those of this client."""
        return self._once("clients", self._clients)

    def _clients(self) -> list[ClientRow]:
        own = self.admin.id
        rows = [row for node in self.nodes for row in rows_in(self.ask("CLIENT", "LIST", node=node))]
        return [row for row in rows if row.client != own]

    @property
    def has_clients_of_ours(self) -> bool:
        """Whether a client of this library is connected."""
        return any(row.is_ours for row in self.clients)

    def holder_of(self, lease: bytes) -> LeaseHolder | type[Gone] | None:
        """The client that has this lease; :class:`Gone` if it is not connected, None if unknown.

        Without any connected client of this library, nobody can ack a value.
        """
        try:
            found = holder_of(self.clients, lease.hex())
            if found is None:
                return None if self.has_clients_of_ours else Gone
        except CannotRun:
            return None
        return found if found.address else Gone

    @property
    def slow_log(self) -> list[tuple[Node, list[Any]]]:
        """The entries of each node's slow log."""
        return self._once(
            "slow_log",
            lambda: [(node, row) for node in self.nodes for row in self.ask("SLOWLOG", "GET", 128, node=node)],
        )

    @property
    def server_now_s(self) -> float:
        """The clock of the first node, in epoch seconds."""
        return self._once("now", lambda: self.admin.time_us() / 1e6)

    def clock_ahead_s(self, node: Node) -> tuple[float, float]:
        """The node's clock minus this machine's, and the time that the request took, both in seconds."""
        server_us, took_us = self.admin.timed_us(node)
        return (server_us - machine_us() + took_us // 2) / 1e6, took_us / 1e6

    # -- queues ------------------------------------------------------------------------------------------------------

    @property
    def scanned(self) -> Scanned:
        """All queues in Redis, found by a scan of a limited number of keys."""
        return self._once("scanned", self._scan)

    def _scan(self) -> Scanned:
        names: set[str] = set()
        heard: set[str] = set()
        left_over: list[str] = []
        calls_left, is_whole = _MOST_SCANS, True
        for node in self.nodes:
            try:
                heard.update(names_of(self.ask("PUBSUB", "CHANNELS", CHANNELS, node=node)))
            except CannotRun as error:
                self.note(f"queues without keys are not seen: {error}")
            cursor = 0
            while calls_left:
                calls_left -= 1
                next_cursor, found = self.ask("SCAN", cursor, "MATCH", KEYS, "COUNT", _SCANNED, node=node)
                names.update(names_of(found))
                left_over += [key.decode() for key in found if key.startswith(b"redisson_dq_restoring_")]
                cursor = int(next_cursor)
                if not cursor:
                    break
            is_whole = is_whole and not cursor
        if not is_whole:
            self.note(f"sampled: {_MOST_SCANS * _SCANNED:,} keys were scanned; name further queues to check them")
        if heard - names or not names:
            self._note_other_databases(sorted(heard - names))
        return Scanned(names=frozenset(names | heard), left_over=tuple(left_over), is_whole=is_whole)

    def _note_other_databases(self, empty: list[str]) -> None:
        """All databases share the channels: the items of a queue that is open and empty may be in another database."""
        try:
            filled = {name for _, info in self.infos for name in info if name.startswith("db") and name[2:].isdigit()}
        except CannotRun:
            return
        others = ", ".join(sorted(filled - {f"db{self.database}"}))
        if others:
            which = ", ".join(empty[:MOST_NAMED]) or "queues"
            self.note(f"{which}: database {self.database} is empty, and the server has keys in {others}")

    def note(self, text: str) -> None:
        """Notes once that only a part was examined."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def is_named(self) -> bool:
        """Whether the caller has named the queues."""
        return bool(self._wanted)

    def name_of(self, raw: str) -> str:
        """The name before the name mapper; the raw name if the mapper does not produce it."""
        try:
            return self.admin.name(raw) or raw
        except RedissonDQError:
            return raw

    @property
    def queues(self) -> list[Looked]:
        """The first read of each queue. A queue in partitions has one for each partition.

        Queues that Redis refuses are left out, and listed in ``refused``.
        """
        self.has_asked_for_queues = True
        return self._once("queues", self._look_first)

    def _look_first(self) -> list[Looked]:
        looked = self.look(self._raw_names())
        there = {each.whole for each in looked if each.figures.keys or each.subscribers}
        for name in self._wanted:
            if name not in there and name not in self.refused:
                self.note(f"{name}: it has no keys in Redis{self._meant(name)}")
        return looked

    def _meant(self, name: str) -> str:
        try:
            meant = nearest(name, [self.name_of(raw) for raw in self.scanned.names])
        except CannotRun:
            return ""
        return f"; did you mean {meant}?" if meant else ""

    def _raw_names(self) -> list[str]:
        mapper = self.admin.name_mapper
        if not self._wanted:
            found = sorted(raw for raw in self.scanned.names if mapper is None or self.name_of(raw) != raw)
            if len(found) > _MOST_QUEUES:
                self.note(f"sampled: {_MOST_QUEUES} of {len(found)} queues were looked at; name those that matter")
            return found[:_MOST_QUEUES]
        raws = {self.admin.raw(name): None for name in self._wanted}
        try:
            parts = [raw for raw in sorted(self.scanned.names) if (self.admin.whole(self.name_of(raw)) or ("",))[0]]
        except CannotRun as error:
            self.note(f"partitions are not seen: {error}")
            parts = []
        for raw in parts:
            whole = self.admin.whole(self.name_of(raw))
            if whole is not None and whole[0] in self._wanted:
                raws[raw] = None
        return list(raws)

    def look(self, raws: list[str]) -> list[Looked]:
        """Reads each of these queues once: all figures, some values and entries, the subscribers."""
        queues = [self.admin.queue_of_raw(raw) for raw in raws]
        found = self.admin.look(queues, _MOST_ENTRIES, _SHOWN)
        heard = self._subscribers([each.keys for each in queues]) if self.admin.is_cluster else {}
        made = []
        for queue, told in zip(queues, found, strict=True):
            raw, name, keys = queue.raw, queue.name, queue.keys
            if isinstance(told, RedissonDQError):
                if len(raws) == 1 or isinstance(told, RedisConnectionError):
                    raise told
                self.refused[name] = told
                continue
            figures, sampled = told
            whole = self.admin.whole(name)
            known = heard.get(keys.channel) if self.admin.is_cluster else figures.subscribers
            made.append(
                Looked(
                    raw=raw,
                    name=name,
                    whole=name if whole is None else whole[0],
                    keys=keys,
                    figures=figures,
                    sampled=sampled,
                    subscribers=known,
                )
            )
        return made

    def _subscribers(self, keys: list[QueueKeys]) -> dict[str, int | None]:
        """The subscribers on a cluster, where a client may subscribe on any node. Replicas may have subscribers unknown
        to masters.
        """
        sums: dict[str, int] = {each.channel: 0 for each in keys}
        try:
            for node in self.nodes:
                reply = self.ask("PUBSUB", "NUMSUB", *sums, node=node)
                for channel, count in zip(reply[::2], reply[1::2], strict=True):
                    sums[channel.decode()] += count
            have_replicas = any(info.get("connected_slaves", "0") != "0" for _, info in self.infos)
        except CannotRun:
            return {}
        return {channel: None if have_replicas and not count else count for channel, count in sums.items()}

    @property
    def all_looked(self) -> list[Looked]:
        """The requested queues, and all queues in Redis whose names are like theirs."""
        return self._once("all_looked", self._look_at_others)

    def _look_at_others(self) -> list[Looked]:
        looked = self.queues
        seen = {each.raw for each in looked}
        others = [
            raw
            for raw in sorted(self.scanned.names - seen)
            if any(raw.endswith(each.raw) or each.raw.endswith(raw) for each in looked)
        ]
        refused = dict(self.refused)
        looked = [*looked, *self.look(others[:_MOST_QUEUES])]
        self.refused = refused
        return looked

    def letters(self, queue: Looked, *, of_others: bool = False) -> list[SeenItem]:
        """The latest dead letters of this queue, with the first bytes of their values.

        With ``of_others``, the dead letters of other queues that are its ready values.
        """
        first = max(0, (queue.figures.ready if of_others else queue.figures.dead) - _MOST_LETTERS)
        page = self.admin.queue_of_raw(queue.raw, is_letters=of_others).letters(first, _MOST_LETTERS, _LETTER_BYTES)
        now = queue.figures.server_time
        return [dead_row(queue.name, now, first + i, row) for i, row in enumerate(page.rows)]

    def has_letters_alone(self, queue: Looked) -> bool:
        """Whether the first ready values of this queue are all dead letters of other queues."""
        return bool(self.sources_of_letters(queue)) and self._kept[f"letters alone in {queue.raw}"]

    def sources_of_letters(self, queue: Looked) -> list[str]:
        """The queues whose dead letters are the ready values of this one, by their ``dead_letter=``."""
        return self._once(f"letters in {queue.raw}", lambda: self._sources(queue))

    def _sources(self, queue: Looked) -> list[str]:
        if not queue.figures.ready:
            return []
        letters = self.admin.queue_of_raw(queue.raw, is_letters=True).dead_letters(0, _LETTERS - 1)
        raws = sorted({each.source for each in letters} - {"", queue.raw})
        self._kept[f"letters alone in {queue.raw}"] = all(each.source in raws for each in letters)
        return sorted({self.whole_name_of(raw) for raw in raws})

    def whole_name_of(self, raw: str) -> str:
        """The name of a queue by its raw name, or the name of the whole queue if it is a partition."""
        name = self.name_of(raw)
        whole = self.admin.whole(name)
        return name if whole is None else whole[0]

    @property
    def looked_again(self) -> dict[str, Looked]:
        """The second read of queues with ready values, by raw name, some time after the first."""
        return self._once("looked_again", self._look_again)

    def _look_again(self) -> dict[str, Looked]:
        raws = [each.raw for each in self.queues if each.figures.ready or each.figures.arrivals]
        if not raws:
            return {}
        self.admin.clock.sleep(_BETWEEN_LOOKS)
        return {each.raw: each for each in self.look(raws)}
