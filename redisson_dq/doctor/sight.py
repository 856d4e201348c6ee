"""The facts that checks judge by. Each is asked for once, when the first check wants it, and changes nothing.

A fact that Redis refuses raises :class:`CannotRun`, for every check that wants it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeVar

import attrs
from redis import ConnectionPool

from redisson_dq._redis import where
from redisson_dq._shell import command_line
from redisson_dq._sync.client import Client
from redisson_dq._sync.connecting.asking import outcomes, timed
from redisson_dq._times import machine_us
from redisson_dq.codecs.base import Codec
from redisson_dq.doctor.findings import CannotRun, Finding, Severity
from redisson_dq.errors import RedisConnectionError, RedisReplyError, RedissonDQError
from redisson_dq.inspection import QueueInspection
from redisson_dq.requests.inner.inspecting import inspection
from redisson_dq.wire import calls, commands
from redisson_dq.wire.calls import LeaseKeys, Sampled
from redisson_dq.wire.keys import DeadKeys, QueueKeys, map_name
from redisson_dq.wire.names import CHANNELS, KEYS, names_of, unmapping
from redisson_dq.wire.partitions import whole_of
from redisson_dq.wire.request import Request

__all__ = ["ClientRow", "Looked", "Node", "Scanned", "Sight"]

T = TypeVar("T")

# So many keys are looked at in one call of SCAN, some 0.3 ms of Redis, and so many calls are made.
_SCANNED, _MOST_SCANS = 1000, 1000
# So many queues are looked at, and so many entries of each key of a queue.
_MOST_QUEUES, _MOST_ENTRIES = 1000, 400
_SHOWN = 20
# Between the two looks at queues with ready values, in seconds.
_BETWEEN_LOOKS = 0.25
_NAMED = re.compile(r"(?:^|/)redisson-dq/([^/]+)/([^/]+)/([^/]+)(?:/(.*))?$")


@attrs.frozen(kw_only=True)
class Node:
    """One server of the client: the only one, or a master of a cluster."""

    name: str
    pool: ConnectionPool


@attrs.frozen(kw_only=True)
class ClientRow:
    """One row of CLIENT LIST. The last four are known of a connection of this library."""

    fields: dict[str, str]
    version: str | None
    client: str | None
    role: str | None
    queue: str | None

    @property
    def is_ours(self) -> bool:
        """Whether this library made the connection."""
        return self.version is not None

    @property
    def is_blocked(self) -> bool:
        """Whether the connection waits in a blocking command."""
        return "b" in self.fields.get("flags", "")

    @property
    def listens(self) -> bool:
        """Whether the connection has subscribed to a channel."""
        return int(self.fields.get("sub", "0")) + int(self.fields.get("psub", "0")) > 0

    @property
    def command(self) -> str:
        """Its last command."""
        return self.fields.get("cmd", "")


@attrs.frozen(kw_only=True)
class Looked:
    """One queue, or one partition, at one moment. ``name`` is that before the name mapper, ``whole`` the queue's."""

    raw: str
    name: str
    whole: str
    keys: QueueKeys
    figures: QueueInspection
    sampled: Sampled
    subscribers: int | None

    @property
    def now_ms(self) -> int:
        """The server's clock at the look, in epoch ms."""
        return self.sampled.now_us // 1000

    def command(self, words: str, *options: str) -> str:
        """The command of ours about this queue, as a shell takes it."""
        return command_line(words, [self.whole], options)

    def finding(
        self,
        *,
        check: str,
        severity: Severity,
        text: str,
        evidence: Mapping[str, Any],
        shown_by: str,
        commands: tuple[str, ...],
        pick_one: bool = False,
    ) -> Finding:
        """A finding about this queue."""
        return Finding(
            check=check,
            severity=severity,
            text=text,
            queue=self.whole,
            partition=None if self.name == self.whole else self.name,
            evidence=evidence,
            shown_by=shown_by,
            commands=commands,
            pick_one=pick_one,
        )

    def late_s(self) -> float:
        """For how many seconds the first overdue entry has been due."""
        return self.figures.late_by.total_seconds() if self.figures.overdue else 0.0

    def size_of(self, role: str) -> int:
        """The size of one of its keys."""
        return next((key.size for key in self.figures.keys if key.role == role), 0)


