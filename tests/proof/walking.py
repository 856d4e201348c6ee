"""Walks through all orders of the real scripts: few items, few ticks of the clock, every call at every moment.

Each script is atomic, so concurrent clients only interleave scripts. From each state, every call is made that a client
may make (``queue_model.py``). The scripts are those of the library, in a real Redis; only their ``TIME`` is a number
here. After each call, its answer and the place of each item must be those of the model. The walk continues only once
from states that are equal in Redis and in the model.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import attrs

from redisson_dq.scripts.script import load
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from tests.proof.model import Place
from tests.proof.queue_model import LIMIT, TICK_US, Call, State, beginning, calls, now_of

__all__ = ["Difference", "Walk"]

_KEYS, _DEAD = QueueKeys.of("orders"), DeadKeys.belonging_to("orders")
# Channels, and notes of what others were told last.
_LEFT_OUT = {"channel", "capacity_channel", "mover", "alarm"}
_NAMES = [name for name in (each.name for each in attrs.fields(QueueKeys)) if name not in _LEFT_OUT]
_ALL = [*(getattr(_KEYS, name) for name in _NAMES), _DEAD.dead, _DEAD.dead_info, _DEAD.dead_index]

# Everything that is in the keys: to be read, and to be restored.
_LOOK = """
local out = {}
for i, key in ipairs(KEYS) do
  local kind, told = redis.call('TYPE', key).ok, false
  if kind == 'zset' then
    told = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'list' then
    told = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'hash' then
    told = redis.call('HGETALL', key)
  end
  out[i] = told and {told, redis.call('DUMP', key), kind} or false
