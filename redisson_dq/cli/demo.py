"""``redisson-dq demo``: offer items with mixed delays, take them as they fall due, show how late each was."""

from __future__ import annotations

import contextlib
import math
import random
import re
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs
import click

from redisson_dq.cli.frame import BoundedNumber

if TYPE_CHECKING:
    from redisson_dq.embedded import EmbeddedServer

__all__ = ["command"]

_SHORTEST, _BULK_WITHIN = 0.2, 3.0  # seconds
_GRACE = 5.0  # seconds after the last due time until an item counts as lost
_LINGER = 0.3  # seconds after the last arrival in which a second one would show


@click.command(help="Offer items with mixed delays, take them as they fall due, and show how late each one was.")
@click.option(
    "--url",
    help="Run on this Redis (redis://, rediss:// or unix://) instead of starting one. Its keys have names of their "
    "own and are deleted at the end.",
)
@click.option(
    "--items", metavar="N", type=BoundedNumber(int, 1, 1_000), default=12, help="Items shown one by one (12)."
)
@click.option(
    "--bulk",
    metavar="N",
    type=BoundedNumber(int, 0, 100_000),
    default=300,
    help="More items, offered in one call (300; 0 for none).",
)
@click.option(
    "--seconds",
    metavar="S",
    type=BoundedNumber(float, 0.001, 3_600, "a number of seconds"),
    default=6.0,
    help="The longest delay (6).",
)
def command(url: str | None, items: int, bulk: int, seconds: float) -> int:
    """Carry out ``demo``: 0 when every item came exactly once and none early."""
    import redis

    from redisson_dq import connect
    from redisson_dq.admin.names import without_password
    from redisson_dq.codecs import StringCodec
    from redisson_dq.embedded import EmbeddedServer

    order = random.Random(7)
    singles = _spread("item", items, min(_SHORTEST, seconds), seconds, order)
    many = _spread("bulk", bulk, min(0.5, seconds / 2), min(_BULK_WITHIN, seconds), order)
    name = f"redisson-dq-demo-{secrets.token_hex(4)}"
    with contextlib.ExitStack() as stack:
        own = stack.enter_context(EmbeddedServer()) if url is None else None
        address = own.url if own is not None else str(url)
        client = stack.enter_context(connect(address, codec=StringCodec()))
        queue = client.blocking_queue(name)
        delayed = client.delayed_queue(queue)
        if own is None:
            stack.callback(queue.delete)
            stack.callback(delayed.delete)
        look = stack.enter_context(redis.Redis.from_url(address, socket_timeout=10))
        shown_url = re.sub(r"(?<=//)\*+@", "", str(without_password(address)))
        ahead_ms, error_ms = _clock(look, shown_url)
        pool = stack.enter_context(ThreadPoolExecutor(1))
        offering = pool.submit(_offer, delayed, singles, many)
        good = _take(queue, singles, many, offering, ahead_ms, error_ms)
        print(*_about(name, own, look, shown_url), sep="\n", flush=True)
    return 0 if good else 1


@attrs.define(eq=False)
class _Item:
    """One item: its delay in seconds. The other times are epoch milliseconds of the server's clock."""

    value: str
    delay: float
    due_ms: float = math.nan
    came_ms: float = math.nan
    times: int = 0

    @property
    def late_ms(self) -> float:
        """Milliseconds from the due time to the arrival; nan until both are known."""
        return self.came_ms - self.due_ms


def _spread(kind: str, count: int, first: float, last: float, order: random.Random) -> list[_Item]:
    """Items with delays from first to last, in another order than they fall due."""
    step, width = (last - first) / max(1, count - 1), max(2, len(str(count)))
    delays = [round(last - step * number, 2) for number in range(count)]
    order.shuffle(delays)
    return [_Item(f"{kind}-{number:0{width}}", delay) for number, delay in enumerate(delays, 1)]


def _clock(look: Any, shown_url: str) -> tuple[float, float]:
    """How many ms the server's clock is ahead of the local counter, and the error: half a round trip."""
    import redis

    from redisson_dq.admin.refusals import translate

    samples = []
    for _ in range(20):
        sent = time.perf_counter()
        try:
            seconds, micros = look.time()
        except redis.RedisError as error:
            raise translate(error, f"Redis at {shown_url}") from error
        received = time.perf_counter()
        samples.append(((received - sent) * 500, seconds * 1000 + micros / 1000 - (sent + received) * 500))
    error_ms, ahead_ms = min(samples)
    return ahead_ms, error_ms


def _offer(delayed: Any, singles: list[_Item], many: list[_Item]) -> None:
    """The producer: its calls return the due times."""
    for item in singles:
        item.due_ms = delayed.offer(item.value, item.delay).due.timestamp() * 1000
    if many:
        delayed.offer_all([(item.value, item.delay) for item in many])
        due = {waiting.value: waiting.due.timestamp() * 1000 for waiting in delayed.items(0, 9_999)}
        for item in many:
            item.due_ms = due.get(item.value, math.nan)


