"""The calls of the ready side in both languages: Redisson's method, the one of ours that answers to it.

Each case is run on a missing queue, first call to last. ``kinds`` are the kinds of queue it is run on, in Redisson's
names; a bounded queue has a capacity of ``CAPACITY`` by then. What differs by design stands beside its reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from hypothesis import strategies as st

from tests.interop.java_args import (
    collect,
    deque_move,
    duration,
    instant,
    int_,
    long,
    string,
    strings,
    unit,
    values,
)
from tests.interop.parity import QUEUE, Call, Failed, Pair, both, differs, here, redisson, same

__all__ = [
    "CAPACITY",
    "CASES",
    "KINDS",
    "NESTED",
    "OPERATIONS",
    "SECOND",
    "UNREACHABLE",
    "WAITING",
    "WAITING_FROM_ANY",
    "Case",
    "Make",
    "mapped_differences",
]

#: Redisson's kind -> the method of our client that opens it.
KINDS = {"blocking_queue": "blocking_queue", "blocking_deque": "blocking_deque", "bounded": "bounded_blocking_queue"}

CAPACITY = 20

#: Methods that want a function, which cannot cross to Java, and those that make no call to Redis.
UNREACHABLE = {"removeIf", "unsubscribe", "getName", "getCodec"} | {
    f"subscribeOn{end}Elements" for end in ("", "First", "Last")
}

BOUNDED = ("bounded",)
UNBOUNDED = ("blocking_queue", "blocking_deque")
QUEUE_ONLY = ("blocking_queue",)
DEQUE = ("blocking_deque",)
ALL = tuple(KINDS)

NESTED = {"id": 7, "tags": ["é", None, True, 0.5, {"deep": [2**40]}], "empty": {}}
EMPTY = Failed("QueueEmptyError")
FULL = Failed("QueueFullError")
REFUSED = Failed("ArgumentError")
REPLIED = Failed("RedisReplyError")

SECOND = (long(1), unit("SECONDS"))
SECONDS = (long(30), unit("SECONDS"))

EARLIER, SOON, LATER = (datetime(year, 1, 1, tzinfo=timezone.utc) for year in (2099, 2100, 2101))

# Redisson's void where ours tells something it knows anyway.
VOID = "Redisson's method is void"
NO_END = "-1 or -2 there, None here"


@dataclass(frozen=True)
class Case:
    """Calls one after the other. ``mapped`` tells whether they are the same under a name mapper."""

    name: str
    kinds: tuple[str, ...]
    pairs: tuple[Pair, ...]
    mapped: bool = True

    def __init__(self, name: str, kinds: tuple[str, ...], *pairs: Pair, mapped: bool = True) -> None:
        for field, value in (("name", name), ("kinds", kinds), ("pairs", pairs), ("mapped", mapped)):
            object.__setattr__(self, field, value)


def seeded(*items: object) -> Pair:
    return same(redisson.addAll(values(items)), here.add_all(list(items)))


def left(*items: object) -> Pair:
    """The contents at the end."""
    return both(redisson.readAll(), here.read_all(), list(items))


ADDING = (
    Case(
        "add",
        ALL,
        same(redisson.add("a"), here.add("a")),
        same(redisson.add(NESTED), here.add(NESTED)),
        same(redisson.offer("a"), here.offer("a")),
        same(redisson.offer(5, *SECOND), here.offer(5, timeout=1)),
        same(redisson.put(["x", ["y"]]), here.put(["x", ["y"]])),
        same(redisson.addAll(values(["b", "a", 2**40, True, -1.5])), here.add_all(["b", "a", 2**40, True, -1.5])),
        same(redisson.add(""), here.add("")),
        same(redisson.size(), here.size()),
        left("a", NESTED, "a", 5, ["x", ["y"]], "b", "a", 2**40, True, -1.5, ""),
    ),
    Case(
        "add nothing",
        ALL,
        same(redisson.addAll(values([])), here.add_all([])),
        left(),
    ),
    Case(
        "add at both ends",
        DEQUE,
        differs(VOID, redisson.addFirst("b"), None, here.add_first("b"), 1),
        differs(VOID, redisson.addLast(NESTED), None, here.add_last(NESTED), 2),
        same(redisson.addFirst(values(["a", "z"])), here.add_first("a", "z")),
        same(redisson.addLast(values([1, 2])), here.add_last(1, 2)),
        same(redisson.addFirstIfExists(values(["f", "g"])), here.add_first_if_exists("f", "g")),
        same(redisson.addLastIfExists(values([3, 4])), here.add_last_if_exists(3, 4)),
        same(redisson.offerFirst("o"), here.offer_first("o")),
        same(redisson.offerLast("p"), here.offer_last("p")),
        same(redisson.putFirst("q"), here.put_first("q")),
        same(redisson.putLast("r"), here.put_last("r")),
        same(redisson.push("s"), here.push("s")),
        left("s", "q", "o", "g", "f", "z", "a", "b", NESTED, 1, 2, 3, 4, "p", "r"),
    ),
    Case(
        "offer at both ends within a time",
        DEQUE,
        same(redisson.offerFirst("a", *SECOND), here.offer_first("a")),
        same(redisson.offerLast("b", *SECOND), here.offer_last("b")),
        left("a", "b"),
    ),
    Case(
        "add where there is something",
        DEQUE,
        same(redisson.addFirstIfExists(values(["a"])), here.add_first_if_exists("a")),
        same(redisson.addLastIfExists(values(["a"])), here.add_last_if_exists("a")),
        left(),
    ),
)

TAKING = (
    Case(
        "poll one",
        ALL,
        seeded(NESTED, "a"),
        same(redisson.poll(), here.poll()),
        same(redisson.poll(), here.poll()),
        same(redisson.poll(), here.poll()),
        same(redisson.poll(int_(3)), here.poll(limit=3)),
    ),
    Case(
        "poll many",
        UNBOUNDED,
        seeded(NESTED, "a", "a", 1, 2, 3),
        same(redisson.poll(), here.poll()),
        same(redisson.poll(int_(3)), here.poll(limit=3)),
        same(redisson.poll(int_(99)), here.poll(limit=99)),
        same(redisson.poll(), here.poll()),
        same(redisson.poll(int_(3)), here.poll(limit=3)),
        left(),
    ),
    Case(
        "poll no value",
        ALL,
        seeded("a"),
        differs("a limit below 1 is a mistake here", redisson.poll(int_(0)), [], here.poll(limit=0), REFUSED),
        differs("a limit below 1 is a mistake here", redisson.poll(int_(-1)), [], here.poll(limit=-1), REFUSED),
        left("a"),
    ),
    Case(
        "the head",
        ALL,
        same(redisson.peek(), here.peek()),
        both(redisson.element(), here.element(), EMPTY),
        both(redisson.remove(), here.remove_head(), EMPTY),
        seeded("a", "b"),
        same(redisson.peek(), here.peek()),
        same(redisson.element(), here.element()),
        same(redisson.remove(), here.remove_head()),
        left("b"),
    ),
    Case(
        "drain",
        ALL,
        same(redisson.drainTo(collect()), here.drain_to()),
        same(redisson.drainTo(collect(), int_(2)), here.drain_to(2)),
        seeded(*range(9), NESTED),
        same(redisson.drainTo(collect(), int_(4)), here.drain_to(4)),
        differs(
            "a limit below 1 is a mistake here", redisson.drainTo(collect(), int_(0)), [], here.drain_to(0), REFUSED
        ),
        same(redisson.drainTo(collect()), here.drain_to()),
        seeded("a"),
        same(redisson.drainTo(collect(), int_(9)), here.drain_to(9)),
    ),
    Case(
        "wait where there is something",
        ALL,
        seeded(NESTED, "a", "b", "c"),
        same(redisson.take(), here.take()),
        same(redisson.poll(*SECONDS), here.poll(timeout=30)),
        same(redisson.takeLastAndOfferFirstTo(string(QUEUE + "-b")), here.take_last_and_offer_first_to(QUEUE + "-b")),
        same(
            redisson.pollLastAndOfferFirstTo(string(QUEUE + "-b"), *SECONDS),
            here.poll_last_and_offer_first_to(QUEUE + "-b", timeout=30),
        ),
        left(),
    ),
    Case(
        "both ends",
        DEQUE,
        *(
            same(call, ours)
            for _ in range(2)
            for call, ours in (
                (redisson.peekFirst(), here.peek_first()),
                (redisson.peekLast(), here.peek_last()),
                (redisson.getFirst(), here.get_first()),
                (redisson.getLast(), here.get_last()),
                (redisson.pollFirst(), here.poll_first()),
                (redisson.pollLast(), here.poll_last()),
                (redisson.removeFirst(), here.remove_first()),
                (redisson.removeLast(), here.remove_last()),
                (redisson.pop(), here.pop()),
                (redisson.pollFirst(int_(2)), here.poll_first(limit=2)),
                (redisson.pollLast(int_(2)), here.poll_last(limit=2)),
                (redisson.addAll(values([*range(11), NESTED])), here.add_all([*range(11), NESTED])),
            )
        ),
        same(redisson.pollLast(int_(99)), here.poll_last(limit=99)),
        left(),
    ),
    Case(
        "wait at both ends where there is something",
        DEQUE,
        seeded(NESTED, *range(8)),
        same(redisson.takeFirst(), here.take_first()),
        same(redisson.takeLast(), here.take_last()),
        same(redisson.pollFirst(*SECONDS), here.poll_first(timeout=30)),
        same(redisson.pollLast(*SECONDS), here.poll_last(timeout=30)),
        same(redisson.pollFirstFromAny(*SECONDS, strings()), here.poll_first_from_any(timeout=30)),
        same(
            redisson.pollLastFromAny(*SECONDS, strings(QUEUE + "-b")), here.poll_last_from_any(QUEUE + "-b", timeout=30)
        ),
        left(2, 3, 4),
    ),
)


def _elsewhere(*pairs: Pair) -> tuple[Pair, ...]:
    """The numbers 1 and 2 are in the queue ``-b`` and 3 in ``-c``; then the calls; the queue itself is empty."""
    b, c = QUEUE + "-b", QUEUE + "-c"
    moved = [
        same(
            redisson.pollLastAndOfferFirstTo(string(other), *SECONDS),
            here.poll_last_and_offer_first_to(other, timeout=30),
        )
        for other in (c, b, b)
    ]
    return (seeded(1, 2, 3), *moved, *pairs)


_B_C = (QUEUE + "-b", QUEUE + "-c")
_ANY = (*SECONDS, strings(*_B_C))
_ANY_NAMED = (duration(30), strings(*_B_C))

BETWEEN = (
    Case(
        "poll from any",
        QUEUE_ONLY,
        *_elsewhere(
            same(redisson.pollFromAny(*_ANY), here.poll_from_any(*_B_C, timeout=30)),
            same(redisson.pollFromAny(*_ANY), here.poll_from_any(*_B_C, timeout=30)),
            seeded("a", NESTED),
            same(redisson.pollFromAny(*_ANY), here.poll_from_any(*_B_C, timeout=30)),
            left(NESTED),
        ),
    ),
    Case(
        "poll from any and tell which",
        UNBOUNDED,
        *_elsewhere(
            same(redisson.pollFromAnyWithName(*_ANY_NAMED), here.poll_from_any_with_name(*_B_C, timeout=30)),
            seeded("a", NESTED, "c"),
            same(redisson.pollFromAnyWithName(*_ANY_NAMED), here.poll_from_any_with_name(*_B_C, timeout=30)),
            same(redisson.pollLastFromAnyWithName(*_ANY_NAMED), here.poll_last_from_any_with_name(*_B_C, timeout=30)),
            left(NESTED),
        ),
        mapped=False,
    ),
    Case(
        "poll the last from any and tell which",
        UNBOUNDED,
        *_elsewhere(
            same(redisson.pollLastFromAnyWithName(*_ANY_NAMED), here.poll_last_from_any_with_name(*_B_C, timeout=30)),
            same(redisson.pollLastFromAnyWithName(*_ANY_NAMED), here.poll_last_from_any_with_name(*_B_C, timeout=30)),
            same(redisson.pollLastFromAnyWithName(*_ANY_NAMED), here.poll_last_from_any_with_name(*_B_C, timeout=30)),
        ),
        mapped=False,
    ),
    Case(
        "poll from any at both ends",
        DEQUE,
        *_elsewhere(
            same(redisson.pollLastFromAny(*_ANY), here.poll_last_from_any(*_B_C, timeout=30)),
            same(redisson.pollLastFromAny(*_ANY), here.poll_last_from_any(*_B_C, timeout=30)),
            differs(
                "the deque of Redisson forgets the other names",
                redisson.pollFromAny(*SECOND, strings(*_B_C)),
                None,
                here.poll_from_any(*_B_C, timeout=1),
                3,
                same_state=False,
            ),
        ),
    ),
    Case(
        "poll the first from any",
        DEQUE,
        *_elsewhere(
            seeded("a", "b"),
            same(redisson.pollFirstFromAny(*_ANY), here.poll_first_from_any(*_B_C, timeout=30)),
            same(redisson.pollFromAny(*_ANY), here.poll_from_any(*_B_C, timeout=30)),
            differs(
                "the deque of Redisson forgets the other names",
                redisson.pollFirstFromAny(*SECOND, strings(*_B_C)),
                None,
                here.poll_first_from_any(*_B_C, timeout=1),
                1,
                same_state=False,
            ),
        ),
    ),
    Case(
        "poll the last and offer it",
        UNBOUNDED,
        same(redisson.pollLastAndOfferFirstTo(string(QUEUE + "-b")), here.poll_last_and_offer_first_to(QUEUE + "-b")),
        seeded(NESTED, 2, 2, 3),
        *(
            same(redisson.pollLastAndOfferFirstTo(string(name)), here.poll_last_and_offer_first_to(name))
            for name in (QUEUE + "-b", QUEUE + "-b", QUEUE, QUEUE + "-é")
        ),
        left(2),
        mapped=False,
    ),
    Case(
        "move",
        DEQUE,
        same(redisson.move(deque_move("first", "last", QUEUE + "-b")), here.move(QUEUE + "-b")),
        seeded(NESTED, *range(10)),
        *(
            pair
            for start in ("first", "last")
            for end in ("first", "last")
            for pair in (
                same(
                    redisson.move(deque_move(start, end, QUEUE + "-b")),
                    here.move(QUEUE + "-b", from_end=start, to_end=end),
                ),
                same(
                    redisson.move(duration(30), deque_move(start, end, QUEUE + "-b")),
                    here.move(QUEUE + "-b", from_end=start, to_end=end, timeout=30),
                ),
                same(
                    redisson.move(deque_move(start, end, QUEUE)),
                    here.move(QUEUE, from_end=start, to_end=end),
                ),
            )
        ),
        mapped=False,
    ),
)

LOOKING = (
    Case(
        "exists",
        UNBOUNDED,
        same(redisson.isExists(), here.exists()),
        same(redisson.touch(), here.touch()),
        seeded("a"),
        same(redisson.isExists(), here.exists()),
        same(redisson.touch(), here.touch()),
    ),
    Case(
        "look",
        ALL,
        *(
            same(call, ours)
            for _ in range(2)
            for call, ours in (
                (redisson.size(), here.size()),
                (redisson.isEmpty(), here.is_empty()),
                (redisson.readAll(), here.read_all()),
                (redisson.contains(NESTED), here.contains(NESTED)),
                (redisson.contains("none"), here.contains("none")),
                (redisson.containsAll(values([2, "a"])), here.contains_all([2, "a"])),
                (redisson.containsAll(values(["a", "none"])), here.contains_all(["a", "none"])),
                (redisson.containsAll(values(["a", "a", "a"])), here.contains_all(["a", "a", "a"])),
                (redisson.containsAll(values([])), here.contains_all([])),
                (redisson.indexOf("a"), here.index_of("a")),
                (redisson.indexOf(NESTED), here.index_of(NESTED)),
                (redisson.indexOf("none"), here.index_of("none")),
                (redisson.iterator(), here.__iter__()),
                (redisson.sizeInMemory(), here.size_in_memory()),
                (redisson.addAll(values(["b", "a", 2, "a", NESTED])), here.add_all(["b", "a", 2, "a", NESTED])),
            )
        ),
    ),
    Case(
        "iterate over pages",
        UNBOUNDED,
        seeded(*range(250)),
        same(redisson.iterator(), here.__iter__()),
        same(redisson.sizeInMemory(), here.size_in_memory()),
    ),
    Case(
        "iterate backwards",
        DEQUE,
        same(redisson.descendingIterator(), here.descending()),
        seeded(*range(250), NESTED, "a", "a"),
        same(redisson.descendingIterator(), here.descending()),
    ),
)

REMOVING = (
    Case(
        "remove",
        UNBOUNDED,
        same(redisson.remove("a"), here.remove("a")),
        seeded("a", NESTED, "a", 1, "a"),
        same(redisson.remove("a"), here.remove("a")),
        same(redisson.remove(NESTED), here.remove(NESTED)),
        same(redisson.remove(NESTED), here.remove(NESTED)),
        left("a", 1, "a"),
    ),
    Case(
        "remove all",
        UNBOUNDED,
        same(redisson.removeAll(values(["a"])), here.remove_all(["a"])),
        seeded("a", NESTED, "b", 1, 2),
        same(redisson.removeAll(values([])), here.remove_all([])),
        same(redisson.removeAll(values(["none"])), here.remove_all(["none"])),
        same(redisson.removeAll(values([NESTED, "a", "none"])), here.remove_all([NESTED, "a", "none"])),
        left("b", 1, 2),
        seeded("b"),
        differs(
            "Redisson takes LREM's 2 for false",
            redisson.removeAll(values(["b"])),
            False,
            here.remove_all(["b"]),
            True,
        ),
        left(1, 2),
    ),
    Case(
        "retain all",
        UNBOUNDED,
        same(redisson.retainAll(values(["a"])), here.retain_all(["a"])),
        seeded("a", NESTED, "b", "a", 1),
        same(redisson.retainAll(values(["a", NESTED, 1, "none"])), here.retain_all(["a", NESTED, 1, "none"])),
        same(redisson.retainAll(values(["a", NESTED, 1, "none"])), here.retain_all(["a", NESTED, 1, "none"])),
        left("a", NESTED, "a", 1),
        same(redisson.retainAll(values([])), here.retain_all([])),
        left(),
    ),
    Case(
        "remove an occurrence",
        DEQUE,
        seeded("a", NESTED, "a", "b", NESTED, "a"),
        same(redisson.removeLastOccurrence("a"), here.remove_last_occurrence("a")),
        same(redisson.removeFirstOccurrence(NESTED), here.remove_first_occurrence(NESTED)),
        same(redisson.removeFirstOccurrence("none"), here.remove_first_occurrence("none")),
        same(redisson.removeLastOccurrence("none"), here.remove_last_occurrence("none")),
        left("a", "a", "b", NESTED),
    ),
    Case(
        "clear",
        ALL,
        same(redisson.clear(), here.clear()),
        seeded("a", NESTED),
        same(redisson.clear(), here.clear()),
        left(),
    ),
    *(
        Case(name, UNBOUNDED, same(call, ours), seeded("a", NESTED), same(call, ours), same(call, ours), left())
        for name, call, ours in (
            ("delete", redisson.delete(), here.delete()),
            ("unlink", redisson.unlink(), here.unlink()),
        )
    ),
)

NAMING = (
    Case(
        "rename",
        UNBOUNDED,
        seeded("a", NESTED),
        same(redisson.rename(string(QUEUE + "-é")), here.rename(QUEUE + "-é")),
    ),
    Case(
        "rename what is missing",
        UNBOUNDED,
        both(redisson.rename(string(QUEUE + "-b")), here.rename(QUEUE + "-b"), REPLIED),
    ),
    Case(
        "rename onto another",
        UNBOUNDED,
        *_elsewhere(
            seeded("a", NESTED),
            same(redisson.rename(string(QUEUE + "-b")), here.rename(QUEUE + "-b")),
        ),
    ),
    Case(
        "rename onto another unless it is there",
        UNBOUNDED,
        *_elsewhere(
            seeded("a", NESTED),
            same(redisson.renamenx(string(QUEUE + "-b")), here.rename_if_free(QUEUE + "-b")),
        ),
        mapped=False,
    ),
    Case(
        "rename to a free name",
        UNBOUNDED,
        seeded("a", NESTED),
        same(redisson.renamenx(string(QUEUE + "-b")), here.rename_if_free(QUEUE + "-b")),
        mapped=False,
    ),
    Case(
        "copy",
        ALL,
        seeded("a", NESTED),
        same(redisson.copy(string(QUEUE + "-b")), here.copy(QUEUE + "-b")),
        seeded("b"),
        same(redisson.copy(string(QUEUE + "-b")), here.copy(QUEUE + "-b")),
        same(redisson.copyAndReplace(string(QUEUE + "-b")), here.copy_and_replace(QUEUE + "-b")),
    ),
    Case(
        "copy what is missing",
        UNBOUNDED,
        same(redisson.copy(string(QUEUE + "-b")), here.copy(QUEUE + "-b")),
        same(redisson.copyAndReplace(string(QUEUE + "-b")), here.copy_and_replace(QUEUE + "-b")),
        *_elsewhere(
            same(redisson.copy(string(QUEUE + "-b")), here.copy(QUEUE + "-b")),
            same(redisson.copyAndReplace(string(QUEUE + "-b")), here.copy_and_replace(QUEUE + "-b")),
        ),
    ),
    Case(
        "copy an empty one",
        BOUNDED,
        *_elsewhere(
            differs(
                "Redisson leaves the old list there, with the new capacity",
                redisson.copyAndReplace(string(QUEUE + "-b")),
                True,
                here.copy_and_replace(QUEUE + "-b"),
                True,
                same_state=False,
            ),
        ),
    ),
)


def _when(moment: datetime) -> Pair:
    return both(redisson.getExpireTime(), here.expire_time(), _epoch_ms(moment))


def _epoch_ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


EXPIRING = (
    Case(
        "expire at a time",
        ALL,
        seeded("a", NESTED),
        same(redisson.expireAt(long(_epoch_ms(SOON))), here.expire_at(SOON)),
        _when(SOON),
        same(redisson.expireAt(instant(LATER)), here.expire_at(LATER)),
        _when(LATER),
        same(redisson.expire(instant(EARLIER)), here.expire_at(EARLIER)),
        _when(EARLIER),
        same(redisson.expireIfGreater(instant(SOON)), here.expire_if_greater(SOON)),
        same(redisson.expireIfGreater(instant(EARLIER)), here.expire_if_greater(EARLIER)),
        _when(SOON),
        same(redisson.expireIfLess(instant(LATER)), here.expire_if_less(LATER)),
        same(redisson.expireIfLess(instant(EARLIER)), here.expire_if_less(EARLIER)),
        _when(EARLIER),
        same(redisson.expireIfSet(instant(LATER)), here.expire_if_set(LATER)),
        same(redisson.expireIfNotSet(instant(SOON)), here.expire_if_not_set(SOON)),
        _when(LATER),
        same(redisson.clearExpire(), here.clear_expire()),
        same(redisson.clearExpire(), here.clear_expire()),
        same(redisson.expireIfSet(instant(SOON)), here.expire_if_set(SOON)),
        same(redisson.expireIfGreater(instant(SOON)), here.expire_if_greater(SOON)),
        differs(NO_END, redisson.getExpireTime(), -1, here.expire_time(), None),
        same(redisson.expireIfLess(instant(SOON)), here.expire_if_less(SOON)),
        _when(SOON),
        same(redisson.clearExpire(), here.clear_expire()),
        same(redisson.expireIfNotSet(instant(SOON)), here.expire_if_not_set(SOON)),
        _when(SOON),
    ),
    Case(
        "expire in a time",
        ALL,
        seeded("a", NESTED),
        same(redisson.expireIfSet(duration(3600)), here.expire_if_set(3600)),
        same(redisson.expireIfNotSet(duration(3600)), here.expire_if_not_set(3600)),
        same(redisson.expireIfNotSet(duration(3600)), here.expire_if_not_set(3600)),
        same(redisson.expireIfGreater(duration(1800)), here.expire_if_greater(1800)),
        same(redisson.expireIfGreater(duration(7200)), here.expire_if_greater(7200)),
        same(redisson.expireIfLess(duration(9000)), here.expire_if_less(9000)),
        same(redisson.expireIfLess(duration(1800)), here.expire_if_less(1800)),
        same(redisson.expireIfSet(duration(3600)), here.expire_if_set(3600)),
        same(redisson.clearExpire(), here.clear_expire()),
        differs(NO_END, redisson.remainTimeToLive(), -1, here.remain_time_to_live(), None),
        same(redisson.expire(duration(3600)), here.expire(3600)),
        same(redisson.clearExpire(), here.clear_expire()),
        same(redisson.expire(long(1), unit("HOURS")), here.expire(3600)),
    ),
    Case(
        "expire now",
        ALL,
        seeded("a", NESTED),
        same(redisson.expireAt(long(1)), here.expire_at(datetime.fromtimestamp(0.001, timezone.utc))),
        left(),
        differs(NO_END, redisson.getExpireTime(), -2, here.expire_time(), None),
        differs(NO_END, redisson.remainTimeToLive(), -2, here.remain_time_to_live(), None),
    ),
    Case(
        "expire what is missing",
        UNBOUNDED,
        same(redisson.expire(duration(3600)), here.expire(3600)),
        same(redisson.expireAt(long(_epoch_ms(SOON))), here.expire_at(SOON)),
        same(redisson.expireIfNotSet(duration(3600)), here.expire_if_not_set(3600)),
        same(redisson.clearExpire(), here.clear_expire()),
        differs(NO_END, redisson.getExpireTime(), -2, here.expire_time(), None),
        differs(NO_END, redisson.remainTimeToLive(), -2, here.remain_time_to_live(), None),
    ),
)

LIST_ALONE = "Redisson's bounded queue leaves its capacity out"
NO_ROOM = "Redisson makes no room for these"

WITH_CAPACITY = (
    Case(
        "the capacity",
        BOUNDED,
        same(redisson.trySetCapacity(int_(5)), here.try_set_capacity(5)),
        same(redisson.remainingCapacity(), here.remaining_capacity()),
        seeded("a", NESTED),
        same(redisson.remainingCapacity(), here.remaining_capacity()),
        same(redisson.delete(), here.delete()),
        same(redisson.delete(), here.delete()),
        same(redisson.remainingCapacity(), here.remaining_capacity()),
        both(redisson.add("a"), here.add("a"), REPLIED),
        both(redisson.offer("a"), here.offer("a"), REPLIED),
        both(redisson.addAll(values(["a", "b"])), here.add_all(["a", "b"]), REPLIED),
        same(redisson.trySetCapacity(int_(5)), here.try_set_capacity(5)),
        seeded("a", "b"),
    ),
    Case(
        "full",
        BOUNDED,
        seeded(*range(CAPACITY - 1)),
        seeded("a", "b"),
        same(redisson.add("a"), here.add("a")),
        both(redisson.add("b"), here.add("b"), FULL),
        both(redisson.offer("b"), here.offer("b"), False),
        both(redisson.offer("b", *SECOND), here.offer("b", timeout=1), False),
        both(redisson.addAll(values(["b"])), here.add_all(["b"]), False),
        same(redisson.remainingCapacity(), here.remaining_capacity()),
        same(redisson.remove(), here.remove_head()),
        same(redisson.put("b"), here.put("b")),
        left(*range(1, CAPACITY - 1), "a", "b"),
    ),
    Case(
        "remove and make room",
        BOUNDED,
        seeded("a", NESTED, "b", 1),
        same(redisson.remove("none"), here.remove("none")),
        same(redisson.remove("a"), here.remove("a")),
        same(redisson.removeAll(values([])), here.remove_all([])),
        same(redisson.removeAll(values([NESTED, 1, "none"])), here.remove_all([NESTED, 1, "none"])),
        seeded("c", "d", "c"),
        differs(
            "Redisson takes LREM's 2 for false",
            redisson.remove("c"),
            False,
            here.remove("c"),
            True,
            same_state=False,
        ),
    ),
    *(
        Case(
            name,
            BOUNDED,
            seeded("a", NESTED, "b"),
            differs(NO_ROOM, call, found, ours, found, same_state=False),
            mapped=False,
        )
        for name, call, ours, found in (
            ("poll many", redisson.poll(int_(2)), here.poll(limit=2), ["a", NESTED]),
            ("retain all", redisson.retainAll(values(["b"])), here.retain_all(["b"]), True),
            (
                "poll the last and offer it",
                redisson.pollLastAndOfferFirstTo(string(QUEUE + "-b")),
                here.poll_last_and_offer_first_to(QUEUE + "-b"),
                "b",
            ),
        )
    ),
    Case(
        "move within the queue",
        BOUNDED,
        seeded("a", NESTED, "b"),
        same(redisson.pollLastAndOfferFirstTo(string(QUEUE)), here.poll_last_and_offer_first_to(QUEUE)),
        differs(
            "Redisson makes room for what stays",
            redisson.pollLastAndOfferFirstTo(string(QUEUE), *SECONDS),
            NESTED,
            here.poll_last_and_offer_first_to(QUEUE, timeout=30),
            NESTED,
            same_state=False,
        ),
        mapped=False,
    ),
    Case(
        "poll from any, this queue's",
        BOUNDED,
        seeded(*range(5)),
        same(redisson.pollFromAny(*_ANY), here.poll_from_any(*_B_C, timeout=30)),
        same(redisson.pollFromAnyWithName(*_ANY_NAMED), here.poll_from_any_with_name(*_B_C, timeout=30)),
        same(redisson.pollLastFromAnyWithName(*_ANY_NAMED), here.poll_last_from_any_with_name(*_B_C, timeout=30)),
        left(2, 3),
        mapped=False,
    ),
    Case(
        "poll from any, another's",
        BOUNDED,
        *_elsewhere(
            differs(
                "Redisson makes room here for what it takes there",
                redisson.pollFromAny(*_ANY),
                1,
                here.poll_from_any(*_B_C, timeout=30),
                1,
                same_state=False,
            ),
        ),
    ),
    Case(
        "exists",
        BOUNDED,
        differs(LIST_ALONE, redisson.isExists(), False, here.exists(), True),
        differs(LIST_ALONE, redisson.touch(), False, here.touch(), True),
        seeded("a"),
        same(redisson.isExists(), here.exists()),
        same(redisson.touch(), here.touch()),
    ),
    Case(
        "unlink",
        BOUNDED,
        seeded("a"),
        differs(LIST_ALONE, redisson.unlink(), True, here.unlink(), True, same_state=False),
    ),
    *(
        Case(
            name,
            BOUNDED,
            seeded("a"),
            differs(LIST_ALONE, call, result, ours, result, same_state=False),
        )
        for name, call, ours, result in (
            ("rename", redisson.rename(string(QUEUE + "-b")), here.rename(QUEUE + "-b"), None),
            ("rename to a free name", redisson.renamenx(string(QUEUE + "-b")), here.rename_if_free(QUEUE + "-b"), True),
        )
    ),
)

_UNMAPPED = "Redisson takes the other queue's name as it is, and ours maps it"
_RAW = "Redisson tells the mapped name, ours the one that was given"


def mapped_differences(prefix: str) -> tuple[Case, ...]:
    """What is not the same under a name mapper that puts ``prefix`` before every name."""
    named = [prefix + QUEUE, "a"], [QUEUE, "a"]
    return (
        Case(
            "poll the last and offer it",
            UNBOUNDED,
            seeded("a"),
            differs(
                _UNMAPPED,
                redisson.pollLastAndOfferFirstTo(string(prefix + QUEUE + "-b")),
                "a",
                here.poll_last_and_offer_first_to(QUEUE + "-b"),
                "a",
            ),
        ),
        Case(
            "rename to a free name",
            UNBOUNDED,
            seeded("a"),
            differs(
                _UNMAPPED,
                redisson.renamenx(string(prefix + QUEUE + "-b")),
                True,
                here.rename_if_free(QUEUE + "-b"),
                True,
            ),
        ),
        Case(
            "move",
            DEQUE,
            seeded("a", "b"),
            differs(
                _UNMAPPED,
                redisson.move(deque_move("first", "last", prefix + QUEUE + "-b")),
                "a",
                here.move(QUEUE + "-b"),
                "a",
            ),
            differs(
                _UNMAPPED,
                redisson.move(duration(30), deque_move("first", "last", prefix + QUEUE + "-b")),
                "b",
                here.move(QUEUE + "-b", timeout=30),
                "b",
            ),
        ),
        Case(
            "poll from any and tell which",
            ALL,
            seeded("a", "a"),
            differs(
                _RAW,
                redisson.pollFromAnyWithName(*_ANY_NAMED),
                named[0],
                here.poll_from_any_with_name(*_B_C, timeout=30),
                named[1],
            ),
            differs(
                _RAW,
                redisson.pollLastFromAnyWithName(*_ANY_NAMED),
                named[0],
                here.poll_last_from_any_with_name(*_B_C, timeout=30),
                named[1],
            ),
        ),
    )


CASES = (*ADDING, *TAKING, *BETWEEN, *LOOKING, *REMOVING, *NAMING, *EXPIRING, *WITH_CAPACITY)

# -- calls that wait -------------------------------------------------------------------------------------------------

_WAITING_QUEUE = (
    same(redisson.take(), here.take()),
    same(redisson.poll(*SECONDS), here.poll(timeout=30)),
    same(redisson.takeLastAndOfferFirstTo(string(QUEUE + "-b")), here.take_last_and_offer_first_to(QUEUE + "-b")),
    same(
        redisson.pollLastAndOfferFirstTo(string(QUEUE + "-b"), *SECONDS),
        here.poll_last_and_offer_first_to(QUEUE + "-b", timeout=30),
    ),
)

#: Each with a time that no test reaches.
WAITING_FROM_ANY = (
    same(redisson.pollFromAny(*_ANY), here.poll_from_any(*_B_C, timeout=30)),
    same(redisson.pollFromAnyWithName(*_ANY_NAMED), here.poll_from_any_with_name(*_B_C, timeout=30)),
    same(redisson.pollLastFromAnyWithName(*_ANY_NAMED), here.poll_last_from_any_with_name(*_B_C, timeout=30)),
)

#: Kind of queue -> the calls that wait for a value in it.
WAITING = {
    "blocking_queue": (*_WAITING_QUEUE, *WAITING_FROM_ANY),
    "blocking_deque": (
        *_WAITING_QUEUE,
        *WAITING_FROM_ANY,
        same(redisson.takeFirst(), here.take_first()),
        same(redisson.takeLast(), here.take_last()),
        same(redisson.pollFirst(*SECONDS), here.poll_first(timeout=30)),
        same(redisson.pollLast(*SECONDS), here.poll_last(timeout=30)),
        same(redisson.pollFirstFromAny(*_ANY), here.poll_first_from_any(*_B_C, timeout=30)),
        same(redisson.pollLastFromAny(*_ANY), here.poll_last_from_any(*_B_C, timeout=30)),
        same(
            redisson.move(duration(30), deque_move("last", "last", QUEUE + "-b")),
            here.move(QUEUE + "-b", from_end="last", timeout=30),
        ),
    ),
    "bounded": (*_WAITING_QUEUE, *WAITING_FROM_ANY),
}

# -- calls in any order ----------------------------------------------------------------------------------------------

#: Makes the pair when it is known what is in the queue.
Make = Callable[[list[Any]], Pair]

_value = st.sampled_from(["a", "b", "", "é", 5, 2**40, True, 0.5, NESTED, ["a", ["b"]]])
_some = st.lists(_value, max_size=4)
_distinct = st.lists(st.sampled_from(["a", "b", "", 5, 2**40]), max_size=3, unique=True)
_number = st.integers(1, 4)
_other = st.sampled_from([QUEUE, QUEUE + "-b"])
_end = st.sampled_from(["first", "last"])


def _calls(make: Callable[..., Pair], *drawn: st.SearchStrategy[Any]) -> st.SearchStrategy[Make]:
    return st.tuples(*drawn).map(lambda given: lambda there: make(*given))


def _plain(java: Call, python: Call) -> st.SearchStrategy[Make]:
    return _calls(lambda: same(java, python))


def _if_any(make: Callable[..., Pair], *drawn: st.SearchStrategy[Any]) -> st.SearchStrategy[Make]:
    """A call that waits until there is something. The queue is looked at where it would."""
    look = same(redisson.isEmpty(), here.is_empty())
    return st.tuples(*drawn).map(lambda given: lambda there: make(*given) if there else look)


def _count(value: Any, there: list[Any]) -> int:
    return sum(type(value) is type(item) and value == item for item in there)


def _remove_all(items: list[Any]) -> Make:
    def make(there: list[Any]) -> Pair:
        counts = [_count(item, there) for item in items]
        ours = here.remove_all(items)
        return differs(
            "Redisson takes LREM's 2 for false", redisson.removeAll(values(items)), 1 in counts, ours, any(counts)
        )

    return make


def _remove_single(items: list[Any]) -> Make:
    """Where there is a value twice, Redisson's bounded queue makes no room for it."""

    def make(there: list[Any]) -> Pair:
        wanted = [item for item in items if _count(item, there) < 2]
        return same(redisson.removeAll(values(wanted)), here.remove_all(wanted))

    return make