end
return out
"""
_DAY_MS = 86_400_000
# So many states share a round trip.
_AT_ONCE = 32
_Content = list[Any]


class Difference(AssertionError):
    """The scripts differ from the model."""


class _Reached(NamedTuple):
    """A state, what is in Redis then, and the calls that have led to it."""

    state: State
    content: _Content
    way: tuple[str, ...]


class Walk:
    """All states that some items reach within some ticks."""

    def __init__(self, admin: Any, items: int, ticks: int) -> None:
        self._admin, self._items, self._ticks = admin, items, ticks
        self._look = admin.script_load(_LOOK)
        self._shas: dict[tuple[str, int], str] = {}
        self.states = 0
        #: How often each call was made.
        self.made: Counter[str] = Counter()

    def run(self) -> None:
        """Raises a Difference where there is one."""
        ahead = deque([_Reached(beginning(self._items), [None] * len(_ALL), ())])
        seen = set()
        while ahead:
            batch: list[_Reached] = []
            while ahead and len(batch) < _AT_ONCE:
                each = ahead.popleft()
                told = (each.state, _canonical(each.content))
                if told not in seen:
                    seen.add(told)
                    batch.append(each)
            self.states += len(batch)
            groups = [(each, together) for each in batch for together in _together(each.state)]
            for (each, together), (answers, content) in zip(groups, self._sent(groups), strict=True):
                ahead.append(self._compared(each, together, answers, content))
            for each in batch:
                if each.state.tick + 1 < self._ticks:
                    later = each.state._replace(tick=each.state.tick + 1)
                    ahead.append(_Reached(later, each.content, (*each.way, "tick")))

    def follow(self, choices: Sequence[int]) -> None:
        """One way instead of all: each number chooses among the calls that can be made then, and a tick."""
        reached = _Reached(beginning(self._items), [None] * len(_ALL), ())
        for choice in choices:
            groups: list[list[Call]] = [*_together(reached.state), []]
            together = groups[choice % len(groups)]
            if together:
                ((answers, content),) = self._sent([(reached, together)])
                reached = self._compared(reached, together, answers, content)
            elif reached.state.tick + 1 < self._ticks:
                later = reached.state._replace(tick=reached.state.tick + 1)
                reached = _Reached(later, reached.content, (*reached.way, "tick"))

    def _compared(self, each: _Reached, together: list[Call], answers: list[Any], content: _Content) -> _Reached:
        way = each.way
        for call, answer in zip(together, answers, strict=True):
            way = (*each.way, f"{call.f} {call.number} {bytes.fromhex(call.receipt)[:-2].decode()}".strip())
            if answer != call.answer:
                raise Difference(f"{' / '.join(way)}: the answer is {answer}, not {call.answer}")
            self.made[call.f] += 1
        if together[0].answer != "lost":
            return _Reached(_checked(together[0], content, way), content, way)
        if _told(content) != _told(each.content):
            raise Difference(f"{' / '.join(way)}: a receipt that is over has changed something")
        return each

    def _sent(self, groups: list[tuple[_Reached, list[Call]]]) -> Iterator[tuple[list[Any], _Content]]:
        """The answers of the calls of each group, made one after the other, and the content after them."""
        pipe = self._admin.pipeline(transaction=False)
        ends = []
        for each, together in groups:
            pipe.flushdb()
            for key, found in zip(_ALL, each.content, strict=True):
                if found:
                    pipe.restore(key, 0, found[1])
            for call in together:
                self._add(pipe, each.state, call)
            pipe.evalsha(self._look, len(_ALL), *_ALL)
            ends.append(len(pipe))
        replies = pipe.execute()
        for (_, together), end in zip(groups, ends, strict=True):
            answers = replies[end - 1 - len(together) : end - 1]
            yield [_answer(call, answer) for call, answer in zip(together, answers, strict=True)], replies[end - 1]

    def _add(self, pipe: Any, state: State, call: Call) -> None:
        if call.f == "take":
            pipe.lpop(_KEYS.ready)
            return
        name, args = _script(call)
        script = load(name)
        # Two entries of one us would have one id.
        now = now_of(state) + (call.number if call.f in ("offer", "reschedule", "nack") else 0)
        sha = self._shas.get((name, now))
        if sha is None:
            seconds, micros = divmod(now, 1_000_000)
            parts = script.source.split("redis.call('TIME')")
            assert len(parts) == 2, f"{name} asks {len(parts) - 1} times for the time"
            sha = self._shas[name, now] = self._admin.script_load(f"{{'{seconds}', '{micros}'}}".join(parts))
        keys = [getattr(_DEAD if key.startswith("dead") else _KEYS, key) for key in script.keys]
        pipe.evalsha(sha, len(keys), *keys, *args, *(["walker"] if script.notes else []))


def _together(state: State) -> list[list[Call]]:
    """The calls of a state. Those with a receipt that is over are together: none of them may change anything."""
    possible = list(calls(state))
    late = [call for call in possible if call.answer == "lost"]
    return [*([late] if late else []), *([call] for call in possible if call.answer != "lost")]


def _script(call: Call) -> tuple[str, tuple[Any, ...]]:
    """The script of a call, and its arguments."""
    receipt, key = bytes.fromhex(call.receipt), b"ireally-%d" % call.number
    arguments: dict[str, tuple[str, tuple[Any, ...]]] = {
        "move": ("transfer", (100, _DAY_MS, "me", "one", 1, "deliver", "")),
        "receive": ("receive", ("current", receipt[:-2], 1, TICK_US, LIMIT, "")),
        "ack": ("ack", ("", receipt)),
        "nack": ("give_back", ("lean", 0, "counted", "", LIMIT, "", "", receipt)),
        "reject": ("reject", ("", "", receipt)),
        "extend": ("extend", (TICK_US, "", receipt)),
        "redrive": ("redrive", ("all", 1000)),
        "cancel": ("cancel", (key, "", "", _DAY_MS)),
        "reschedule": ("reschedule", (key, "", "", TICK_US, _DAY_MS, "lean")),
    }
    if call.f == "offer":
        named = call.number % 2 == 0
        word = TICK_US * (call.number % 2)
        value = b"item-%d" % call.number
        return "offer_item", ("current", word, value, key if named else "", "keep", "", 0, _DAY_MS, "")
    return arguments[call.f]


def _answer(call: Call, reply: Any) -> Any:
    """The part of a reply that the model tells."""
    if call.f in ("move", "take"):
        return None
    if call.f == "redrive":
        return reply[0]
    if load(_script(call)[0]).announces:
        reply = reply[-1]
    if call.f == "receive":
        return reply[1], [id.hex() for id in reply[2][::4]]
    if call.f in ("ack", "nack", "reject", "extend"):
        return reply[-1][0].decode()
    word: bytes = reply if isinstance(reply, bytes) else reply[0]
    return word.decode()


def _checked(call: Call, content: _Content, path: tuple[str, ...]) -> State:
    """The state that the call has led to. Raises where Redis has anything else."""
    state = call.state
    found = dict(zip(_ALL, content, strict=True))

    def of(key: str) -> list[bytes]:
        return found[key][0] if found[key] else []

    entries, leases = of(_KEYS.timeout), set(of(_KEYS.leases)[::2])
    places: dict[bytes, list[tuple[Any, ...]]] = {}
    for member, score in zip(entries[::2], entries[1::2], strict=True):
        id, value = unwrap(member)
        lease = ("leased", int(score), id.hex())
        places.setdefault(value, []).append(lease if id in leases else ("waiting", int(score)))
    for key, kind in ((_KEYS.ready, "ready"), (_KEYS.arrivals, "arrived"), (_DEAD.dead, "dead")):
        for value in of(key):
            places.setdefault(value, []).append((kind,))
    for number, item in enumerate(state.items):
        lease = ("leased", item.until // 1000, item.lease)
        known: dict[Place, tuple[Any, ...]] = {
            Place.WAITING: ("waiting", item.until // 1000),
            Place.READY: ("ready",),
            Place.LEASED: lease,
            Place.VOID: lease,
            Place.DEAD: ("dead",),
        }
        expected = [known[item.place]] if item.place in known else [("ready",)] if number in state.ready else []
        there = places.pop(b"item-%d" % number, [])
        if there != expected:
            raise Difference(f"{' / '.join(path)}: item {number} is {there}, not {expected}")
    if places:
        raise Difference(f"{' / '.join(path)}: nobody has offered {places}")
    ready = tuple(int(value.rpartition(b"-")[2]) for value in of(_KEYS.ready))
    if call.f == "move" and sorted(ready) == sorted(state.ready):
        # Those of one due time have an order of their own.
        state = state._replace(ready=ready)
    if ready != state.ready:
        raise Difference(f"{' / '.join(path)}: ready are {ready}, not {state.ready}")
    return state


def _told(content: _Content) -> list[Any]:
    """The content, where a hash has no order."""
    return [
        found and (dict(zip(found[0][::2], found[0][1::2], strict=True)) if found[2] == b"hash" else found[0])
        for found in content
    ]


def _canonical(content: _Content) -> tuple[Any, ...]:
    """The content without times, and without counts that decide nothing. The model's state has the times that count."""
    told: list[Any] = []
    for key, found in zip(_ALL, content, strict=True):
        if not found:
            told.append(None)
        elif key == _KEYS.histories:
            # A digest, when the value was ready, an id.
            told.append(tuple(sorted((member[:32], member[40:]) for member in found[0][::2])))
        elif found[2] == b"zset":
            told.append(tuple(sorted(found[0][::2])))
        elif found[2] == b"list":
            told.append(tuple(found[0]))
        else:
            # How often a value was delivered, or the state of an item.
            fields = zip(found[0][::2], found[0][1::2], strict=True)
            told.append(tuple(sorted((name, value.partition(b" ")[0]) for name, value in fields)))
    return tuple(told)