def _take(queue: Any, singles: list[_Item], many: list[_Item], offering: Any, ahead_ms: float, error_ms: float) -> bool:
    """The consumer, which prints each arrival and the outcome. True when every item came once and none early."""
    items = {item.value: item for item in (*singles, *many)}
    missing, foreign, quarters = len(items), 0, 0
    ends = time.monotonic() + max(item.delay for item in items.values()) + _GRACE
    while (left := ends - time.monotonic()) > 0:
        value = queue.poll(timeout=left)
        if value is None:
            break
        now_ms = time.perf_counter() * 1000 + ahead_ms
        item = items.get(value)
        if item is None:
            foreign += 1
            continue
        item.times += 1
        if item.times > 1:
            continue
        missing, item.came_ms = missing - 1, now_ms
        if not missing:
            offering.result()
            ends = time.monotonic() + _LINGER
        if not value.startswith("bulk"):
            print(_line(item.value, f"{item.delay:.2f}", _time(item.due_ms), _time(now_ms), [item]), flush=True)
        elif (quarter := sum(each.times > 0 for each in many) * 4 // len(many)) != quarters:
            quarters, came = quarter, sum(each.times > 0 for each in many)
            delays = [each.delay for each in many]
            within = f"{min(delays):.1f}-{max(delays):.1f}"
            print(_line(f"bulk of {len(many)}", within, "offer_all", f"{came} of {len(many)}", many), flush=True)
    offering.result()
    early = sum(item.late_ms < -error_ms for item in items.values())
    twice = sum(item.times > 1 for item in items.values())
    counts = ((early, "early"), (missing, "lost"), (twice, "twice"))
    found = ", ".join(f"{count or 'none'} {word}" for count, word in counts)
    strange = f", {foreign} that nobody offered" if foreign else ""
    print(f"\n{len(items) - missing} of {len(items)} items taken: {found}{strange}")
    print(f"lateness  {_percentiles(items.values(), 50, 90, 99, 100)} (each +-{_ms(error_ms)})")
    print("          from the due time to the return of poll(), on the server's clock")
    return not (early or missing or twice or foreign)


def _about(name: str, own: EmbeddedServer | None, look: Any, shown_url: str) -> Iterator[str]:
    """The server, and the keys of the queue."""
    import redis

    from redisson_dq.admin.entries import QueueKeys

    keys = QueueKeys.of(name)
    if own is not None:
        origin = own.program.source if own.program.source.startswith("redisson-dq") else own.program.path
        yield f"server    {own.name} {own.version}, started for this demo from {origin}"
    else:
        info: dict[str, str] = {}
        with contextlib.suppress(redis.RedisError):  # the user may not ask
            info = look.info("server")
        version = info.get("valkey_version", info.get("redis_version", ""))
        product = f"{'Valkey' if 'valkey_version' in info else 'Redis'} {version}".strip()
        yield f"server    {product} at {shown_url}"
    yield f"in Redis  ({'gone with the server' if own else 'deleted on exit'})"
    yield f"  {keys.ready}  list: values that are due, for BLPOP"
    yield f"  {keys.timeout}  sorted set: waiting values by due time"
    yield f"  {keys.envelopes}  list: the same in the order of their offers"
    yield f"  {keys.channel}  channel: a new earliest due time"


# -- words and numbers -----------------------------------------------------------------------------------------------


def _line(name: str, delay: str, due: str, arrived: str, items: list[_Item]) -> str:
    late = _ms(items[0].late_ms) if len(items) == 1 else _percentiles(items, 50, 100)
    return f"{name}  delay {delay} s  due {due}  arrived {arrived}  late {late}"


def _time(epoch_ms: float) -> str:
    """``14:03:59.042`` in the local time zone."""
    if math.isnan(epoch_ms):
        return "-"
    whole = math.floor(epoch_ms)
    return f"{datetime.fromtimestamp(whole // 1000):%H:%M:%S}.{whole % 1000:03}"


def _ms(value: float) -> str:
    """``0.84 ms``, ``12.3 ms``, ``250 ms``; ``-`` when unknown."""
    if math.isnan(value):
        return "-"
    return f"{value:.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f} ms"


def _percentiles(items: Any, *percents: int) -> str:
    late = sorted(item.late_ms for item in items if not math.isnan(item.late_ms))
    found = [late[max(0, math.ceil(len(late) * percent / 100) - 1)] if late else math.nan for percent in percents]
    names = ("max" if percent == 100 else f"p{percent}" for percent in percents)
    return ", ".join(f"{name} {_ms(value)}" for name, value in zip(names, found, strict=True))