_ANY_KIND = {
    "add": _calls(lambda value: same(redisson.add(value), here.add(value)), _value),
    "add_all": _calls(lambda items: seeded(*items), _some),
    "offer": _calls(lambda value: same(redisson.offer(value), here.offer(value)), _value),
    "poll": _plain(redisson.poll(), here.poll()),
    "poll_within": _if_any(lambda: same(redisson.poll(*SECONDS), here.poll(timeout=30))),
    "take": _if_any(lambda: same(redisson.take(), here.take())),
    "remove_head": _plain(redisson.remove(), here.remove_head()),
    "element": _plain(redisson.element(), here.element()),
    "peek": _plain(redisson.peek(), here.peek()),
    "drain": _plain(redisson.drainTo(collect()), here.drain_to()),
    "drain_some": _calls(lambda limit: same(redisson.drainTo(collect(), int_(limit)), here.drain_to(limit)), _number),
    "poll_last_and_offer_first_to_within": _if_any(
        lambda name: same(
            redisson.pollLastAndOfferFirstTo(string(name), *SECONDS),
            here.poll_last_and_offer_first_to(name, timeout=30),
        ),
        st.just(QUEUE + "-b"),
    ),
    "size": _plain(redisson.size(), here.size()),
    "contains": _calls(lambda value: same(redisson.contains(value), here.contains(value)), _value),
    "contains_all": _calls(
        lambda items: same(redisson.containsAll(values(items)), here.contains_all(items)), _distinct
    ),
    "index_of": _calls(lambda value: same(redisson.indexOf(value), here.index_of(value)), _value),
    "iterate": _plain(redisson.iterator(), here.__iter__()),
    "size_in_memory": _plain(redisson.sizeInMemory(), here.size_in_memory()),
    "clear": _plain(redisson.clear(), here.clear()),
    "expire": _calls(
        lambda moment: same(redisson.expire(instant(moment)), here.expire_at(moment)), st.sampled_from([EARLIER, SOON])
    ),
    "expire_if_greater": _plain(redisson.expireIfGreater(instant(SOON)), here.expire_if_greater(SOON)),
    "expire_if_less": _plain(redisson.expireIfLess(instant(EARLIER)), here.expire_if_less(EARLIER)),
    "expire_if_not_set": _plain(redisson.expireIfNotSet(instant(LATER)), here.expire_if_not_set(LATER)),
    "clear_expire": _plain(redisson.clearExpire(), here.clear_expire()),
    "copy": _if_any(
        lambda: same(redisson.copyAndReplace(string(QUEUE + "-c")), here.copy_and_replace(QUEUE + "-c")),
    ),
}

