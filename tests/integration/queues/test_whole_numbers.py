"""Whatever a client has learnt, and in any layout of entries: each script runs, and passes only whole numbers to Redis.

A wrapper around each script refuses any other number, even if Redis would accept it.
"""

from __future__ import annotations

import hashlib
import random
import struct
import time
from collections.abc import Callable
from typing import Any

import attrs
import pytest
import redis
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from redisson_dq.calls import walks
from redisson_dq.calls.leases import dead_letters, in_flight
from redisson_dq.errors import EnvelopeError
from redisson_dq.scheduling.hints import Hints
from redisson_dq.wire import calls
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.envelope import Envelope, unwrap, wrap
from redisson_dq.wire.keys import DeadKeys, LeaseKeys
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.request import Request
from tests.conftest import by_night
from tests.integration.conftest import KEYS
from tests.integration.movers import hurried

LEASES = LeaseKeys(queue=KEYS, dead=DeadKeys.belonging_to("orders"))
STRICT = """\
local redis = setmetatable({}, {__index = redis})
for _, name in ipairs({'call', 'pcall'}) do
  local run = getmetatable(redis).__index[name]
  redis[name] = function(...)
    for i = 1, select('#', ...) do
      local word = select(i, ...)
      local number = type(word) == 'number' and word
      if number and (number ~= math.floor(number) or math.abs(number) > 2 ^ 53) or type(word) == 'string'
          and string.find(word, '^%(?%-?%d+%.?%d*e[+-]%d+$') then
        error('no whole number: ' .. word .. ' in ' .. tostring((...)))
      end
    end
    return run(...)
  end
end
"""
PAST, FAR = 1_000_000, 4_000_000_000_000
#: All that Pace can come to.
PACES = sorted({max(1.0, 2.0**up / 1.25**down) for up in range(6) for down in range(17)})
COUNTS = st.sampled_from([1, 2, 16, 17, 99, 100, 101, 333, 1000, 5000, 1_000_000])


def run(admin: redis.Redis, request: Request[Any], change: Callable[[str], str] = str) -> Any:
    """The result of a script, which fails on a number that is not whole."""
    assert request.script is not None
    reply: Any = admin.eval(STRICT + change(request.script.source), *request.words)  # type: ignore[arg-type]
    if request.script.announces:
        refusal, _, _, *result = reply
        assert refusal == b""
        reply = result[0] if result else None
    return request.parse(reply)


def due_of(admin: Any) -> list[bytes]:
    """The entries that are due, in due order."""
    found: list[bytes] = admin.zrange(KEYS.timeout, "-inf", PAST * 2, byscore=True)
    return found