@attrs.frozen(kw_only=True)
class Scanned:
    """The raw names of all queues that keys and channels tell of, and the names of the keys."""

    names: frozenset[str]
    left_over: tuple[str, ...]
    is_whole: bool


class Sight:
    """The facts about the servers of one client and some queues, or all queues where none is named."""

    def __init__(self, client: Client, queues: Iterable[str], codec: Codec | None) -> None:
        self.connections = client.runtime.connections
        self.codec = codec
        self.notes: list[str] = []
        self.refused: dict[str, RedissonDQError] = {}
        #: Whether a check has looked at the queues. Set back before each.
        self.has_asked_for_queues = False
        self._options = client.runtime.options
        self._wanted = tuple(queues)
        self._kept: dict[str, Any] = {}

    # -- servers -----------------------------------------------------------------------------------------------------

    @cached_property
    def nodes(self) -> list[Node]:
        """The masters."""
        return [Node(name=where(pool), pool=pool) for pool in self.connections.masters()]

    def ask(self, *words: str | int, node: Node | None = None) -> Any:
        """The reply to a command. Raises CannotRun where the user may not send it, or the server does not know it."""
        request: Request[Any] = Request(words=words, types={"": ""}, parse=lambda reply: reply)
        try:
            return self.connections.run(request, node=None if node is None else node.pool)
        except RedisReplyError as error:
            raise CannotRun(f"Redis refuses {' '.join(map(str, words[:2]))}: {error.__cause__ or error}") from error

    def ask_key(self, command: str, key: str, *words: str | int) -> Any:
        """The reply to a command about a key, from the node that has it. Raises CannotRun as :meth:`ask` does."""
        request: Request[Any] = Request(words=(command, key, *words), types={key: ""}, parse=lambda reply: reply)
        try:
            return self.connections.run(request)
        except RedisReplyError as error:
            raise CannotRun(f"Redis refuses {command} {key}: {error}") from error

    def _once(self, name: str, ask: Callable[[], T]) -> T:
        """Asks at the first call. A fact that could not be had is not asked for again."""
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
        return self._once("infos", lambda: [(node, _fields(self.ask("INFO", node=node))) for node in self.nodes])

    @property
    def clients(self) -> list[ClientRow]:
        """The connections of all nodes but those of this client."""
        return self._once("clients", self._clients)

    def _clients(self) -> list[ClientRow]:
        own = self.connections.client
        rows = [
            _row(dict(pair.partition("=")[::2] for pair in line.split(" ")))
            for node in self.nodes
            for line in self.ask("CLIENT", "LIST", node=node).decode(errors="replace").splitlines()
        ]
        return [row for row in rows if row.client != own]

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
        return self._once("now", lambda: self.connections.run(commands.server_time_us("")) / 1e6)

    def clock_ahead_s(self, node: Node) -> tuple[float, float]:
        """The node's clock less that of this machine, and the time that the question took, both in seconds."""
        server_us, took_us = timed(self.connections, commands.server_time_us(""), node.pool)
        return (server_us - machine_us() + took_us // 2) / 1e6, took_us / 1e6

    # -- queues ------------------------------------------------------------------------------------------------------

    @property
    def scanned(self) -> Scanned:
        """All queues that stand in Redis, by a scan of so many keys at most."""
        return self._once("scanned", self._scan)

    def _scan(self) -> Scanned:
        names: set[str] = set()
        left_over: list[str] = []
        calls_left, is_whole = _MOST_SCANS, True
        for node in self.nodes:
            try:
                names.update(names_of(self.ask("PUBSUB", "CHANNELS", CHANNELS, node=node)))
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
            self.note(f"sampled: {_MOST_SCANS * _SCANNED:,} keys were scanned; name further queues to have them seen")
        return Scanned(names=frozenset(names), left_over=tuple(left_over), is_whole=is_whole)

    def note(self, text: str) -> None:
        """Says once that only a part was looked at."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def is_named(self) -> bool:
        """Whether the caller has named the queues."""
        return bool(self._wanted)

    def name_of(self, raw: str) -> str:
        """The name before the name mapper; the raw name where the mapper does not make it."""
        try:
            return unmapping(self._options.name_mapper)(raw) or raw
        except RedissonDQError:
            return raw

    @property
    def queues(self) -> list[Looked]:
        """The first look at each queue. A queue in partitions has one for each partition.

        Those that Redis refuses are left out, and stand in ``refused``.
        """
        self.has_asked_for_queues = True
        return self._once("queues", lambda: self.look(self._raw_names()))

    def _raw_names(self) -> list[str]:
        mapper = self._options.name_mapper
        if not self._wanted:
            found = sorted(raw for raw in self.scanned.names if mapper is None or self.name_of(raw) != raw)
            if len(found) > _MOST_QUEUES:
                self.note(f"sampled: {_MOST_QUEUES} of {len(found)} queues were looked at; name those that matter")
            return found[:_MOST_QUEUES]
        raws = {map_name(name, mapper): None for name in self._wanted}
        try:
            parts = [raw for raw in sorted(self.scanned.names) if (whole_of(self.name_of(raw), mapper) or ("",))[0]]
        except CannotRun as error:
            self.note(f"partitions are not seen: {error}")
            parts = []
        for raw in parts:
            whole = whole_of(self.name_of(raw), mapper)
            if whole is not None and whole[0] in self._wanted:
                raws[raw] = None
        return list(raws)

    def look(self, raws: list[str]) -> list[Looked]:
        """One look at each of these queues: all figures, some values and entries, the subscribers."""
        mapper = self._options.name_mapper
        all_keys = {raw: QueueKeys.of(raw) for raw in raws}
        requests: list[Request[Any]] = []
        for raw, keys in all_keys.items():
            leases = LeaseKeys(queue=keys, dead=DeadKeys.belonging_to(raw))
            requests += [inspection(self.name_of(raw), leases), calls.sample(keys, _MOST_ENTRIES, _SHOWN)]
        answers = outcomes(self.connections, requests) if requests else []
        heard = self._subscribers(list(all_keys.values())) if self.connections.is_cluster else {}
        made = []
        for (raw, keys), figures, sampled in zip(all_keys.items(), answers[::2], answers[1::2], strict=True):
            name = self.name_of(raw)
            refusal = next((each for each in (figures, sampled) if isinstance(each, RedissonDQError)), None)
            if refusal is not None:
                if len(raws) == 1 or isinstance(refusal, RedisConnectionError):
                    raise refusal
                self.refused[name] = refusal
                continue
            whole = whole_of(name, mapper)
            known = heard.get(keys.channel) if self.connections.is_cluster else figures.subscribers
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
        """Of a cluster: a client subscribes on any node. Replicas may have subscribers that masters do not know."""
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
        """The queues that were asked for, and of those that stand in Redis each whose name is like one of theirs."""
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

    @property
    def looked_again(self) -> dict[str, Looked]:
        """The second look at queues with ready values, by their raw names, some time after the first."""
        return self._once("looked_again", self._look_again)

    def _look_again(self) -> dict[str, Looked]:
        raws = [each.raw for each in self.queues if each.figures.ready]
        if not raws:
            return {}
        self.connections.clock.sleep(_BETWEEN_LOOKS)
        return {each.raw: each for each in self.look(raws)}


def _fields(reply: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in reply.decode(errors="replace").splitlines())
    return {name: value for name, colon, value in pairs if colon}


def _row(fields: dict[str, str]) -> ClientRow:
    met = _NAMED.search(fields.get("name", ""))
    version, client, role, queue = met.groups() if met else (None, None, None, None)
    return ClientRow(fields=fields, version=version, client=client, role=role, queue=queue)