_UNBOUNDED_ONLY = {
    "poll_many": _calls(lambda limit: same(redisson.poll(int_(limit)), here.poll(limit=limit)), _number),
    "remove": _calls(lambda value: same(redisson.remove(value), here.remove(value)), _value),
    "remove_all": _distinct.map(_remove_all),
    "retain_all": _calls(lambda items: same(redisson.retainAll(values(items)), here.retain_all(items)), _some),
    "delete": _plain(redisson.delete(), here.delete()),
    "exists": _plain(redisson.isExists(), here.exists()),
    "poll_last_and_offer_first_to": _calls(
        lambda name: same(redisson.pollLastAndOfferFirstTo(string(name)), here.poll_last_and_offer_first_to(name)),
        _other,
    ),
}

_DEQUE_ONLY = {
    "add_first": _calls(
        lambda items: same(redisson.addFirst(values(items)), here.add_first(*items)), _some.filter(bool)
    ),
    "add_last_if_exists": _calls(
        lambda items: same(redisson.addLastIfExists(values(items)), here.add_last_if_exists(*items)),
        _some.filter(bool),
    ),
    "put_first": _calls(lambda value: same(redisson.putFirst(value), here.put_first(value)), _value),
    "poll_last": _plain(redisson.pollLast(), here.poll_last()),
    "poll_last_many": _calls(lambda limit: same(redisson.pollLast(int_(limit)), here.poll_last(limit=limit)), _number),
    "take_last": _if_any(lambda: same(redisson.takeLast(), here.take_last())),
    "remove_last": _plain(redisson.removeLast(), here.remove_last()),
    "get_last": _plain(redisson.getLast(), here.get_last()),
    "descending": _plain(redisson.descendingIterator(), here.descending()),
    "remove_first_occurrence": _calls(
        lambda value: same(redisson.removeFirstOccurrence(value), here.remove_first_occurrence(value)), _value
    ),
    "remove_last_occurrence": _calls(
        lambda value: same(redisson.removeLastOccurrence(value), here.remove_last_occurrence(value)), _value
    ),
    "move": _calls(
        lambda start, end, name: same(
            redisson.move(deque_move(start, end, name)), here.move(name, from_end=start, to_end=end)
        ),
        _end,
        _end,
        _other,
    ),
}

#: Kind of queue -> the name of an operation -> its calls.
OPERATIONS: dict[str, dict[str, st.SearchStrategy[Make]]] = {
    "blocking_deque": {**_ANY_KIND, **_UNBOUNDED_ONLY, **_DEQUE_ONLY},
    "bounded": {
        **_ANY_KIND,
        "remaining_capacity": _plain(redisson.remainingCapacity(), here.remaining_capacity()),
        "remove_single": _distinct.map(_remove_single),
    },
}