@attrs.frozen(kw_only=True)
class Layout:
    """How entries stand in Redis: how many, of which kinds, in which order, with how large values."""

    seed: int
    count: int
    kinds: list[str]
    order: str
    size: int
    #: How many of them are due.
    due: int
    special: bool

    def write(self, admin: redis.Redis) -> list[bytes]:
        """Puts the entries in. Gives those that are due, in due order."""
        draw = random.Random(self.seed)
        us = time.time_ns() // 1000 - 10_000_000
        members: list[bytes] = []
        listed: list[bytes] = []
        held: dict[bytes, int] = {}
        for number in range(self.count):
            us += draw.choice((0, 1, 4000))
            kind = draw.choice(self.kinds)
            ours = (us << 12 | number % 4096).to_bytes(8, "big")
            value = b"%d" % number + b"." * draw.randrange(self.size + 1)
            member = {
                "ours": lambda: wrap(Envelope.CURRENT, ours, value),  # noqa: B023
                "legacy": lambda: wrap(Envelope.LEGACY, ours, value),  # noqa: B023
                "java": lambda: wrap(Envelope.CURRENT, draw.randbytes(8), value),  # noqa: B023
                "empty": lambda: wrap(Envelope.CURRENT, ours, b""),  # noqa: B023
                "lean": lambda: wrap(Envelope.CURRENT, ours + b"\0", value),  # noqa: B023
                "lease": lambda: wrap(Envelope.CURRENT, ours + b"\0\0", value),  # noqa: B023
                "junk": lambda: b"?" * draw.randrange(1, 12) + b"%d" % number,  # noqa: B023
            }[kind]()
            members.append(member)
            if kind == "lease":
                held[member] = number
            elif kind != "lean":
                listed.append(member)
        members = list(dict.fromkeys(members))
        order = {"in order": members, "reverse": members[::-1], "random": draw.sample(members, len(members))}
        scores: dict[bytes, int] = {}
        for number, each in enumerate(order[self.order]):
            # Some are due at the same time.
            scores[each] = PAST + number // draw.choice((1, 3)) if number < self.due else FAR + number
        if scores:
            admin.zadd(KEYS.timeout, scores)
        for start in range(0, len(listed), 1000):
            admin.rpush(KEYS.envelopes, *dict.fromkeys(listed[start : start + 1000]))
        for each in held:
            admin.zadd(KEYS.leases, {unwrap(each)[0]: scores[each]})
            admin.hset(KEYS.deliveries, unwrap(each)[0], f"1 0 0 5 5 0 0 0 {'0' * 32} 0 ")
        if self.special:
            for each in members[:: max(1, len(members) // 50)]:
                self._record(admin, each, scores[each])
        return due_of(admin)

    def _record(self, admin: redis.Redis, member: bytes, due: int) -> None:
        try:
            id_, _ = unwrap(member)
        except EnvelopeError:
            return
        if len(id_) < 10:
            admin.hset(KEYS.records, b"e" + id_, f"w {due} 0 0 i{due}")
            admin.zadd(KEYS.forget, {id_: due + 1000})


KINDS = ["ours", "java", "legacy", "lean", "lease", "empty", "junk"]
LAYOUTS = st.builds(
    Layout,
    seed=st.integers(0, 1 << 30),
    count=st.sampled_from([0, 1, 2, 17, 100, 101, 300, 1001, 1001, 2500]),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True),
    order=st.sampled_from(["in order", "in order", "reverse", "random"]),
    size=st.sampled_from([0, 0, 10, 5000]),
    due=st.sampled_from([0, 1, 3, 100, 101, 2500, 2500]),
    special=st.booleans(),
)
#: What a mover meets most: many of ours, due as they were offered.
PLAIN = Layout(seed=1, count=1001, kinds=["ours"], order="in order", size=0, due=2500, special=False)


def searched(*examples: dict[str, Any], **drawn: Any) -> Callable[[Callable[..., None]], Any]:
    """A test that is called with the examples, and with few things drawn by day and more by night."""

    def decorate(test: Callable[..., None]) -> Any:
        @pytest.mark.parametrize("searches", [15, by_night(60)])
        def search(admin: redis.Redis, searches: int) -> None:
            def one(**arguments: Any) -> None:
                test(admin, **arguments)

            # By its name the failures of before are found again.
            one.__name__ = test.__name__
            searching = settings(max_examples=searches, deadline=None, suppress_health_check=[HealthCheck.too_slow])(
                given(**drawn)(one)
            )
            for each in reversed(examples):
                searching = example(**each)(searching)
            searching()

        search.__doc__ = test.__doc__
        return search

    return decorate


def value_of(member: bytes) -> bytes | None:
    try:
        return unwrap(member)[1]
    except EnvelopeError:
        return None


def spoilt(hints: bytes, how: str, draw: random.Random) -> bytes:
    """Hints of another client, or of another time."""
    one = list(struct.iter_unpack("<8sI", hints))
    if how == "absent":
        one = [(key, 0xFFFFFFFF) for key, _ in one]
    elif how == "stale":
        one = [(key, max(0, place - draw.randrange(400))) for key, place in one]
    elif how == "beyond":
        one = [(key, 1 << 31) for key, _ in one]
    elif how == "others":
        one = [(draw.randbytes(8), place) for _, place in one]
    elif how == "mixed":
        draw.shuffle(one)
    return b"".join(struct.pack("<8sI", *each) for each in one)


@searched(
    {"layout": PLAIN, "slowness": 1.28, "batch": 5000, "haste": False, "how": "as seen", "role": "one"},
    {"layout": PLAIN, "slowness": 6.4, "batch": 333, "haste": False, "how": "as seen", "role": "one"},
    {"layout": PLAIN, "slowness": 6.4, "batch": 5000, "haste": True, "how": "as seen", "role": "cluster"},
    layout=LAYOUTS,
    slowness=st.sampled_from(PACES),
    batch=COUNTS,
    haste=st.booleans(),
    how=st.sampled_from(["as seen", "absent", "stale", "beyond", "others", "mixed"]),
    role=st.sampled_from(["one", "cluster", "listening"]),
)
def test_a_transfer(
    admin: redis.Redis, layout: Layout, slowness: float, batch: int, haste: bool, how: str, role: str
) -> None:
    admin.flushall()
    due = layout.write(admin)
    all_, hints, draw = admin.zcard(KEYS.timeout), Hints(), random.Random(layout.seed)
    expected = [value for each in due if (value := value_of(each)) is not None]
    aside = since = 0
    # Where each entry needs a pass of its own, these are calls enough.
    for _ in range(1500):
        kind, detail = hints.words()
        if kind == b"deliver" and isinstance(detail, bytes):
            detail = spoilt(detail, how, draw)
        request = calls.transfer(
            KEYS,
            batch,
            60_000,
            "client",
            cluster=role == "cluster",
            listens=role == "listening",
            slowness=slowness,
            step=(kind, detail),
        )
        result = run(admin, request, hurried if haste else str)
        hints.answered(*result.step)
        aside += result.set_aside
        since = 0 if result.moved or result.set_aside else since + 1
        assert since < 300, "it makes no progress"
        ready = admin.lrange(KEYS.ready, 0, -1)
        left = due_of(admin)
        assert ready == expected[: len(ready)]
        assert left == due[len(ready) + aside :]
        if not left and not hints.is_passing:
            assert result.step[0] == b"done"
            break
    assert admin.zcard(KEYS.timeout) == all_ - len(due) + len(left)
    assert aside == admin.llen(KEYS.quarantine)
    assert not left or aside + len(ready) > 3
    gone = set(due) - set(left)
    assert not gone & set(admin.lrange(KEYS.envelopes, 0, -1))


@searched(layout=LAYOUTS, count=COUNTS, offset=st.sampled_from([0, 0, 1, 7, 100, 900]), leases=st.booleans())
def test_taking_what_is_due(admin: redis.Redis, layout: Layout, count: int, offset: int, leases: bool) -> None:
    admin.flushall()
    due = layout.write(admin)
    got: list[bytes] = []
    wanted = calls.DueRange(since_ms=None, until_ms=None, offset=offset, limit=count)
    left = due[offset:]
    for _ in range(len(due) + 2):
        if not admin.zcount(KEYS.timeout, "-inf", PAST * 2) - offset > 0:
            break
        if leases:
            taken = run(admin, LeaseSource(LEASES, Envelope.CURRENT, 60_000_000, 0).lease_due(wanted, 60_000))
            got += [each.data for each in taken.leased]
        else:
            got += run(admin, call("take_due", KEYS, (*wanted.words, 60_000), list))[0]
    assert got == [value for each in left if (value := value_of(each)) is not None]


@searched(layout=LAYOUTS, count=COUNTS, first=st.sampled_from([0, 1, 8, 100, 101, 799, 3000]), part=st.booleans())
def test_looking(admin: redis.Redis, layout: Layout, count: int, first: int, part: bool) -> None:
    admin.flushall()
    layout.write(admin)
    before = admin.zrange(KEYS.timeout, 0, -1, withscores=True), admin.lrange(KEYS.envelopes, 0, -1)
    for by in ("due", "offer"):
        run(admin, call("items", KEYS, (by, first, first + count - 1, "part" if part else ""), list))
    run(admin, in_flight(KEYS, first, first + count - 1))
    run(admin, call("in_flight_size", KEYS, (), int))
    run(admin, call("read_waiting", KEYS, (first, first + count - 1, ""), list))
    run(admin, call("read_waiting", KEYS, (first, -1, ""), list))
    run(admin, LeaseSource(LEASES, Envelope.CURRENT, 60_000_000, 0).peek(count))
    run(admin, call("size", KEYS, (), lambda reply: reply))
    run(admin, call("overdue", KEYS, (), lambda reply: reply))
    run(admin, call("next_due", KEYS, (), lambda reply: reply))
    cursor = b""
    while cursor := run(admin, call("waiting_part", KEYS, (cursor,), list))[0]:
        pass
    assert before == (admin.zrange(KEYS.timeout, 0, -1, withscores=True), admin.lrange(KEYS.envelopes, 0, -1))


@searched(layout=LAYOUTS, count=COUNTS, limit=st.sampled_from([0, 1, 2]), visible=st.sampled_from([1, 1500, 1_234_567]))
def test_receiving_and_dead_letters(admin: redis.Redis, layout: Layout, count: int, limit: int, visible: int) -> None:
    admin.flushall()
    layout.write(admin)
    # A hundred calls are enough.
    values = [b"%d" % number + b"." * layout.size for number in range(min(layout.count, 100 * count))]
    for start in range(0, len(values), 1000):
        admin.rpush(KEYS.ready, *values[start : start + 1000])
    received: list[bytes] = []
    ids: list[bytes] = []
    buried: list[int] = []
    source = LeaseSource(LEASES, Envelope.CURRENT, 60_000_000, limit, tell_buried=buried.append)
    for _ in range(len(values) + 1):
        leased = run(admin, source.receive(count))
        assert not buried
        received += [each.data for each in leased]
        ids += [each.id for each in leased]
        if not leased:
            break
    assert received == values
    for start in range(0, len(ids), 1000):
        some = ids[start : start + 1000]
        run(admin, call("extend", LEASES, (60_000_000 + visible, "", *some), list))
        run(admin, call("reject", LEASES, ("no", "", *some), list))
    assert admin.llen(LEASES.dead.dead) == len(values)
    run(admin, dead_letters(LEASES, 0, count - 1))
    moved = run(admin, call("redrive", LEASES, ("all", count), list))
    assert moved[0] == min(count, len(values))
    run(admin, call("purge_dead", LEASES, ("all", count, 60_000), int))


@searched(layout=LAYOUTS, count=COUNTS, which=st.sampled_from(["first", "all", "others"]))
def test_taking_out(admin: redis.Redis, layout: Layout, count: int, which: str) -> None:
    admin.flushall()
    layout.write(admin)
    members: Any = admin.zrange(KEYS.timeout, 0, -1)
    every = [value for each in members if (value := value_of(each)) is not None]
    cursor = b""
    while cursor := run(admin, walks.remove(KEYS, which, every[::3] or [b"none"], 60_000, cursor)).cursor:
        pass
    run(admin, call("poll", KEYS, (count,), list))


@searched(
    layout=LAYOUTS,
    count=st.integers(1, 1000),
    slots=st.sampled_from([0, 1, 3]),
    tokens=st.sampled_from([0, 1, 3, 7, 999]),
    per_us=st.sampled_from([1, 7, 1_000_000, 3_333_333]),
    size=st.sampled_from([1, 5, 1000]),
    unique_us=st.sampled_from([0, 1, 12_345_678]),
)
def test_admitting(
    admin: redis.Redis, layout: Layout, count: int, slots: int, tokens: int, per_us: int, size: int, unique_us: int
) -> None:
    admin.flushall()
    layout.write(admin)
    values = [b"%d" % (number % 90) for number in range(min(layout.count, 300))]
    if values:
        admin.rpush(KEYS.ready, *values)
    limit = calls.LimitWords(id=b"0" * 16, slots=slots, tokens=tokens, per_us=per_us, size=size)
    digests = dict.fromkeys(values)
    seen = [
        calls.Seen(
            digest=hashlib.sha1(each).hexdigest()[:32],
            key=b"k" * 16 if int(each) % 3 else b"",
            limit=1 if slots or tokens else 0,
            unique=b"u" * 15 + each[-1:] if unique_us else b"",
            unique_us=unique_us,
        )
        for each in digests
    ]
    for _ in range(3):
        run(admin, LeaseSource(LEASES, Envelope.CURRENT, 1_234_567, 3).admit(count, [limit], seen))


def test_the_wrapper_refuses_what_is_not_whole(admin: redis.Redis) -> None:
    for word in ("1.5", "2 ^ 60", "math.huge", "0/0", "'' .. 1e15", "'(' .. 1e15"):
        with pytest.raises(redis.exceptions.ResponseError, match="no whole number"):
            admin.eval(f"{STRICT}return redis.call('ZCOUNT', KEYS[1], 0, {word})", 1, "key")
    assert admin.eval(f"{STRICT}return redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. 7)", 1, "key") == 0
